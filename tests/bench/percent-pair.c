// SPDX-License-Identifier: GPL-2.0
/*
 * Measures in real time, in turns, a pair of percent changes by system calls, a
 * pair by the ring, and two of the cheapest system calls. libtense's
 * tense_scale_percent() and tense_scale_pop() make such a pair.
 */
#include <fcntl.h>
#include <linux/tense.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "../lib/real-clock.h"

#define PAIRS	500
/* Many rings full: the calls that make room are part of the cost. */
#define RING_PAIRS	50000

static uint64_t time_getppid(void)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < PAIRS; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
	}
	return real_clock(CLOCK_MONOTONIC) - start;
}

static void write_percent(int device, const char *percent)
{
	if (write(device, percent, 3) != 3) {
		perror("percent-pair: " TENSE_DEVICE);
		exit(1);
	}
}

static uint64_t time_write(int device)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < PAIRS; i++) {
		write_percent(device, "125");
		write_percent(device, "100");
	}
	return real_clock(CLOCK_MONOTONIC) - start;
}

static uint64_t time_scale(void)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < RING_PAIRS; i++) {
		int error = tense_scale_percent(125);

		if (!error)
			error = tense_scale_pop();
		if (error) {
			fprintf(stderr, "percent-pair: %s\n", strerror(-error));
			exit(1);
		}
	}
	return real_clock(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	int device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);

	if (rounds < 1) {
		fputs("Usage: percent-pair ROUNDS\n", stderr);
		return 2;
	}
	time_scale();
	time_write(device);
	time_getppid();
	for (int i = 0; i < rounds; i++) {
		uint64_t getppid_ns = time_getppid();
		uint64_t write_ns = time_write(device);
		double ring_ns = (double)time_scale() / RING_PAIRS;

		printf("run pair %d\n", i);
		printf("getppid_ns %ju\n", (uintmax_t)(getppid_ns / PAIRS));
		printf("write_ns %ju\n", (uintmax_t)(write_ns / PAIRS));
		printf("ring_ns %.1f\n", ring_ns);
	}
	return fflush(stdout) ? 1 : 0;
}
