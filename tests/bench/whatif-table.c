// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the demo, from runs of dedup: as it is, in virtual time with a
 * scaled compress_chunk(), and with one that really takes less time.
 *
 * The speed of a machine drifts more in the minutes that all runs take than
 * in the seconds that one round takes. So changes are taken within a round,
 * and the median and its interval are those of the rounds.
 */
#include <stdio.h>

#include "../lib/stats.h"
#include "figure.h"
#include "log.h"

#define ROUNDS_MAX	1000

static struct log input;
static int rounds;

static struct estimate of_key(const char *variant, const char *key)
{
	double values[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		values[i] = log_get(&input, variant, i, key);
	return stats_estimate(values, rounds);
}

/* How much less the variant took than the baseline of its round, in %. */
static void less(double *values, const char *variant, const char *key)
{
	for (int i = 0; i < rounds; i++)
		values[i] = 100 - 100 * log_get(&input, variant, i, key) /
			    log_get(&input, "baseline", i, key);
}

static void print_seconds(const char *variant, const char *key)
{
	struct estimate e = of_key(variant, key);

	printf("  %6.3f [%6.3f %6.3f]", e.median / 1e9, e.low / 1e9,
	       e.high / 1e9);
}

static void print_row(const char *title, const char *variant,
		      const double *change)
{
	printf("%-30s", title);
	print_seconds(variant, "elapsed_ns");
	print_seconds(variant, "real_ns");
	if (change) {
		struct estimate e = stats_estimate(change, rounds);

		printf("  %5.2f [%5.2f %5.2f]", e.median, e.low, e.high);
	}
	putchar('\n');
}

int main(void)
{
	double predicted[ROUNDS_MAX], truth[ROUNDS_MAX], cut[ROUNDS_MAX];
	double difference[ROUNDS_MAX], virtual_truth[ROUNDS_MAX];
	double virtual_difference[ROUNDS_MAX];
	struct estimate error, real_cut, virtual, virtual_error;

	log_read(&input, stdin);
	rounds = log_rounds(&input);
	if (rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: more than %d rounds\n", ROUNDS_MAX);
		return 1;
	}
	/* A prediction must not know more than the virtual clock. */
	less(predicted, "predicted", "elapsed_ns");
	less(truth, "truth", "real_ns");
	less(virtual_truth, "truth", "elapsed_ns");
	less(cut, "truth", "cpu_compress_ns");
	for (int i = 0; i < rounds; i++) {
		difference[i] = predicted[i] - truth[i];
		virtual_difference[i] = predicted[i] - virtual_truth[i];
	}
	error = stats_estimate(difference, rounds);
	virtual = stats_estimate(virtual_truth, rounds);
	virtual_error = stats_estimate(virtual_difference, rounds);
	real_cut = stats_estimate(cut, rounds);

	printf("%-30s  %-22s  %-22s  %s\n", "", "virtual time, s",
	       "real time, s", "faster by, %");
	print_row("without scaling", "baseline", NULL);
	print_row("predicted: compress() - 20 %", "predicted", predicted);
	print_row("the truth: compress() - 20 %", "truth", truth);
	printf("\npredicted minus true: %+.2f points, 95 %% interval %+.2f to %+.2f\n",
	       error.median, error.low, error.high);

	printf("\nMedians of %d rounds with their 95 %% intervals. The prediction comes from the\n"
	       "virtual clock alone, the truth from the real one. By its virtual clock, which\n"
	       "does not see other programs of this machine, the truth is %.2f %% [%.2f %.2f]\n"
	       "faster, the prediction %+.2f points [%+.2f %+.2f] from it.\n",
	       rounds, virtual.median, virtual.low, virtual.high,
	       virtual_error.median, virtual_error.low, virtual_error.high);
	printf("\ncompress() has %.0f %% of the CPU time. Its calibration found that it takes\n"
	       "%.2f %% less without the extra work; in these runs it took %.2f %% [%.2f %.2f]\n"
	       "less. Percent 125 stands for 20 %%.\n",
	       100 * of_key("baseline", "cpu_compress_ns").median /
	       of_key("baseline", "cpu_ns").median,
	       log_get(&input, "calibration", 0, "calibrated_cut"),
	       real_cut.median, real_cut.low, real_cut.high);
	figure_add("dedup_predicted_minus_true", &error, rounds);
	figure_add("dedup_predicted_minus_true_virtual", &virtual_error,
		   rounds);
	log_free(&input);
	return fflush(stdout) ? 1 : 0;
}
