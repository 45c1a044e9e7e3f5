// SPDX-License-Identifier: GPL-2.0
/*
 * accuracy-table JSON DATA <CASES: predictions beside the truth, as a table,
 * as JSON, and as data for accuracy.gp. Each line of CASES is
 *
 *	GROUP NAME CUT LOG BASELINE TRUTH PREDICTION
 *
 * Truth is what variant TRUTH of a LOG of rounds is faster than its BASELINE.
 * PREDICTION is the answer of `tense whatif --json`, of which the variant with
 * that CUT is taken (percent, negative for slower), or another variant of LOG.
 *
 * The JSON: version, groups [{name, cases, median, worst}], cases [{group,
 * name, cut, predicted, true, error {value, low, high}, verdict, bias}], faster
 * by percent, errors in points, intervals at 95 %. Verdict is an identifier of
 * whatif's, and bias {value, low, high} by how many percent the null experiment
 * takes longer than the baseline. Cases without an answer of whatif have neither.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "compare.h"

#define JSON_VERSION	1
#define CASES_MAX	128
#define FIELD		256
#define VERDICT		40

struct accuracy_case {
	char group[FIELD];
	char name[FIELD];
	double cut;
	struct interval predicted;	/* faster by, percent */
	struct interval truth;
	struct interval error;		/* points */
	char verdict[VERDICT];		/* empty without an answer of whatif */
	struct interval bias;		/* of its null experiment, percent slower */
};

static struct accuracy_case cases[CASES_MAX];
static size_t count;

static struct interval interval_of(const json_t *from, const char *file,
				   const char *missing)
{
	const json_t *value = json_object_get(from, "value");
	const json_t *low = json_object_get(from, "low");
	const json_t *high = json_object_get(from, "high");

	if (!json_is_number(value) || !json_is_number(low) ||
	    !json_is_number(high))
		fail(file, missing);
	return (struct interval) {
		.value = json_number_value(value),
		.low = json_number_value(low),
		.high = json_number_value(high),
	};
}

static struct interval negative(struct interval i)
{
	return (struct interval) {
		.value = -i.value,
		.low = -i.high,
		.high = -i.low,
	};
}

static void read_answer(struct accuracy_case *c, const char *file)
{
	json_error_t error;
	json_t *root = json_load_file(file, 0, &error), *result;
	const json_t *conditions = json_object_get(root, "conditions");
	const json_t *null = json_object_get(root, "null_experiment");
	const char *verdict;
	size_t i;

	if (!root)
		fail(file, error.text);
	json_array_foreach(json_object_get(root, "results"), i, result) {
		size_t at = json_integer_value(json_object_get(result,
							       "condition"));
		const json_t *cut = json_object_get(
			json_array_get(conditions, at), "cut");

		if (fabs(100 * json_number_value(cut) - c->cut) > 1e-6)
			continue;
		c->predicted = negative(interval_of(
			json_object_get(result, "change"), file,
			"no change of that variant"));
		c->bias = interval_of(json_object_get(null, "bias"), file,
				      "no bias of the null experiment");
		verdict = json_string_value(json_object_get(result, "verdict"));
		if (!verdict)
			fail(file, "no verdict of that variant");
		snprintf(c->verdict, sizeof(c->verdict), "%s", verdict);
		json_decref(root);
		return;
	}
	fail(file, "no variant with that cut");
}

/* Both sides are estimates, independent of each other. */
static void set_error(struct accuracy_case *c)
{
	const struct interval *p = &c->predicted, *t = &c->truth;

	c->error.value = p->value - t->value;
	c->error.low = c->error.value -
		       hypot(p->value - p->low, t->high - t->value);
	c->error.high = c->error.value +
			hypot(p->high - p->value, t->value - t->low);
}

static void add_case(const char *line)
{
	char file[FIELD], baseline[FIELD], truth[FIELD], prediction[FIELD];
	struct accuracy_case *c = &cases[count];
	struct log input;
	FILE *from;
	char rest;

	if (count == CASES_MAX)
		fail("too many cases", line);
	if (sscanf(line, "%255s %255s %lf %255s %255s %255s %255s %c",
		   c->group, c->name, &c->cut, file, baseline, truth,
		   prediction, &rest) != 7)
		fail("not a case", line);
	from = fopen(file, "r");
	if (!from)
		fail("cannot read", file);
	log_read(&input, from);
	fclose(from);
	c->truth = faster(&input, "elapsed_ns", baseline, truth);
	if (strchr(prediction, '/'))
		read_answer(c, prediction);
	else
		c->predicted = faster(&input, "elapsed_ns", baseline, prediction);
	log_free(&input);
	set_error(c);
	count++;
}

