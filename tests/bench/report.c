// SPDX-License-Identifier: GPL-2.0
/*
 * report JSON <FIGURES: what was measured beside what was to be reached, as a
 * table and as JSON. A figure that nobody measured is shown as missing. Misses
 * are no error: they are what this program is for.
 *
 * The JSON: version, figures [{id, title, unit, target, value, low, high,
 * samples, reached}]; value, low and high are null for a missing figure. low and
 * high bound a 95 % interval.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_VERSION	1

struct figure {
	const char *id;
	const char *title;
	const char *unit;
	double target;		/* the most that its size may be */
	int digits;
	bool less;		/* values below 0 pass, whatever their size */
	double value, low, high;
	size_t samples;
};

static struct figure figures[] = {
	{ "spinner_error_percent_100_ms", "spinners, error of the ratio, 100 ms",
	  "%", 3, 3, false, 0, 0, 0, 0 },
	{ "spinner_error_percent_1000_ms", "spinners, error of the ratio, 1 s",
	  "%", 0.5, 3, false, 0, 0, 0, 0 },
	{ "spinner_error_percent_10000_ms", "spinners, error of the ratio, 10 s",
	  "%", 0.1, 3, false, 0, 0, 0, 0 },
	{ "cpu_bound_error", "CPU-bound: virtual elapsed against CPU time",
	  "%", 0.1, 4, false, 0, 0, 0, 0 },
	{ "dedup_overhead_ratio", "dedup at percent 100 / without the module",
	  "", 1.02, 4, false, 0, 0, 0, 0 },
	{ "dedup_overhead_ratio_wall", "dedup at percent 100 / without, wall clock",
	  "", 1.02, 4, false, 0, 0, 0, 0 },
	{ "dedup_predicted_minus_true", "dedup, predicted minus true",
	  "points", 1, 2, false, 0, 0, 0, 0 },
	{ "dedup_predicted_minus_true_wall", "dedup, predicted minus true, wall clock",
	  "points", 1, 2, false, 0, 0, 0, 0 },
	{ "percent_pair_ratio", "percent pair by write(2) / two getppid", "", 3,
	  3, false, 0, 0, 0, 0 },
	{ "percent_pair_ring_ratio", "percent pair by ring / two getppid", "",
	  0.01, 5, false, 0, 0, 0, 0 },
	{ "ring_lateness_ratio", "p99 lateness of sleeps, with ring / without",
	  "", 1, 4, false, 0, 0, 0, 0 },
	{ "wake_late_50_median_us", "wake-up beyond real, percent 50, median",
	  "us", 2, 1, true, 0, 0, 0, 0 },
	{ "wake_late_50_p99_us", "wake-up beyond real, percent 50, p99",
	  "us", 20, 1, true, 0, 0, 0, 0 },
	{ "wake_late_100_median_us", "wake-up beyond real, percent 100, median",
	  "us", 2, 1, true, 0, 0, 0, 0 },
	{ "wake_late_100_p99_us", "wake-up beyond real, percent 100, p99",
	  "us", 20, 1, true, 0, 0, 0, 0 },
	{ "wake_late_400_median_us", "wake-up beyond real, percent 400, median",
	  "us", 2, 1, true, 0, 0, 0, 0 },
	{ "wake_late_400_p99_us", "wake-up beyond real, percent 400, p99",
	  "us", 20, 1, true, 0, 0, 0, 0 },
	{ "clock_page_ratio", "virtual clock by the page / vDSO of the host", "",
	  2, 3, false, 0, 0, 0, 0 },
	{ "clock_lead_quiet_median_us", "reading minus charged time, quiet, median",
	  "us", 1, 3, false, 0, 0, 0, 0 },
	{ "clock_lead_quiet_p99_us", "reading minus charged time, quiet, p99",
	  "us", 20, 1, false, 0, 0, 0, 0 },
	{ "clock_lead_busy_median_us", "reading minus charged time, busy, median",
	  "us", 1, 3, false, 0, 0, 0, 0 },
	{ "clock_lead_busy_p99_us", "reading minus charged time, busy, p99",
	  "us", 200, 1, false, 0, 0, 0, 0 },
	{ "sleepers_switch_ratio", "context switch, 10000 sleepers / 10", "",
	  1.1, 3, false, 0, 0, 0, 0 },
	{ "skip_hour_s", "an hour of sleep, skipped", "s", 1, 3, false, 0, 0, 0, 0 },
	{ "stub_pair_ns", "redirected function, entry and exit", "ns", 100, 1, false, 0, 0, 0, 0 },
	{ "stub_pair_ratio", "redirected function / two getppid", "", 0.01, 5,
	  false, 0, 0, 0, 0 },
	{ "ping_pong_ratio", "ping-pong, patched without module / unpatched",
	  "", 1.01, 4, false, 0, 0, 0, 0 },
	{ "thousand_tasks_bytes", "memory of an experiment with 1000 tasks",
	  "bytes", 1e6, 0, false, 0, 0, 0, 0 },
};

