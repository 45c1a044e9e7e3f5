// SPDX-License-Identifier: GPL-2.0
/*
 * scattered-pages: does a program get on that has more mappings than a host allows?
 *
 * Two threads touch 70000 pages with a stride, so that neighbours have pages of memory
 * far from each other. A host allows a process 65530 mappings by default. A child of
 * fork() reads some pages, and writes to them. Then the threads read all.
 *
 * Fails if a page does not have what was written to it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096UL
#define PAGES	70000UL
#define READ_BY_CHILD	1000UL
/* Has no factor in common with PAGES: each page has its turn. */
#define STRIDE	30011UL

static char *memory;

static unsigned long *page(unsigned long n)
{
	return (unsigned long *)(memory + n * STRIDE % PAGES * PAGE);
}

static void *write_half(void *half)
{
	for (unsigned long n = (unsigned long)half; n < PAGES; n += 2)
		*page(n) = 7 * n + 1;
	return NULL;
}

/* Returns how many pages are wrong. */
static void *read_half(void *half)
{
	unsigned long wrong = 0;

	for (unsigned long n = (unsigned long)half; n < PAGES; n += 2)
		wrong += *page(n) != 7 * n + 1;
	return (void *)wrong;
}

static unsigned long by_two(void *(*work)(void *))
{
	pthread_t other;
	unsigned long mine;
	void *others;

	if (pthread_create(&other, NULL, work, (void *)1UL)) {
		fputs("scattered-pages: cannot create a thread\n", stderr);
		exit(2);
	}
	mine = (unsigned long)work(NULL);
	pthread_join(other, &others);
	return mine + (unsigned long)others;
}

/* The child's status is 0 if it has found what it should. */
static int child(void)
{
	for (unsigned long n = 0; n < READ_BY_CHILD; n++) {
		if (*page(n) != 7 * n + 1)
			return 1;
		*page(n) = 0;
	}
	return 0;
}

int main(void)
{
	unsigned long wrong;
	int status = 0;
	pid_t pid;

	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("scattered-pages: mmap");
		return 2;
	}
	by_two(write_half);
	pid = fork();
	if (!pid)
		_exit(child());
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("scattered-pages: fork");
		return 2;
	}
	wrong = by_two(read_half);
	printf("%lu pages wrong, child: %d\n", wrong, WEXITSTATUS(status));
	return wrong || status;
}
