// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what spinners printed and compares the shares with those that were
 * to be expected: of percents the percents, of nice levels the weights that
 * the kernel gives them.
 *
 * The error of a ratio is that of a spinner's loops over the first one's. A
 * run's error is the mean over its spinners, 100 % for one that had no time to
 * run; the largest is shown beside it.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/stats.h"
#include "figure.h"

#define SPINNERS_MAX	64
#define RUNS_MAX	1000

struct spinner {
	char mode[16];
	int ms, run, spinner, setting;
	double loops;
};

struct errors {
	int ms;
	size_t runs;
	double mean[RUNS_MAX];
	double largest[RUNS_MAX];
};

static __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "bench: spinners: %s\n", what);
	exit(1);
}

/* sched_prio_to_weight[] of the kernel. */
static double weight(int nice)
{
	static const int weights[40] = {
		88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949,
		11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
		1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110,
		87, 70, 56, 45, 36, 29, 23, 18, 15,
	};

	if (nice < -20 || nice > 19)
		fail("a nice level that does not exist");
	return weights[nice + 20];
}

static double expected(const struct spinner *s)
{
	return strcmp(s->mode, "nice") == 0 ? weight(s->setting) : s->setting;
}

static bool read_spinner(struct spinner *s)
{
	char line[256], rest;

	if (!fgets(line, sizeof(line), stdin))
		return false;
	if (sscanf(line, "%15[a-z],%d,%d,%d,%d,%lf %c", s->mode, &s->ms,
		   &s->run, &s->spinner, &s->setting, &s->loops, &rest) != 6)
		fail(line);
	return true;
}

static void add_run(struct errors *errors, const struct spinner *spinner,
		    int count)
{
	double sum = 0, largest = 0;

	if (count < 2)
		fail("a run of less than two");
	if (spinner[0].loops <= 0)
		fail("the first one has never run");
	for (int i = 1; i < count; i++) {
		double ratio = spinner[i].loops / spinner[0].loops;
		double ideal = expected(&spinner[i]) / expected(&spinner[0]);
		double error = 100 * fabs(ratio / ideal - 1);

		sum += error;
		if (error > largest)
			largest = error;
	}
	if (errors->runs == RUNS_MAX)
		fail("too many runs");
	errors->mean[errors->runs] = sum / (count - 1);
	errors->largest[errors->runs++] = largest;
}

static void print_errors(const struct errors *errors, const char *mode,
			 FILE *csv)
{
	struct estimate mean = stats_estimate(errors->mean, errors->runs);
	struct estimate largest = stats_estimate(errors->largest, errors->runs);
	char id[64];

	printf("%8d %6zu   %8.3f [%7.3f %7.3f]   %8.3f [%7.3f %7.3f]\n",
	       errors->ms, errors->runs, mean.median, mean.low, mean.high,
	       largest.median, largest.low, largest.high);
	if (csv)
		fprintf(csv, "%s,%d,%zu,%.6f,%.6f,%.6f,%.6f\n", mode,
			errors->ms, errors->runs, mean.median, mean.low,
			mean.high, largest.median);
	snprintf(id, sizeof(id), "spinner_error_%s_%d_ms", mode, errors->ms);
	figure_add(id, &mean, errors->runs);
}

int main(int argc, char **argv)
{
	static struct errors errors;
	struct spinner spinner[SPINNERS_MAX], next;
	FILE *csv = NULL;
	int count = 0;
	char header[128];

	if (argc > 2) {
		fputs("Usage: spinner-table [SUMMARY] <SPINNERS\n", stderr);
		return 2;
	}
	if (argc == 2) {
		csv = fopen(argv[1], "w");
		if (!csv)
			fail("cannot write the summary");
		fputs("mode,ms,runs,error,low,high,largest\n", csv);
	}
	if (!fgets(header, sizeof(header), stdin) ||
	    strcmp(header, "mode,ms,run,spinner,setting,loops\n") != 0)
		fail("this is not their output");
	puts("real ms   runs   error of the ratio, %          largest of a run, %");
	while (read_spinner(&next)) {
		if (count && next.spinner == 0) {
			add_run(&errors, spinner, count);
			count = 0;
		}
		if (errors.runs && errors.ms != next.ms) {
			print_errors(&errors, next.mode, csv);
			errors.runs = 0;
		}
		if (next.spinner != count || count == SPINNERS_MAX)
			fail("a line is missing");
		errors.ms = next.ms;
		spinner[count++] = next;
	}
	if (!count)
		fail("there is no run");
	add_run(&errors, spinner, count);
	print_errors(&errors, spinner[0].mode, csv);
	if (csv && fclose(csv))
		fail("cannot write the summary");
	return fflush(stdout) ? 1 : 0;
}
