// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the demo, from runs of dedup: as it is, in virtual time with a
 * scaled compress_chunk(), and with one that really takes less time.
 *
 * The speed of a machine drifts more in the minutes that all runs take than
 * in the seconds that one round takes. So changes are taken within a round,
 * and the median and its interval are those of the rounds.
 *
 * The guest has one CPU, on which dedup is never idle: its CPU time is the
 * elapsed time of a machine that runs nothing else. The kernel accounts it
 * without Tense, so it is the truth. The wall clock shows the same time plus
 * the time that other programs of the host took.
 */
#include <stdio.h>

#include "../lib/stats.h"
#include "figure.h"
#include "log.h"

#define ROUNDS_MAX	1000
/* Percent 125 stands for 20 % less time. */
#define CUT		20.0

static struct log input;
static int rounds;

struct change {
	double percent[ROUNDS_MAX];	/* less than the baseline, per round */
	struct estimate estimate;
};

static struct estimate of_key(const char *variant, const char *key)
{
	double values[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		values[i] = log_get(&input, variant, i, key);
	return stats_estimate(values, rounds);
}

static void compare(struct change *change, const char *variant, const char *key)
{
	for (int i = 0; i < rounds; i++)
		change->percent[i] =
			100 - 100 * log_get(&input, variant, i, key) /
			log_get(&input, "baseline", i, key);
	change->estimate = stats_estimate(change->percent, rounds);
}

static void print_seconds(const char *variant, const char *key)
{
	struct estimate e = of_key(variant, key);

	printf("  %5.3f [%5.3f %5.3f]", e.median / 1e9, e.low / 1e9,
	       e.high / 1e9);
}

static void print_row(const char *title, const char *variant, const char *key,
		      struct change *change)
{
	compare(change, variant, key);
	printf("%-26s", title);
	print_seconds("baseline", key);
	print_seconds(variant, key);
	printf("  %5.2f [%5.2f %5.2f]\n", change->estimate.median,
	       change->estimate.low, change->estimate.high);
}

static void print_error(const char *title, const struct change *predicted,
			const struct change *truth, const char *figure)
{
	double values[ROUNDS_MAX];
	struct estimate error;

	for (int i = 0; i < rounds; i++)
		values[i] = predicted->percent[i] - truth->percent[i];
	error = stats_estimate(values, rounds);
	printf("%-58s%+5.2f [%+5.2f %+5.2f]\n", title, error.median, error.low,
	       error.high);
	figure_add(figure, &error, rounds);
}

int main(void)
{
	static struct change predicted, cpu, wall, virtual, compress;

	log_read(&input, stdin);
	rounds = log_rounds(&input);
	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: not 1 to %d rounds\n", ROUNDS_MAX);
		return 1;
	}
	printf("%-26s  %-19s  %-19s  %s\n", "elapsed per part, s", "without scaling",
	       "compress() - 20 %", "faster by, %");
	print_row("predicted (virtual time)", "predicted", "elapsed_ns",
		  &predicted);
	print_row("the truth (CPU time)", "truth", "cpu_ns", &cpu);
	print_row("the truth (wall clock)", "truth", "real_ns", &wall);
	print_row("the truth (virtual time)", "truth", "elapsed_ns", &virtual);
	putchar('\n');
	print_error("predicted minus true, points (CPU time)", &predicted, &cpu,
		    "dedup_predicted_minus_true");
	print_error("predicted minus true, points (wall clock)", &predicted,
		    &wall, "dedup_predicted_minus_true_wall");
	print_error("predicted minus true, points (virtual time)", &predicted,
		    &virtual, "dedup_predicted_minus_true_virtual");

	compare(&compress, "truth", "compress_chunk_ns");
	printf("\nMedians of %d rounds with their 95 %% intervals. The guest has one CPU and dedup\n"
	       "is never idle, so CPU time is elapsed time without the other programs of this\n"
	       "machine. compress() has %.0f %% of it. The truth's takes %.2f %% less by the\n"
	       "calibration, %.2f %% [%.2f %.2f] in these runs; percent 125 stands for %.0f %%.\n"
	       "In proportion to that, predicted minus true is %+.2f points.\n",
	       rounds,
	       100 * of_key("baseline", "compress_chunk_ns").median /
	       of_key("baseline", "cpu_ns").median,
	       log_get(&input, "calibration", 0, "calibrated_cut"),
	       compress.estimate.median, compress.estimate.low,
	       compress.estimate.high, CUT,
	       predicted.estimate.median -
	       cpu.estimate.median * CUT / compress.estimate.median);
	log_free(&input);
	return fflush(stdout) ? 1 : 0;
}
