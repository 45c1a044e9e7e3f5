// SPDX-License-Identifier: GPL-2.0
/*
 * queue-table [-m] REFERENCE VIRTUAL [POINTS]: reads the output of queue in two
 * conditions. For each utilisation, it prints how long jobs waited in both, and
 * whether the second one's mean lies within the 95 % interval of the first's.
 * POINTS gets the second one's mean of each run. With -m, waits are the differences
 * of the threads' stamps.
 *
 * Intervals are bootstrapped over batches, of the difference over pairs of
 * batches of the same jobs. Batches that follow each other are alike where queues
 * are long: what is called inside here would be so in a wider interval, too.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/stats.h"

#define BATCHES_MAX	100000
#define NS_PER_MS	1e6

/*
 * A server that was held up for more than this part of its time, and more than
 * the other one was, shared the machine with others.
 */
#define DISTURBED	0.05

struct batch {
	char model[4];
	double utilisation, seed;
	int number;
	double wait, own, ideal, formula, served, length, late;
};

struct results {
	size_t count;
	struct batch *batch;
};

static __attribute__((noreturn)) void fail(const char *path, const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", path, what);
	exit(1);
}

static struct results read_results(const char *path, bool stamped)
{
	struct results r = { 0, calloc(BATCHES_MAX, sizeof(*r.batch)) };
	FILE *file = fopen(path, "r");
	char line[512], rest;

	if (!file || !r.batch)
		fail(path, "cannot be read");
	if (!fgets(line, sizeof(line), file) ||
	    strcmp(line, "model,utilisation,seed,batch,wait,own,ideal,formula,"
			 "served,length,late,measured\n") != 0)
		fail(path, "not what queue prints");
	while (fgets(line, sizeof(line), file)) {
		struct batch *b = &r.batch[r.count++];
		double measured;

		if (r.count == BATCHES_MAX)
			fail(path, "too many lines");
		if (sscanf(line, "%3[dm],%lf,%lf,%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf %c",
			   b->model, &b->utilisation, &b->seed, &b->number,
			   &b->wait, &b->own, &b->ideal, &b->formula,
			   &b->served, &b->length, &b->late, &measured,
			   &rest) != 12)
			fail(path, line);
		if (stamped)
			b->wait = measured;
	}
	if (!r.count)
		fail(path, "there is no run");
	fclose(file);
	return r;
}

/* The same jobs must have been run in both. */
static void check_pairs(const struct results *a, const struct results *b,
			const char *path)
{
	if (a->count != b->count)
		fail(path, "more or fewer runs than in the other");
	for (size_t i = 0; i < a->count; i++) {
		const struct batch *x = &a->batch[i], *y = &b->batch[i];

		if (strcmp(x->model, y->model) != 0 || x->seed != y->seed ||
		    x->utilisation != y->utilisation || x->number != y->number ||
		    fabs(x->length - y->length) > 1 ||
		    fabs(x->ideal - y->ideal) > 1)
			fail(path, "other jobs than in the other");
	}
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

/* How much longer than it should the server took, of all jobs. */
static double excess(const struct batch *b, size_t count)
{
	double served = 0, length = 0;

	for (size_t i = 0; i < count; i++) {
		served += b[i].served;
		length += b[i].length;
	}
	return served / length - 1;
}

static const char *verdict(double value, struct interval interval, bool disturbed)
{
	if (disturbed)
		return "disturbed";
	return value >= interval.low && value <= interval.high ? "inside" :
								 "OUTSIDE";
}

/* A model in which jobs take turns has no formula: ns is NAN. */
static const char *formula_text(double ns, char *text, size_t size)
{
	snprintf(text, size, isnan(ns) ? "-" : "%.3f", ns / NS_PER_MS);
	return text;
}

static void print_row(const struct batch *a, const struct batch *b, size_t count)
{
	double *x = calloc(count, sizeof(*x)), *y = calloc(count, sizeof(*y));
	double *d = calloc(count, sizeof(*d)), own = 0, ideal = 0, late;
	struct interval real, difference;
	char formula[32];

	if (!x || !y || !d)
		fail("queue-table", "no memory");
	for (size_t i = 0; i < count; i++) {
		x[i] = a[i].wait / NS_PER_MS;
		y[i] = b[i].wait / NS_PER_MS;
		d[i] = y[i] - x[i];
		own += b[i].own / NS_PER_MS / count;
		ideal += b[i].ideal / NS_PER_MS / count;
	}
	real = stats_mean_interval(x, count);
	difference = stats_mean_interval(d, count);
	late = excess(a, count);
	printf("%4.2f %8s %8.3f | %8.3f [%8.3f %8.3f] %5.1f | %8.3f %5.1f %8.3f |"
	       " %8.3f [%8.3f %8.3f]  %s\n",
	       a->utilisation,
	       formula_text(b->formula, formula, sizeof(formula)), ideal,
	       mean_of(x, count),
	       real.low, real.high, 100 * late, mean_of(y, count),
	       100 * excess(b, count), own, mean_of(d, count), difference.low,
	       difference.high,
	       verdict(mean_of(y, count), real,
		       late > DISTURBED &&
		       late > excess(b, count) + DISTURBED));
	free(x);
	free(y);
	free(d);
}

static size_t same_utilisation(const struct results *r, size_t first)
{
	size_t last = first;

	do
		last++;
	while (last < r->count &&
	       r->batch[last].utilisation == r->batch[first].utilisation);
	return last - first;
}

static void print_table(const struct results *a, const struct results *b)
{
	puts(" utili-  formula    these |     reference, ms              held |"
	     "    virtual, ms    by its |  difference, ms");
	puts(" sation       ms jobs, ms |     mean [95 % interval]       up % |"
	     "     mean  up %  services |     mean [95 % interval]");
	for (size_t i = 0, count; i < a->count; i += count) {
		count = same_utilisation(a, i);
		print_row(a->batch + i, b->batch + i, count);
	}
}

static void write_points(const struct results *r, const char *path)
{
	FILE *file = fopen(path, "w");
	size_t count;

	if (!file)
		fail(path, "cannot be written");
	fputs("utilisation,seed,wait_ms,formula_ms\n", file);
	for (size_t i = 0; i < r->count; i += count) {
		const struct batch *b = &r->batch[i];
		double sum = 0;

		for (count = 0; i + count < r->count &&
				b[count].seed == b->seed &&
				b[count].utilisation == b->utilisation; count++)
			sum += b[count].wait;
		fprintf(file, "%g,%g,%.6f,%.6f\n", b->utilisation, b->seed,
			sum / count / NS_PER_MS, b->formula / NS_PER_MS);
	}
	if (fclose(file))
		fail(path, "cannot be written");
}

int main(int argc, char **argv)
{
	bool stamped = argc > 1 && !strcmp(argv[1], "-m");
	struct results reference, virtual;

	argc -= stamped;
	argv += stamped;
	if (argc < 3 || argc > 4) {
		fputs("Usage: queue-table [-m] REFERENCE VIRTUAL [POINTS]\n",
		      stderr);
		return 2;
	}
	reference = read_results(argv[1], stamped);
	virtual = read_results(argv[2], stamped);
	check_pairs(&reference, &virtual, argv[2]);
	print_table(&reference, &virtual);
	if (argc == 4)
		write_points(&virtual, argv[3]);
	free(reference.batch);
	free(virtual.batch);
	return fflush(stdout) ? 1 : 0;
}
