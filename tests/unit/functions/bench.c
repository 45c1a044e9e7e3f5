// SPDX-License-Identifier: GPL-2.0
/*
 * What a call of a redirected function costs more than that of another: the
 * median of a million pairs of both, in counter ticks and ns. Run it with
 * TENSE_FUNCTIONS="1 100 bench_scaled"; without, it shows how exact it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAIRS	1000000
#define CALLS	8

int bench_scaled(int n);
int bench_plain(int n);

__attribute__((noinline)) int bench_scaled(int n)
{
	__asm__ volatile("nopl 0(%%rax)" : "+r"(n));
	return n;
}

__attribute__((noinline)) int bench_plain(int n)
{
	__asm__ volatile("nopl 4(%%rax)" : "+r"(n));
	return n;
}

static uint64_t ns(void)
{
	struct timespec ts;

	/* Not libc's, which is in virtual time. */
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t run(int (*call)(int))
{
	uint64_t start = __builtin_ia32_rdtsc();
	int i;

	for (i = 0; i < CALLS; i++)
		call(i);
	return __builtin_ia32_rdtsc() - start;
}

int main(void)
{
	static int32_t difference[PAIRS / CALLS];
	uint64_t time = ns(), ticks = __builtin_ia32_rdtsc();
	const int n = PAIRS / CALLS, middle = n / 2;
	double median;
	int i;

	for (i = 0; i < n; i++)
		difference[i] = run(bench_scaled) - run(bench_plain);
	time = ns() - time;
	ticks = __builtin_ia32_rdtsc() - ticks;
	qsort(difference, n, sizeof(*difference), compare);
	median = (double)difference[middle] / CALLS;
	printf("entry and exit: %.1f ticks, %.1f ns\n", median,
	       median * time / ticks);
	return 0;
}
