// SPDX-License-Identifier: GPL-2.0
/*
 * page-reuse PROCESSES SECONDS: does a program keep access to pages that somebody
 * else gave back?
 *
 * One process has a thread that writes to some pages without end, and a thread
 * that gives these pages back to the kernel, in each way that there is. Two other
 * processes, of one thread and of two, write to a file that they have mapped, while
 * another one truncates the file.
 * More processes take pages, which must be zero, and write a number of their own,
 * which must stay. A kernel that forgets to tell a running CPU of a change lets the
 * writers write into their pages.
 *
 * Prints how many pages it checked, and how many held another program's data.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES		64
#define WORDS		(4096 / sizeof(unsigned long))
#define NR_LOSERS	4
#define FORBIDDEN	0xbadc0ffee0ddf00dUL

static unsigned long *volatile written;

static unsigned long *map_pages(void)
{
	void *p = mmap(written, PAGES * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (written ? MAP_FIXED : 0),
		       -1, 0);

	if (p == MAP_FAILED)
		_exit(2);
	return p;
}

/* Waits, at an address that is unmapped for a moment, until it is mapped again. */
static void on_fault(int sig)
{
	(void)sig;
}

static void *write_pages(void *unused)
{
	for (;;)
		for (size_t i = 0; i < PAGES; i++)
			((volatile unsigned long *)written)[i * WORDS] = FORBIDDEN;
	return unused;
}

static void give_back(unsigned int round)
{
	switch (round % 4) {
	case 0:
		madvise(written, PAGES * 4096, MADV_DONTNEED);
		break;
	case 1:
		map_pages();
		break;
	case 2:
		munmap(written, PAGES * 4096);
		map_pages();
		break;
	case 3:
		mprotect(written, PAGES * 4096, PROT_READ);
		madvise(written, PAGES * 4096, MADV_DONTNEED);
		mprotect(written, PAGES * 4096, PROT_READ | PROT_WRITE);
		break;
	}
}

static void survive(int sig)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(sig, &action, NULL);
}

/* Never returns. */
static void lose_pages(void)
{
	pthread_t thread;

	survive(SIGSEGV);
	written = map_pages();
	if (pthread_create(&thread, NULL, write_pages, NULL))
		_exit(2);
	for (unsigned int round = 0; ; round++)
		give_back(round);
}

/* Never returns. */
static void write_file(int fd, int threads)
{
	pthread_t thread;

	survive(SIGBUS);
	written = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (written == MAP_FAILED)
		_exit(2);
	if (threads > 1 && pthread_create(&thread, NULL, write_pages, NULL))
		_exit(2);
	write_pages(NULL);
}

/* Never returns. */
static void truncate_file(int fd)
{
	for (;;)
		if (ftruncate(fd, 0) || ftruncate(fd, PAGES * 4096))
			_exit(2);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Returns how many words of the pages are not as they must be. */
static unsigned long wrong_words(const volatile unsigned long *p, unsigned long must)
{
	unsigned long wrong = 0;

	for (size_t i = 0; i < PAGES * WORDS; i++)
		wrong += p[i] != must;
	return wrong;
}

/* Exits with 1 if a page held another program's data. */
static void watch_pages(unsigned long number, double seconds)
{
	double end = now() + seconds;
	unsigned long pages = 0, wrong = 0;

	do {
		unsigned long *p = map_pages();

		wrong += wrong_words(p, 0);
		for (size_t i = 0; i < PAGES * WORDS; i++)
			p[i] = number;
		sched_yield();
		wrong += wrong_words(p, number);
		munmap(p, PAGES * 4096);
		pages += PAGES;
	} while (now() < end);
	printf("pages %lu wrong %lu\n", pages, wrong);
	fflush(stdout);
	_exit(wrong ? 1 : 0);
}

int main(int argc, char **argv)
{
	int fd = memfd_create("pages", 0);
	int processes, status, failed = 0;
	pid_t losers[NR_LOSERS];

	if (argc != 3 || fd < 0)
		return 2;
	processes = atoi(argv[1]);
	losers[0] = fork();
	if (losers[0] == 0)
		lose_pages();
	losers[1] = fork();
	if (losers[1] == 0)
		write_file(fd, 1);
	losers[2] = fork();
	if (losers[2] == 0)
		write_file(fd, 2);
	losers[3] = fork();
	if (losers[3] == 0)
		truncate_file(fd);
	for (int i = 0; i < processes; i++)
		if (fork() == 0)
			watch_pages(i + 1, atof(argv[2]));
	for (int i = 0; i < processes; i++) {
		pid_t pid = wait(&status);

		/* These must not end. */
		for (int j = 0; j < NR_LOSERS; j++)
			if (pid == losers[j])
				return 2;
		failed |= status != 0;
	}
	for (int j = 0; j < NR_LOSERS; j++)
		kill(losers[j], SIGKILL);
	while (wait(&status) > 0)
		;
	return failed;
}
