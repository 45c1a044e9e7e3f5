// SPDX-License-Identifier: GPL-2.0
/*
 * kbest-error LOAD...: how exact the K-best protocol is. A routine that does its
 * work m times costs r m + b: times of 0.05 to 50 ms are measured beside LOAD - 1
 * processes that use what CPU they get. r and b are fitted to those of the first
 * load that converged, by least squares of relative errors, and each error is that
 * from r m + b. Prints a table of comma-separated values.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_fit.h>
#include <tense-measure.h>

#include "../lib/spinner.h"

#define LOADS	8
#define LENGTHS	16
#define FROM_NS	5e4
#define TO_NS	5e7

struct point {
	double m;
	struct tense_kbest_result r;
};

static void work(void *arg)
{
	const double *m = arg;

	for (volatile uint64_t i = 0; i < (uint64_t)*m; i++)
		;
}

static void measure(double m, struct tense_kbest_result *r)
{
	if (tense_kbest(work, &m, NULL, r))
		exit(1);
}

static void measure_beside(int load, double per_ns, struct point *points)
{
	pid_t others[64];
	int count = 0;

	while (count < load - 1 && count < 64)
		others[count++] = spinner_start();
	for (int i = 0; i < LENGTHS; i++) {
		double ns = FROM_NS * pow(TO_NS / FROM_NS,
					  (double)i / (LENGTHS - 1));

		points[i].m = floor(ns * per_ns);
		measure(points[i].m, &points[i].r);
	}
	while (count-- > 0)
		spinner_end(others[count]);
}

/* ns = r m + b, with weights of 1 / ns^2; 0 if there are too few. */
static int fit(const struct point *points, double *r, double *b)
{
	double m[LENGTHS], ns[LENGTHS], weights[LENGTHS], c[3], chi;
	size_t count = 0;

	for (int i = 0; i < LENGTHS; i++) {
		if (!points[i].r.converged)
			continue;
		m[count] = points[i].m;
		ns[count] = points[i].r.ns;
		weights[count] = 1 / (ns[count] * ns[count]);
		count++;
	}
	if (count < 3)
		return 0;
	gsl_fit_wlinear(m, 1, weights, 1, ns, 1, count, b, r, &c[0], &c[1],
			&c[2], &chi);
	return 1;
}

int main(int argc, char **argv)
{
	struct point points[LOADS][LENGTHS];
	struct tense_kbest_result first;
	double r, b;
	int loads = argc - 1 < LOADS ? argc - 1 : LOADS;

	measure(1e6, &first);
	for (int i = 0; i < loads; i++)
		measure_beside(atoi(argv[i + 1]), 1e6 / first.ns, points[i]);
	if (!loads || !fit(points[0], &r, &b)) {
		fprintf(stderr, "times of fewer than 3 lengths of %d converged\n", LENGTHS);
		return 1;
	}
	puts("load,expected_ms,measured_ms,error_percent,converged,samples,ticks");
	for (int i = 0; i < loads; i++) {
		for (int j = 0; j < LENGTHS; j++) {
			const struct point *p = &points[i][j];
			double expected = r * p->m + b;

			printf("%s,%.4f,%.4f,%.4f,%d,%u,%u\n", argv[i + 1],
			       expected / 1e6, p->r.ns / 1e6,
			       (p->r.ns / expected - 1) * 100,
			       p->r.converged, p->r.samples, p->r.ticks);
		}
	}
	return 0;
}
