// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeps as the runtime of a language does that has no libc: a thread of its
 * own making, on a stack of its own, that waits by futex, and one that polls.
 * Everything is a system call, statically linked.
 *
 * Usage: raw-futex MILLISECONDS; prints the nanoseconds that passed.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 65536 };

static struct {
	int64_t ns;
	int64_t took;
	uint32_t never;
	uint32_t done;
} job;

static int64_t now(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int sleeper(void *arg)
{
	int64_t begin = now(), left = job.ns;

	(void)arg;
	do {
		struct timespec t = { left / 1000000000, left % 1000000000 };

		syscall(SYS_futex, &job.never, FUTEX_WAIT_PRIVATE, 0, &t, NULL,
			0);
		job.took = now() - begin;
		left = job.ns - job.took;
	} while (left > 0);
	__atomic_store_n(&job.done, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &job.done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	syscall(SYS_exit, 0);
	return 0;
}

int main(int argc, char **argv)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM;

	if (argc != 2 || stack == MAP_FAILED)
		return 2;
	job.ns = strtoll(argv[1], NULL, 10) * 1000000;
	if (clone(sleeper, stack + STACK, flags, NULL) < 0) {
		perror("raw-futex: clone");
		return 1;
	}
	while (!__atomic_load_n(&job.done, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &job.done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL,
			0);
	printf("%lld\n", (long long)job.took);
	return 0;
}
