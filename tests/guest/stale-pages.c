// SPDX-License-Identifier: GPL-2.0
/*
 * stale-pages: maps a file of one page over touched pages that fill a table of entries,
 * and lets the same call populate it. The other pages of the range are behind the
 * file's end. Prints how many of them can still be accessed, and fails if any can.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096
#define TABLE	(512 * PAGE)	/* bytes that one table maps */

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

static int is_accessible(volatile char *p)
{
	if (sigsetjmp(fault, 1))
		return 0;
	(void)*p;
	return 1;
}

/* Returns an address at which a table begins, with nothing mapped in or beside it. */
static char *free_table(void)
{
	char *p = mmap(NULL, 4 * TABLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || munmap(p, 4 * TABLE))
		return NULL;
	return (char *)(((uintptr_t)p + 2 * TABLE - 1) & -(uintptr_t)TABLE);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_fault };
	int fd = memfd_create("page", 0), stale = 0;
	char *p = free_table();

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (!p || fd < 0 || ftruncate(fd, PAGE) ||
	    mmap(p, TABLE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
		return 2;
	memset(p, 1, TABLE);
	if (mmap(p, TABLE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) != p ||
	    !is_accessible(p))
		return 2;
	for (size_t at = PAGE; at < TABLE; at += PAGE)
		stale += is_accessible(p + at);
	printf("stale %d\n", stale);
	return stale != 0;
}
