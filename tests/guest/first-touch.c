// SPDX-License-Identifier: GPL-2.0
/*
 * first-touch: which pages are mapped when a program touches some for the first time?
 *
 * Prints, in lines of a name and a number, the faults and the resident pages after
 * touches in four orders; how many bytes of the pages were not 0; how many pages
 * beyond the end of a mapping became resident; and how many pages of the parent changed
 * when a child of fork() wrote to its copy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096UL
#define PAGES	1000UL
/* A prime, so that no page follows the one before it, and each has its turn. */
#define STRIDE	389

static char *map(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

static long count_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static unsigned long count_resident(char *p, size_t pages)
{
	static unsigned char resident[PAGES];
	unsigned long sum = 0;

	if (mincore(p, pages * PAGE, resident)) {
		perror("mincore");
		exit(2);
	}
	for (size_t i = 0; i < pages; i++)
		sum += resident[i] & 1;
	return sum;
}

static unsigned long count_set(const char *p)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < PAGES * PAGE; i++)
		sum += p[i] != 0;
	return sum;
}

/* Touches every step-th page, count times, in the order that modulo gives. */
static void touch(const char *name, size_t count, size_t step)
{
	char *p = map();
	long before = count_faults();

	for (size_t i = 0; i < count; i++)
		p[i * step % PAGES * PAGE] = 1;
	printf("%s_faults %ld\n", name, count_faults() - before);
	printf("%s_resident %lu\n", name, count_resident(p, PAGES));
	for (size_t i = 0; i < count; i++)
		p[i * step % PAGES * PAGE] = 0;
	printf("%s_set %lu\n", name, count_set(p));
	munmap(p, PAGES * PAGE);
}

/* The second half of the mapping is a mapping of its own. */
static void test_end(void)
{
	const size_t half = PAGES / 2;
	char *p = map();

	if (mprotect(p + half * PAGE, (PAGES - half) * PAGE, PROT_READ)) {
		perror("mprotect");
		exit(2);
	}
	for (size_t i = 0; i < half; i++)
		p[i * PAGE] = 1;
	printf("beyond_resident %lu\n", count_resident(p + half * PAGE, PAGES - half));
	munmap(p, PAGES * PAGE);
}

static void test_fork(void)
{
	char *p = map();
	unsigned long changed = 0;
	int status = 1;
	pid_t pid;

	for (size_t i = 0; i < PAGES / 2; i++)
		p[i * PAGE] = 1;
	pid = fork();
	if (!pid) {
		memset(p, 2, PAGES * PAGE);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status) {
		fputs("fork failed, or its child\n", stderr);
		exit(2);
	}
	for (size_t i = 0; i < PAGES; i++)
		changed += p[i * PAGE] != (i < PAGES / 2);
	printf("fork_changed %lu\n", changed);
	munmap(p, PAGES * PAGE);
}

int main(void)
{
	touch("in_order", PAGES, 1);
	touch("few", 100, 1);
	touch("mixed", PAGES / 2, STRIDE);
	touch("second", PAGES / 2, 2);
	test_end();
	test_fork();
	return fflush(stdout) ? 1 : 0;
}
