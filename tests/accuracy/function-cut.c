// SPDX-License-Identifier: GPL-2.0
/*
 * function-cut LOG BASELINE VARIANT: by how many percent less time a function takes in
 * the runs of a variant, from a log of rounds in which it was counted. Prints JSON:
 * value, low and high in percent at 95 %, calls of the baseline in a run, and share,
 * the part of the baseline's time in percent.
 */
#include <stdio.h>

#include "compare.h"

/* The mean of a figure over the rounds of a variant. */
static double mean(const struct log *input, const char *variant, const char *key)
{
	int rounds = log_rounds(input);
	double sum = 0;

	for (int r = 0; r < rounds; r++)
		sum += log_get(input, variant, r, key);
	return sum / rounds;
}

int main(int argc, char **argv)
{
	struct interval cut;
	struct log input;
	double inside;
	FILE *from;

	if (argc != 4) {
		fputs("Usage: function-cut LOG BASELINE VARIANT\n", stderr);
		return 2;
	}
	from = fopen(argv[1], "r");
	if (!from)
		fail("cannot read", argv[1]);
	log_read(&input, from);
	fclose(from);
	cut = faster(&input, "function_ns", argv[2], argv[3]);
	inside = mean(&input, argv[2], "function_ns");
	printf("{ \"value\": %.3f, \"low\": %.3f, \"high\": %.3f, ",
	       cut.value, cut.low, cut.high);
	printf("\"calls\": %.0f, \"share\": %.3f }\n",
	       mean(&input, argv[2], "function_calls"),
	       100 * inside / (inside + mean(&input, argv[2], "outside_ns")));
	log_free(&input);
	return fflush(stdout) ? 1 : 0;
}
