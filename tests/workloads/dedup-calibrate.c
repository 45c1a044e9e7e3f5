// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the extra work with which compress_chunk() takes 100 where it takes
 * 80 without. Both are timed on each fragment in turn, so that a machine that
 * changes its speed changes both, and twice, so that a disturbance of one
 * does not count.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/real-clock.h"
#include "dedup.h"

#define TARGET		(100.0 / 80 - 1)
/* A quarter of a per cent of compress_chunk(). */
#define TOLERANCE	0.004
#define REPEATS		2
#define PASSES		5

static uint64_t pack_all(struct packer *packer, struct fragment *fragment)
{
	uint64_t start = real_clock(CLOCK_THREAD_CPUTIME_ID);

	compress_fragment(packer, fragment);
	return real_clock(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Extra work over real work, in CPU time. */
static double measure(const char *input, struct fragment *fragment,
		      int level, int extra)
{
	struct options without = { .level = level, .percent = 100 };
	struct options with = without;
	uint64_t with_ns = 0, without_ns = 0;
	struct packer *packer_with, *packer_without;
	int fd = input_open(input);
	struct known known[FRAGMENT_CHUNKS] = { 0 };
	size_t used = 0;

	for (unsigned int i = 0; i < FRAGMENT_CHUNKS; i++) {
		fragment->chunk[i].known = &known[i];
		fragment->chunk[i].first = true;
	}
	with.extra = extra;
	packer_with = packer_new(&with);
	packer_without = packer_new(&without);
	for (;;) {
		uint64_t best_with = UINT64_MAX, best_without = UINT64_MAX;
		size_t rest;

		used += input_read(fd, input, fragment->data + used,
				   FRAGMENT_MAX - used);
		if (!used)
			break;
		fragment->length = fragment_cut(fragment->data, used);
		fragment_refine(fragment);
		for (int i = 0; i < REPEATS; i++) {
			uint64_t ns = pack_all(packer_without, fragment);

			if (ns < best_without)
				best_without = ns;
			ns = pack_all(packer_with, fragment);
			if (ns < best_with)
				best_with = ns;
		}
		with_ns += best_with;
		without_ns += best_without;
		rest = used - fragment->length;
		memmove(fragment->data, fragment->data + fragment->length,
			rest);
		used = rest;
	}
	packer_free(packer_with);
	packer_free(packer_without);
	close(fd);
	if (!without_ns)
		die("%s is too short to calibrate with", input);
	return (double)with_ns / without_ns - 1;
}

void calibrate(const char *input, int level, struct calibration *calibration)
{
	struct fragment *fragment = allocate(sizeof(*fragment));
	double share = 0;
	int extra = 1000 * TARGET;

	for (int i = 0; i < PASSES; i++) {
		share = measure(input, fragment, level, extra);
		if (share > TARGET - TOLERANCE && share < TARGET + TOLERANCE)
			break;
		if (i == PASSES - 1 || share <= 0)
			die("extra work of %d per mille takes %.2f %%, not %.2f %%",
			    extra, 100 * share, 100 * TARGET);
		extra = lround(extra * TARGET / share);
	}
	free(fragment);
	calibration->extra = extra;
	calibration->cut = 100 * share / (1 + share);
}
