// SPDX-License-Identifier: GPL-2.0
/* Percents, changes, durations, metrics and lists of CPUs, as options take them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <linux/tense.h>

#include "fuzz.h"
#include "measure/cutoffs-input.h"
#include "base/duration.h"
#include "whatif/options.h"
#include "whatif/sweep-cpus.h"

/* As the manual page says. */
#define CUTS_MAX	100
#define CUT_MAX		0.999
#define SLOWER_MAX	1000
#define NUMBER_MAX	50
#define GUEST_CPUS_MAX	64

static void check(bool good)
{
	if (!good)
		abort();
}

static void try_func(const char *text)
{
	struct whatif_question q = { 0 };
	char *error = whatif_parse_func(&q, text);

	check(error ? !q.funcs :
		      q.funcs == 1 && *q.func[0].name &&
		      (!q.func[0].percent ||
		       (q.func[0].percent >= TENSE_PERCENT_MIN * TENSE_FINE &&
			q.func[0].percent <= TENSE_PERCENT_MAX * TENSE_FINE)));
	free(error);
	whatif_question_free(&q);
}

static void try_cuts(const char *text, bool slower)
{
	struct whatif_question q = { 0 };
	char *error = whatif_parse_cuts(&q, text, slower);

	check(q.nr_cuts <= CUTS_MAX && (error || q.nr_cuts));
	for (size_t i = 0; i < q.nr_cuts; i++)
		check(slower ? q.cuts[i] <= 0 && q.cuts[i] >= -SLOWER_MAX :
			       q.cuts[i] >= 0 && q.cuts[i] < CUT_MAX);
	free(error);
	whatif_question_free(&q);
}

static void try_metric(const char *text)
{
	struct whatif_question q = { 0 };

	free(whatif_parse_metric(&q, text));
	free(whatif_parse_latency(&q, text));
	whatif_question_free(&q);
}

static void try_numbers(const char *text)
{
	struct periods periods = { 0 };
	double number;
	char *error = whatif_parse_number("precision", text, NUMBER_MAX, &number);

	check(error || (number > 0 && number <= NUMBER_MAX));
	free(error);
	check(parse_duration(text, &number) ||
	      (isfinite(number) && number >= 0));
	periods_parse(&periods, text);
	for (size_t i = 0; i < periods.count; i++)
		check(periods.list[i].seconds > 0);
	periods_free(&periods);
}

static void try_cpus(const char *text)
{
	struct sweep_cpus cpus;
	char *error = sweep_cpus_parse(&cpus, text, GUEST_CPUS_MAX);

	check(cpus.count <= SWEEP_CPUS_MAX && (error || cpus.count));
	for (size_t i = 0; i < cpus.count; i++)
		check(cpus.list[i] > (i ? cpus.list[i - 1] : 0) &&
		      cpus.list[i] <= GUEST_CPUS_MAX);
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	try_func(text);
	try_cuts(text, false);
	try_cuts(text, true);
	try_metric(text);
	try_numbers(text);
	try_cpus(text);
	free(text);
	return 0;
}