static int by_group_and_error(const void *a, const void *b)
{
	const struct accuracy_case *x = a, *y = b;
	double ex = fabs(x->error.value), ey = fabs(y->error.value);
	int groups = strcmp(x->group, y->group);

	return groups ? groups : (ex > ey) - (ex < ey);
}

static void print_interval(const struct interval *i)
{
	printf("  %6.2f [%6.2f %6.2f]", i->value, i->low, i->high);
}

static void print_case(const struct accuracy_case *c)
{
	const char *doubt = strcmp(c->verdict, "prediction") ? c->verdict : "";

	printf("%-28s %5.3g", c->name, c->cut);
	print_interval(&c->predicted);
	print_interval(&c->truth);
	printf("  %+5.2f [%+5.2f %+5.2f]%s%s\n", c->error.value, c->error.low,
	       c->error.high, doubt[0] ? "  " : "", doubt);
}

static json_t *json_of(const struct interval *i)
{
	return json_pack("{s:f, s:f, s:f}", "value", i->value, "low", i->low,
			 "high", i->high);
}

static json_t *json_case(const struct accuracy_case *c)
{
	bool answered = c->verdict[0];

	return json_pack("{s:s, s:s, s:f, s:o, s:o, s:o, s:s*, s:o*}",
			 "group", c->group, "name", c->name, "cut", c->cut,
			 "predicted", json_of(&c->predicted),
			 "true", json_of(&c->truth),
			 "error", json_of(&c->error),
			 "verdict", answered ? c->verdict : NULL,
			 "bias", answered ? json_of(&c->bias) : NULL);
}

/* The cases must be sorted. Prints them, the worst last, and their sum. */
static json_t *report_group(const struct accuracy_case *first, size_t n)
{
	double errors[CASES_MAX], median;

	printf("%s\n%-28s %5s  %-23s  %-23s  %s\n", first->group,
	       "", "cut", "predicted, % faster", "true, % faster",
	       "error, points");
	for (size_t i = 0; i < n; i++) {
		print_case(&first[i]);
		errors[i] = fabs(first[i].error.value);
	}
	/* Sorted by it already. */
	median = gsl_stats_median_from_sorted_data(errors, 1, n);
	if (n > 1)
		printf("%zu predictions: median error %.2f points, worst %.2f\n",
		       n, median, errors[n - 1]);
	putchar('\n');
	return json_pack("{s:s, s:I, s:f, s:f}", "name", first->group,
			 "cases", (json_int_t)n, "median", median,
			 "worst", errors[n - 1]);
}

static void write_data(const char *path, const struct accuracy_case *c)
{
	FILE *file = fopen(path, "w");
	const char *group = c->group;

	if (!file)
		fail("cannot write", path);
	/* gnuplot takes what two blank lines separate for another set. */
	for (size_t i = 0; i < count; i++, c++) {
		if (strcmp(c->group, group) != 0)
			fputs("\n\n", file);
		group = c->group;
		fprintf(file, "%f %f %f %f %f %f\n", c->truth.value,
			c->predicted.value, c->truth.low, c->truth.high,
			c->predicted.low, c->predicted.high);
	}
	if (fclose(file))
		fail("cannot write", path);
}

static void report(const char *json, const char *data)
{
	json_t *groups = json_array(), *list = json_array(), *root;
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		json_array_append_new(list, json_case(&cases[i]));
		if (i + 1 < count &&
		    !strcmp(cases[i + 1].group, cases[first].group))
			continue;
		json_array_append_new(groups, report_group(&cases[first],
							   i + 1 - first));
		first = i + 1;
	}
	root = json_pack("{s:i, s:o, s:o}", "version", JSON_VERSION,
			 "groups", groups, "cases", list);
	if (!root || json_dump_file(root, json, JSON_INDENT(2)))
		fail("cannot write", json);
	json_decref(root);
	write_data(data, cases);
}

int main(int argc, char **argv)
{
	char line[8 * FIELD];

	if (argc != 3) {
		fputs("Usage: accuracy-table JSON DATA <CASES\n", stderr);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin))
		add_case(line);
	if (!count)
		fail("no cases", "the input is empty");
	qsort(cases, count, sizeof(cases[0]), by_group_and_error);
	report(argv[1], argv[2]);
	return fflush(stdout) ? 1 : 0;
}