#define FIGURES	(sizeof(figures) / sizeof(figures[0]))

static void read_figures(void)
{
	char line[256], id[64];
	struct figure next;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "figure %63s %lf %lf %lf %zu", id, &next.value,
			   &next.low, &next.high, &next.samples) != 5) {
			fprintf(stderr, "bench: not a figure: %s", line);
			exit(1);
		}
		/* Others, like that of the shortest spinners, have no target. */
		for (size_t i = 0; i < FIGURES; i++) {
			if (strcmp(figures[i].id, id) != 0)
				continue;
			figures[i].value = next.value;
			figures[i].low = next.low;
			figures[i].high = next.high;
			figures[i].samples = next.samples;
		}
	}
}

static bool reached(const struct figure *f)
{
	double size = f->less ? f->value : fabs(f->value);

	return f->samples && size <= f->target;
}

static void print_table(void)
{
	printf("%-46s %12s  %-25s %10s\n", "", "measured", "95 % interval",
	       "to reach");
	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *f = &figures[i];
		char interval[64] = "";

		if (!f->samples) {
			printf("%-46s %12s  %-25s %10g %-6s  MISSING\n",
			       f->title, "-", "", f->target, f->unit);
			continue;
		}
		snprintf(interval, sizeof(interval), "%.*f to %.*f", f->digits,
			 f->low, f->digits, f->high);
		printf("%-46s %12.*f  %-25s %10g %-6s  %s\n", f->title,
		       f->digits, f->value, interval, f->target, f->unit,
		       reached(f) ? "reached" : "MISSED");
	}
}

static json_t *number_or_null(const struct figure *f, double value)
{
	return f->samples ? json_real(value) : json_null();
}

static int write_json(const char *path)
{
	json_t *list = json_array(), *root;
	int error;

	for (size_t i = 0; i < FIGURES; i++) {
		const struct figure *f = &figures[i];

		json_array_append_new(list, json_pack(
			"{s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:I, s:b}",
			"id", f->id, "title", f->title, "unit", f->unit,
			"target", f->target,
			"value", number_or_null(f, f->value),
			"low", number_or_null(f, f->low),
			"high", number_or_null(f, f->high),
			"samples", (json_int_t)f->samples,
			"reached", reached(f)));
	}
	root = json_pack("{s:i, s:o}", "version", JSON_VERSION, "figures", list);
	error = !root || json_dump_file(root, path, JSON_INDENT(2));
	json_decref(root);
	if (error)
		fprintf(stderr, "bench: cannot write %s\n", path);
	return error;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("Usage: report JSON <FIGURES\n", stderr);
		return 2;
	}
	read_figures();
	print_table();
	return write_json(argv[1]) || fflush(stdout) ? 1 : 0;
}
