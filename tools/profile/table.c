// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "output.h"
#include "run/time-unit.h"
#include "whatif/output.h"
#include "words.h"

#define BOLD	"\033[1m"
#define GREEN	"\033[32m"
#define PLAIN	"\033[0m"

#define NAME_MIN	16
#define NAME_MAX	44

/* In percentage points: a gain with a larger error is shown only if it is not 0. */
#define KNOWN_WITHIN	1.5

static int name_width(const struct profile *p)
{
	int width = NAME_MIN;

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		int len = profile_is_shown(p, row) ?
			  (int)strlen(p->candidates[row->candidate].name) : 0;

		width = len > width ? len : width;
	}
	return width > NAME_MAX ? NAME_MAX : width;
}

/* A percentage in a column, or a dash where nothing is known. */
static void percent(FILE *f, int width, const char *format, double value)
{
	char text[40] = "-";

	if (isfinite(value))
		snprintf(text, sizeof(text), format, value);
	fprintf(f, "%*s", width, text);
}

/*
 * These columns have no room for intervals. A number of one noisy run would look as
 * certain as the others.
 */
static bool is_known(const struct interval *i)
{
	return isfinite(i->value) &&
	       (i->low > 0 || i->high < 0 || i->high - i->low <= 2 * KNOWN_WITHIN);
}

static void known(FILE *f, int width, const struct interval *i)
{
	percent(f, width, "%+.1f %%", is_known(i) ? i->value : NAN);
}

static void interval(FILE *f, const struct interval *i)
{
	char text[60] = "-";

	if (isfinite(i->low))
		snprintf(text, sizeof(text), "%+.1f %% [%+.1f %+.1f]", i->value,
			 i->low, i->high);
	else if (isfinite(i->value))
		snprintf(text, sizeof(text), "%+.1f %% [unknown]", i->value);
	fprintf(f, "%26s", text);
}

static void function_row(FILE *f, const struct profile *p,
			 const struct profile_row *row, bool colour)
{
	const struct profile_candidate *c = &p->candidates[row->candidate];
	const struct interval *half = profile_shown_gain(row, PROFILE_HALF);
	bool gains = half->low > 0;

	fprintf(f, "  %-*.*s", name_width(p), NAME_MAX, c->name);
	percent(f, 12, "%.1f %%", 100 * row->share);
	known(f, 13, profile_shown_gain(row, PROFILE_TENTH));
	fputs(colour && gains ? BOLD GREEN : "", f);
	interval(f, half);
	fputs(colour && gains ? PLAIN : "", f);
	known(f, 11, profile_shown_gain(row, PROFILE_FREE));
	fprintf(f, "  %s\n", profile_why_text(p, row));
}

static bool has_dash(const struct profile_row *row)
{
	return !is_known(profile_shown_gain(row, PROFILE_TENTH)) ||
	       !isfinite(profile_shown_gain(row, PROFILE_HALF)->value) ||
	       !is_known(profile_shown_gain(row, PROFILE_FREE));
}

/* Says why there are dashes, if there are any. */
static void explain_dashes(FILE *f, const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (profile_is_shown(p, row) && has_dash(row)) {
			fprintf(f, "  A dash: not measured, or not known to within %.1f points.\n",
				KNOWN_WITHIN);
			return;
		}
	}
}

void profile_table(FILE *f, const struct profile *p, bool colour)
{
	char *command = whatif_command(&p->question), number[40];
	char *title = whatif_metric_title(&p->question);
	char *ending = profile_ending(p), *advice = profile_advice(p);
	char *left_out = profile_left_out(p);
	const struct machine m = whatif_environment_machine(&p->environment);
	char *machine = machine_text(&m);
	const char *unit;
	double factor = whatif_unit(&p->question, &unit);

	whatif_number(number, sizeof(number), factor * p->answer.baseline,
		      unit);
	fprintf(f, "\n%s%.200s%s\n%s in virtual time: %s\nOn %s\n",
		colour ? BOLD : "", command, colour ? PLAIN : "", title,
		number, machine);
	free(machine);
	if (p->question.deterministic)
		fprintf(f, "Times are counts of %s\n", time_unit_text());
	fputc('\n', f);
	fprintf(f, "  %-*s%12s%13s%26s%11s  %s\n", name_width(p),
		"the program gains", "time in it", "10 % faster",
		"50 % faster [interval]", "if free", "why");
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (profile_is_shown(p, &p->answer.rows[i]))
			function_row(f, p, &p->answer.rows[i], colour);
	fprintf(f, "\n");
	explain_dashes(f, p);
	if (left_out)
		fprintf(f, "  %s\n", left_out);
	fprintf(f, "  %s\n  %s\n\n%s%s%s\n\n", ending, profile_certainty(p),
		colour ? BOLD : "", advice, colour ? PLAIN : "");
	free(command);
	free(title);
	free(ending);
	free(advice);
	free(left_out);
}

static void csv_number(FILE *f, double value)
{
	if (isfinite(value))
		fprintf(f, ",%.6g", value);
	else
		fputc(',', f);
}

static void csv_gain(FILE *f, const struct profile_row *row,
		     enum profile_cut cut)
{
	csv_number(f, row->gain[cut].value);
	csv_number(f, row->gain[cut].low);
	csv_number(f, row->gain[cut].high);
	fprintf(f, ",%zu", row->runs[cut]);
}

int profile_csv(FILE *f, const struct profile *p)
{
	fputs("function,object,state,share_percent,calls,tenth_percent,tenth_low,tenth_high,tenth_runs,half_percent,half_low,half_high,half_runs,free_percent,free_low,free_high,free_runs,why,explanation\n",
	      f);
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		const struct profile_candidate *c =
			&p->candidates[row->candidate];

		whatif_csv_text(f, c->name);
		fputc(',', f);
		whatif_csv_text(f, c->object ? c->object : "");
		fprintf(f, ",%s", profile_state_id(c->state));
		csv_number(f, 100 * row->share);
		csv_number(f, row->calls);
		csv_gain(f, row, PROFILE_TENTH);
		csv_gain(f, row, PROFILE_HALF);
		csv_gain(f, row, PROFILE_FREE);
		fprintf(f, ",%s,", profile_why_id(row->why));
		whatif_csv_text(f, profile_why_text(p, row));
		fputc('\n', f);
	}
	return fflush(f) || ferror(f) ? -1 : 0;
}
