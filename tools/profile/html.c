// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "output.h"
#include "whatif/output.h"
#include "whatif/page.h"
#include "words.h"

static void lead(FILE *f, const struct profile *p)
{
	char *advice = profile_advice(p), *ending = profile_ending(p);
	char *left_out = profile_left_out(p);

	page_element(f, "<h1>", advice, "</h1>\n");
	page_element(f, "<p class=\"lead\">", ending, " ");
	page_element(f, "", left_out ? left_out : "", "</p>\n");
	free(advice);
	free(ending);
	free(left_out);
}

static void ranking(FILE *f, const struct profile *p)
{
	fputs("<figure class=\"card\">\n", f);
	profile_bars(f, p);
	fprintf(f, "<figcaption>A bar shows how much the program gains if the function takes half its time, with an interval. %s "
		"The upright line shows the gain that the function's share of the time promises. If a bar does not reach the line, other work hides a part of the gain. If a bar goes beyond the line, the program gains more than the function's time.</figcaption>\n</figure>\n",
		profile_certainty(p));
}

static bool has_curves(const struct profile *p)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (p->candidates[row->candidate].finalist &&
		    (row->runs[PROFILE_TENTH] || row->runs[PROFILE_FREE]))
			return true;
	}
	return false;
}

static void curves(FILE *f, const struct profile *p)
{
	if (!has_curves(p))
		return;
	fputs("<h2>How much faster is worth it?</h2>\n<div class=\"smalls\">\n",
	      f);
	profile_curves(f, p);
	fputs("</div>\n<p class=\"lead\">What the program gains, in percent, over the time that the function takes less. The dashed line is its share of the time, and an upright line is an interval. A curve that becomes flat has reached its limit: from there on the program waits for something else.</p>\n",
	      f);
}

static void flame(FILE *f, const struct profile *p)
{
	if (!profile_has_flame(p))
		return;
	fputs("<h2>Where is the time?</h2>\n<figure class=\"card\">\n", f);
	profile_flame(f, p);
	fputs("<figcaption>The width of a function is its part of the virtual time. Each function is below its caller, and threads are at the top. The stronger the blue, the more the program gains if the function takes half its time. Yellow: the function was tried, and no gain is certain. Grey: there is no result. Click a function to enlarge it, and click it again to see all.</figcaption>\n</figure>\n",
	      f);
}

static void percent_cell(FILE *f, const char *format, double value)
{
	fputs("<td class=\"n\">", f);
	if (isfinite(value))
		fprintf(f, format, value);
	else
		fputs("&ndash;", f);
	fputs("</td>", f);
}

static void gain_cell(FILE *f, const struct interval *i)
{
	if (!isfinite(i->value)) {
		fputs("<td class=\"n\">&ndash;</td>", f);
		return;
	}
	fprintf(f, "<td class=\"n change\">%+.1f %%", i->value);
	if (isfinite(i->low))
		fprintf(f, " <span class=\"range\">[%+.1f %+.1f]</span>",
			i->low, i->high);
	fputs("</td>", f);
}

/* Returns the badge's class in the style sheet. */
static int badge_of(enum profile_why why)
{
	switch (why) {
	case PROFILE_WAITS:
	case PROFILE_OTHERS_WAIT:
	case PROFILE_MORE:
	case PROFILE_HIDDEN:
		return 0;
	case PROFILE_OFF_PATH:
	case PROFILE_LOSES:
		return 3;
	default:
		return 1;
	}
}

static void table(FILE *f, const struct profile *p)
{
	fputs("<h2>All functions</h2>\n<div class=\"card scroll\"><table>\n<tr><th>Function</th><th class=\"n\">Time in it</th><th class=\"n\">10 % faster</th><th class=\"n\">50 % faster</th><th class=\"n\">If free</th><th class=\"n\">Runs</th><th>Why</th></tr>\n",
	      f);
	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		const struct profile_candidate *c =
			&p->candidates[row->candidate];

		if (!profile_is_shown(p, row))
			continue;
		page_element(f, "<tr><td><code>", c->name, "</code></td>");
		percent_cell(f, "%.1f %%", 100 * row->share);
		gain_cell(f, profile_shown_gain(row, PROFILE_TENTH));
		gain_cell(f, profile_shown_gain(row, PROFILE_HALF));
		gain_cell(f, profile_shown_gain(row, PROFILE_FREE));
		fprintf(f, "<td class=\"n\">%zu</td><td><span class=\"badge v%d\">%s</span>",
			row->runs[PROFILE_HALF] + row->runs[PROFILE_TENTH] +
			row->runs[PROFILE_FREE], badge_of(row->why),
			profile_why_id(row->why));
		page_element(f, "<span class=\"reason\">",
			     profile_why_text(p, row), "</span></td></tr>\n");
	}
	fputs("</table></div>\n", f);
}

