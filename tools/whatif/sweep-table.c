// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "output.h"
#include "run/time-unit.h"
#include "sweep-output.h"

#define COLUMNS	100
#define BOLD	"\033[1m"
#define PLAIN	"\033[0m"

static double metric_of(const struct whatif_sample *s)
{
	return s->metric;
}

static void heading(FILE *f, const struct sweep *s, bool colour)
{
	const struct whatif_question *q = &s->answers[0].question;
	char *command = whatif_command(q), *title = whatif_metric_title(q);

	fprintf(f, "\n%s%.200s%s\n%s on several numbers of CPUs, in virtual time\n",
		colour ? BOLD : "", command, colour ? PLAIN : "", title);
	if (q->deterministic)
		fprintf(f, "Times are counts of %s\n", time_unit_text());
	fprintf(f, "\n  %-*s %4s %12s  %-27s %-17s  %s\n",
		whatif_name_width(&s->answers[0].plan), "variant", "CPUs",
		"baseline", "change [95 % interval]", "kernel", "verdict");
	free(command);
	free(title);
}

static void row(FILE *f, const struct sweep *s, size_t i, size_t condition,
		bool colour)
{
	const struct whatif *w = &s->answers[i];
	const struct whatif_environment *e = &w->samples.environment;
	const struct whatif_result *r = whatif_result(&w->answer, condition);
	const struct machine m = whatif_environment_machine(e);
	char baseline[40], *change;
	const char *unit;
	double factor = whatif_unit(&w->question, &unit);

	whatif_number(baseline, sizeof(baseline), factor *
		      whatif_mean(&w->samples, 0, metric_of), unit);
	change = xprintf("%+8.2f %% [%+.2f %+.2f]", r->change.value,
			 r->change.low, r->change.high);
	fprintf(f, "  %-*s %4u %12s  %s%-27s%s %-4s %-12s  %s%s%s\n",
		whatif_name_width(&w->plan), w->plan.conditions[condition].name,
		s->cpus.list[i], baseline, colour ? BOLD : "", change,
		colour ? PLAIN : "", e->backend ? e->backend : "", m.release,
		whatif_verdict(r->verdict), r->reason.id ? ": " : "",
		r->reason.id ? r->reason.text : "");
	free(change);
}

/* Prints a line below the table, and frees it. */
static void put_line(FILE *f, char *line)
{
	fputs("  ", f);
	put_wrapped(f, line, 4, COLUMNS);
	fputc('\n', f);
	free(line);
}

static void sentences(FILE *f, const struct sweep *s)
{
	size_t n = s->answers[0].plan.nr_conditions;

	for (size_t c = CONDITIONS_FIRST; c < n; c++)
		put_line(f, sweep_sentence(s, c));
}

static bool has_one_kernel(const struct sweep *s)
{
	const struct machine first =
		whatif_environment_machine(&s->answers[0].samples.environment);
	bool same = true;

	for (size_t i = 1; i < s->count && same; i++) {
		struct machine other =
			whatif_environment_machine(&s->answers[i].samples.environment);

		same = !strcmp(first.release, other.release);
	}
	return same;
}

static void notes(FILE *f, const struct sweep *s)
{
	if (!has_one_kernel(s))
		put_line(f, xstrdup("note: the kernels differ, which may explain a part of the differences between rows: --kernel 7.2 or --backend qemu uses the same one for all"));
	for (size_t i = 0; i < s->count; i++) {
		const struct whatif_answer *answer = &s->answers[i].answer;
		char *cpus = cpus_text(s->cpus.list[i]);

		for (size_t j = 0; j < answer->nr_warnings; j++)
			put_line(f, xprintf("note, %s: %s", cpus,
					    answer->warnings[j].text));
		free(cpus);
	}
}

/* The table that a single number of CPUs has. */
static void whole_tables(FILE *f, const struct sweep *s, bool colour)
{
	for (size_t i = 0; i < s->count; i++) {
		char *cpus = cpus_text(s->cpus.list[i]);

		fprintf(f, "%s%zu of %zu: %s\n", i ? "" : "\n", i + 1,
			s->cpus.count, cpus);
		whatif_table(f, &s->answers[i], colour, true);
		free(cpus);
	}
}

void sweep_table(FILE *f, const struct sweep *s, bool colour, bool stats)
{
	size_t n = s->answers[0].plan.nr_conditions;

	if (stats)
		whole_tables(f, s, colour);
	heading(f, s, colour);
	for (size_t c = CONDITIONS_FIRST; c < n; c++)
		for (size_t i = 0; i < s->count; i++)
			row(f, s, i, c, colour);
	fputc('\n', f);
	sentences(f, s);
	notes(f, s);
	fputc('\n', f);
}

int sweep_csv(FILE *f, const struct sweep *s)
{
	fputs("cpus,", f);
	whatif_csv_names(f);
	for (size_t i = 0; i < s->count; i++) {
		const struct whatif *w = &s->answers[i];

		for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
			fprintf(f, "%u,", s->cpus.list[i]);
			whatif_csv_row(f, w, c);
		}
	}
	return fflush(f) || ferror(f) ? -1 : 0;
}
