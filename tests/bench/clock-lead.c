// SPDX-License-Identifier: GPL-2.0
/*
 * clock-lead VARIANT ROUND: how far a reading of the clock page is ahead of the
 * time that was charged by then: median and 99th percentile, in virtual ns.
 *
 * A call that asks for the charged time makes the kernel charge first. The entry of
 * that call, some us in a UML guest, comes after the reading. The program measures
 * the entry and the clock's origin after sleeps, when no reading has a lead.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>
#include <unistd.h>

#include <linux/tense.h>

#include "../lib/real-clock.h"
#include "../lib/sort.h"

#define SAMPLES		2000
#define CALLS		101
/* The most work between two samples: some 1 ms. */
#define LOOPS		500000

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "clock-lead: %s: %s\n", what, strerror(error));
	exit(1);
}

static void compute(unsigned int loops)
{
	for (volatile unsigned int i = 0; i < loops; i++)
		;
}

/* The charged virtual time, which no reading changes. */
static uint64_t charged_time(int device)
{
	struct tense_stats stats;

	if (read(device, &stats, sizeof(stats)) != sizeof(stats))
		fail("cannot read " TENSE_DEVICE, errno);
	if (stats.version != TENSE_STATS_VERSION)
		fail("another version of struct tense_stats", EINVAL);
	return stats.lvt;
}

/* The difference includes the clock's origin and the entry of a call. */
static int64_t difference(int device)
{
	uint64_t reading = libc_clock(CLOCK_MONOTONIC);

	return (int64_t)(reading - charged_time(device));
}

static int64_t measure_origin(int device)
{
	int64_t sample[CALLS];

	for (int i = 0; i < CALLS; i++) {
		int error = tense_sleep_ns(100000);

		if (error)
			fail("tense_sleep", -error);
		/* Use up the kernel's refund for the call. */
		difference(device);
		compute(LOOPS / 20);
		sample[i] = difference(device);
	}
	sort_i64(sample, CALLS);
	return sample[CALLS / 2];
}

int main(int argc, char **argv)
{
	static int64_t sample[SAMPLES];
	int device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);
	int64_t origin;

	if (argc != 3) {
		fputs("Usage: clock-lead VARIANT ROUND\n", stderr);
		return 2;
	}
	if (device < 0)
		fail(TENSE_DEVICE, errno);
	origin = measure_origin(device);
	for (int i = 0; i < SAMPLES; i++) {
		/* Varies, so that samples are not in step with the tick. */
		compute(i * 7919LL * 64 % LOOPS);
		sample[i] = difference(device) - origin;
	}
	sort_i64(sample, SAMPLES);
	printf("run %s %s\n", argv[1], argv[2]);
	printf("lead_median_ns %jd\n", (intmax_t)sample[SAMPLES / 2]);
	printf("lead_p99_ns %jd\n", (intmax_t)sample[SAMPLES * 99 / 100]);
	printf("lead_worst_ns %jd\n", (intmax_t)sample[SAMPLES - 1]);
	/* The baseline for ratio. */
	printf("nothing_ns 0\n");
	return fflush(stdout) ? 1 : 0;
}