static const char *text_of(const json_t *wait, const char *key)
{
	const char *text = json_string_value(json_object_get(wait, key));

	return text ? text : "";
}

static void waker_cell(FILE *f, const json_t *wait)
{
	const char *function = text_of(wait, "waker_function");
	const char *thread = text_of(wait, "waker_thread");
	const char *by = text_of(wait, "woken_by");

	fputs("<td>", f);
	if (!strcmp(by, "thread") && *function) {
		page_element(f, "<code>", function, "</code>");
		page_element(f, " in thread ", thread, "");
	} else if (!strcmp(by, "thread")) {
		/* A thread that ends is in no function. */
		page_element(f, *thread ? "thread " : "",
			     *thread ? thread : "a thread that has ended", "");
	} else {
		fputs(!strcmp(by, "timer") ? "a timer" :
					     "something outside of the program", f);
	}
	fputs("</td></tr>\n", f);
}

static void wait_row(FILE *f, const json_t *wait, double ns)
{
	double part = json_number_value(json_object_get(wait, "ns"));

	page_element(f, "<tr><td>", text_of(wait, "thread"), "</td>");
	page_element(f, "<td><code>", text_of(wait, "function"), "</code></td>");
	page_element(f, "<td><code>", text_of(wait, "callee"), "</code></td>");
	page_element(f, "<td>", text_of(wait, "reason"), "</td>");
	percent_cell(f, "%.1f %%", ns > 0 ? 100 * part / ns : NAN);
	waker_cell(f, wait);
}

#define WAITS_SHOWN	50

static void waits(FILE *f, const struct profile *p)
{
	double ns = 0;
	json_t *wait;
	size_t i;

	if (!json_array_size(p->waits))
		return;
	json_array_foreach(p->waits, i, wait)
		ns += json_number_value(json_object_get(wait, "ns"));
	fprintf(f, "<h2>Where threads wait</h2>\n<p class=\"lead\">In the survey, threads were blocked for %.3f s of virtual time in all, each on its own.</p>\n",
		ns / 1e9);
	fputs("<div class=\"card scroll\"><table>\n<tr><th>Thread</th><th>Waits in</th><th>By calling</th><th>For</th><th class=\"n\">Of all waits</th><th>Woken by</th></tr>\n",
	      f);
	json_array_foreach(p->waits, i, wait)
		if (i < WAITS_SHOWN)
			wait_row(f, wait, ns);
	fputs("</table></div>\n", f);
	if (i > WAITS_SHOWN)
		fprintf(f, "<p class=\"lead\">%zu shorter ones are in the output of --json.</p>\n",
			i - WAITS_SHOWN);
}

static void method(FILE *f)
{
	fputs("<h2>How sure is this?</h2>\n<p>Each gain comes from runs of the program: some as if the function were faster, some as it is. "
	      "Runs differ, so each gain has an interval that tells how far off it may be. More runs make it narrower: a longer --time. "
	      "If the intervals of two functions overlap, the one below may be the better one.</p>\n", f);
	fprintf(f, "<details><summary>The method</summary><p>Each function ran once at half its time. The ones that might be the best ran again and again, until their intervals were apart or time was over: a race, after Maron and Moore. "
		"A run is compared with runs of the same instruments at percent 100; its own CPU time tells how fast the machine was, unless tests show that a run does not do the same work. "
		"The intervals come from the largest |t| over all rows, by a bootstrap, and allow for %d looks.</p></details>\n",
		RACE_LOOKS);
}

int profile_html(FILE *f, const struct profile *p)
{
	char *command = whatif_command(&p->question);

	page_begin(f, "tense profile", command);
	lead(f, p);
	ranking(f, p);
	curves(f, p);
	table(f, p);
	flame(f, p);
	waits(f, p);
	method(f);
	free(command);
	return page_end(f, &p->question, &p->environment);
}
