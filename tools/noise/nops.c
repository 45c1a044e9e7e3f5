// SPDX-License-Identifier: GPL-2.0
#include "nops.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"

#define POINTS		8	/* each of twice the blocks of the one before */
#define FEWEST		128
#define TRIES		40

double nops_time(uint64_t blocks)
{
	uint64_t start = now_ns();

	for (; blocks; blocks--)
		asm volatile(".rept 256\n\tnop\n\t.endr");
	return (double)(now_ns() - start) / 1e9;
}

void nops_regress(struct nops *n, const double *blocks, const double *seconds,
		  size_t count)
{
	double *weights = xmalloc(count * sizeof(*weights));
	double cov00, cov01, cov11, chi2;

	for (size_t i = 0; i < count; i++)
		weights[i] = 1 / (seconds[i] * seconds[i]);
	gsl_fit_wlinear(blocks, 1, weights, 1, seconds, 1, count, &n->once,
			&n->block, &cov00, &cov01, &cov11, &chi2);
	n->error = sqrt(chi2 / (double)count);
	free(weights);
}

static double shortest(uint64_t blocks)
{
	double best = INFINITY;

	for (int i = 0; i < TRIES; i++)
		best = fmin(best, nops_time(blocks));
	return best;
}

int nops_calibrate(struct nops *n)
{
	double blocks[POINTS], seconds[POINTS];
	bool longer = true;

	for (int i = 0; i < POINTS; i++) {
		blocks[i] = (double)(FEWEST << i);
		seconds[i] = shortest(FEWEST << i);
		longer &= seconds[i] > (i ? seconds[i - 1] : 0);
	}
	if (longer) {
		nops_regress(n, blocks, seconds, POINTS);
		return 0;
	}
	warn("noise: cannot calibrate: twice the instructions do not take longer here: the clock is too coarse, or the machine too busy");
	return -1;
}

uint64_t nops_blocks(const struct nops *n, double seconds)
{
	double blocks = round((seconds - n->once) / n->block);

	return blocks < 1 ? 1 : (uint64_t)blocks;
}

double nops_expected(const struct nops *n, uint64_t blocks)
{
	return n->once + (double)blocks * n->block;
}
