// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "page.h"
#include "words.h"

/* One variant is told as a sentence, several as a question. */
static void headline(FILE *f, const struct whatif *w)
{
	char *names = whatif_varied_names(&w->question, &w->plan,
					  CONDITIONS_FIRST);
	char *program = xstrdup(w->question.argv[0]);
	const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 :
						   program;
	const struct whatif_result *r = whatif_result(&w->answer,
						      CONDITIONS_FIRST);
	char *change = whatif_change_words(&w->question, r->change.value);
	char *cut = whatif_cut_words(r->cut);

	if (w->plan.nr_conditions == CONDITIONS_FIRST + 1) {
		page_element(f, "<h1>If <code>", names, "</code> ");
		page_element(f, "", cut, "");
		page_element(f, ", <code>", name, "</code> would ");
		page_element(f, "", change, "</h1>\n");
		fprintf(f, "<p class=\"lead\">95 %% interval of the change: <span class=\"num\">%+.2f</span> to <span class=\"num\">%+.2f %%</span> &nbsp;<span class=\"badge v%d\">%s</span></p>\n",
			r->change.low, r->change.high, r->verdict,
			whatif_verdict(r->verdict));
	} else {
		page_element(f, "<h1>What <code>", name, "</code> gains ");
		if (w->question.each)
			fputs("from each of its functions</h1>\n", f);
		else
			page_element(f, "from a faster <code>", names,
				"</code></h1>\n");
		fprintf(f, "<p class=\"lead\">%zu variants, each run %zu times in virtual time</p>\n",
			w->plan.nr_conditions - CONDITIONS_FIRST,
			whatif_rounds(&w->samples));
	}
	free(names);
	free(program);
	free(change);
	free(cut);
}

static void legend_item(FILE *f, const char *picture, const char *text)
{
	fprintf(f, "<li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\">%s</svg>%s</li>\n",
		picture, text);
}

/* Names the series of the lines, if there are several. */
static void series_legend(FILE *f, const struct whatif_question *q)
{
	unsigned int n = 0;

	for (size_t i = 0; q->each && i < q->funcs; i++) {
		if (q->func[i].percent)
			continue;
		fprintf(f, "<li><svg viewBox=\"0 0 26 12\" aria-hidden=\"true\"><line class=\"curve s%u\" x1=\"0\" x2=\"26\" y1=\"6\" y2=\"6\"/></svg><code>",
			n++ % 6);
		page_element(f, "", q->func[i].name, "</code></li>\n");
	}
}

static void figure(FILE *f, const struct whatif *w)
{
	fputs("<figure class=\"card\">\n<ul class=\"legend\">\n", f);
	series_legend(f, &w->question);
	legend_item(f, "<g class=\"mark s0\"><path d=\"M13 0V12M9 0h8M9 12h8\"/><circle cx=\"13\" cy=\"6\" r=\"4\"/></g>",
		    "prediction with its 95 % interval");
	legend_item(f, "<line class=\"amdahl s0\" x1=\"0\" x2=\"26\" y1=\"6\" y2=\"6\"/>",
		    "Amdahl: by the share of time alone");
	legend_item(f, "<circle class=\"raw s0\" cx=\"13\" cy=\"6\" r=\"3\"/>",
		    "rounds");
	legend_item(f, "<circle class=\"raw plain s0\" cx=\"13\" cy=\"6\" r=\"3\"/>",
		    "rounds as measured, as far as they fit");
	fputs("</ul>\n", f);
	whatif_curve(f, w, false);
	fputs("<figcaption>The dashed line is what the function's share of the time promises if nothing overlaps and nobody waits. "
	      "Where the prediction lies below it, threads wait for something else; above it, others had been waiting for the function.</figcaption>\n</figure>\n"
	      "<figure class=\"card\">\n",
	      f);
	whatif_curve(f, w, true);
	fputs("<figcaption>The same from near: the prediction less what the share alone promises, with the rounds it comes from.</figcaption>\n</figure>\n",
	      f);
}

static double metric_of(const struct whatif_sample *s)
{
	return s->metric;
}

static double overhead_of(const struct whatif_sample *s)
{
	return 100.0 * s->overhead / (s->ran + s->overhead + 1.0);
}

static double pair_of(const struct whatif_sample *s)
{
	return s->pair_ns;
}

static void fact(FILE *f, const char *name, const char *value,
		 const char *small)
{
	page_element(f, "<div><dt>", name, "</dt>");
	page_element(f, "<dd>", value, "");
	page_element(f, "<small>", small, "</small></dd></div>\n");
}

static void facts(FILE *f, const struct whatif *w)
{
	char *title = whatif_metric_title(&w->question), *small;
	char value[60];
	const char *unit;
	double factor = whatif_unit(&w->question, &unit);

	fputs("<dl class=\"facts\">\n", f);
	whatif_number(value, sizeof(value),
		      factor * whatif_mean(&w->samples, 0, metric_of), unit);
	small = xprintf("%s of the unchanged program", title);
	fact(f, "Baseline", value, small);
	free(small);

	snprintf(value, sizeof(value), "%.1f %%",
		 100 * whatif_result(&w->answer, CONDITIONS_FIRST)->share);
	small = xprintf("%.0f calls a run",
			whatif_result(&w->answer, CONDITIONS_FIRST)->calls);
	fact(f, "Time in the function", value, small);
	free(small);

	snprintf(value, sizeof(value), "%+.2f %%", w->answer.bias.value);
	small = xprintf("null experiment, %+.2f to %+.2f", w->answer.bias.low,
			w->answer.bias.high);
	fact(f, "Bias of the instruments", value, small);
	free(small);

	snprintf(value, sizeof(value), "%.2f %%",
		 whatif_mean(&w->samples, 1, overhead_of));
	small = xprintf("of CPU time; %.0f ns a call",
			whatif_mean(&w->samples, 1, pair_of));
	fact(f, "Overhead given back", value, small);
	free(small);
	fputs("</dl>\n", f);
	free(title);
}

static void results(FILE *f, const struct whatif *w)
{
	char *title = whatif_metric_title(&w->question);

	fputs("<h2>Results</h2>\n<div class=\"card scroll\"><table>\n<tr><th>Variant</th><th class=\"n\">Calls a run</th><th class=\"n\">Time in it</th>",
	      f);
	page_element(f, "<th class=\"n\">Change of ", title,
		" [95 % interval]</th><th class=\"n\">Amdahl</th><th>Verdict</th></tr>\n");
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);

		page_element(f, "<tr><td>", w->plan.conditions[c].name, "</td>");
		fprintf(f, "<td class=\"n\">%.0f</td><td class=\"n\">%.1f %%</td><td class=\"n change\">%+.2f %% <span class=\"range\">[%+.2f %+.2f]</span></td><td class=\"n\">%+.2f %%</td><td><span class=\"badge v%d\">%s</span>",
			r->calls, 100 * r->share, r->change.value,
			r->change.low, r->change.high, r->amdahl, r->verdict,
			whatif_verdict(r->verdict));
		if (r->reason.id)
			page_element(f, "<span class=\"reason\">", r->reason.text,
				"</span>");
		fputs("</td></tr>\n", f);
	}
	fputs("</table></div>\n", f);
	free(title);
}

static const char *explanation(enum estimator e)
{
	static const char *const texts[] = {
		[ESTIMATOR_CPU] =
		"Each run does the same work, so its own CPU time, which the kernel counts exactly, tells how fast the machine was during it. "
		"What the elapsed time owes to that, and to the share of time that a run happened to spend in the function, is taken off by regression before rounds are compared. "
		"The assumption was tested: calls and CPU time outside of the function do not differ between the conditions.",
		[ESTIMATOR_CPU_PER_CALL] =
		"The runs do not make the same number of calls, but each call and what comes with it takes the same CPU time. "
		"So the CPU time per call tells how fast the machine was during a run, and what the metric owes to that is taken off by regression before rounds are compared.",
		[ESTIMATOR_REFERENCE] =
		"The runs do not do the same work, so their CPU time does not tell the machine's speed. "
		"A loop of fixed work before and after each run does; what the metric owes to that is taken off by regression before rounds are compared.",
		[ESTIMATOR_MEDIAN] =
		"The runs do not do the same work, and a loop of fixed work around them does not explain how they vary. "
		"So this is the median of the ratios within the rounds, and whatever the machine does is in its interval.",
	};

	return texts[e];
}

static void method(FILE *f, const struct whatif *w)
{
	bool told[ESTIMATOR_MEDIAN + 1] = { false };

	fputs("<h2>How sure is this?</h2>\n", f);
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);

		if (!told[r->estimator]) {
			page_element(f, "<p><strong>", w->plan.conditions[c].name,
				": ");
			page_element(f, "", whatif_estimator(r->estimator),
				".</strong> ");
			page_element(f, "", explanation(r->estimator), "</p>\n");
		}
		told[r->estimator] = true;
		if (!r->fallback.id)
			continue;
		page_element(f, "<p class=\"note\">", w->plan.conditions[c].name,
			": ");
		page_element(f, "", r->fallback.text, "</p>\n");
	}
	fprintf(f, "<p>Intervals are bootstrapped over %zu rounds; in each, all conditions ran once, in random order. A first round was discarded. "
		"Changes are against the null experiment, which runs with the same instruments at percent 100.</p>\n",
		whatif_rounds(&w->samples));
	for (size_t i = 0; i < w->answer.nr_warnings; i++)
		page_element(f, "<p class=\"note\">", w->answer.warnings[i].text,
			"</p>\n");
}

static void patches(FILE *f, const struct whatif_question *q,
		    const struct whatif_samples *samples)
{
	if (!samples->nr_patches)
		return;
	fputs("<h2>What was scaled</h2>\n<div class=\"card scroll\"><table>\n<tr><th>Name</th><th>Function</th><th>Object</th><th>How</th></tr>\n",
	      f);
	for (size_t i = 0; i < samples->nr_patches; i++) {
		const struct whatif_patch *p = &samples->patches[i];

		page_element(f, "<tr><td><code>", whatif_name(q, p->slot),
			"</code></td>");
		page_element(f, "<td><code>", p->symbol, "</code></td>");
		page_element(f, "<td><code>", p->object, "</code></td>");
		page_element(f, p->patched ? "<td>" :
			"<td><span class=\"badge v3\">refused</span> ",
			p->how, "</td></tr>\n");
	}
	fputs("</table></div>\n", f);
}

static void every_run(FILE *f, const struct whatif *w)
{
	const char *unit;
	double factor = whatif_unit(&w->question, &unit);

	fprintf(f, "<h2>Every run</h2>\n<details><summary>%zu runs, in the order of the rounds</summary><div class=\"card scroll\"><table>\n<tr><th class=\"n\">Round</th><th class=\"n\">Run</th><th>Variant</th><th class=\"n\">Metric%s%s</th><th class=\"n\">CPU time, s</th><th class=\"n\">Elapsed, real, s</th><th class=\"n\">Reference, ms</th><th class=\"n\">Threads</th></tr>\n",
		w->samples.count, *unit ? ", " : "", unit);
	for (size_t i = 0; i < w->samples.count; i++) {
		const struct whatif_sample *s = &w->samples.list[i];

		fprintf(f, "<tr><td class=\"n\">%u</td><td class=\"n\">%u</td>",
			s->round, s->order + 1);
		page_element(f, "<td>", w->plan.conditions[s->condition].name,
			"</td>");
		fprintf(f, "<td class=\"n\">%.6g</td><td class=\"n\">%.6f</td><td class=\"n\">%.6f</td><td class=\"n\">%.3f</td><td class=\"n\">%u</td></tr>\n",
			factor * s->metric, s->ran / 1e9, s->real / 1e9,
			s->reference / 1e6, s->threads);
	}
	fputs("</table></div></details>\n", f);
}

int whatif_html(FILE *f, const struct whatif *w)
{
	char *command = whatif_command(&w->question);

	page_begin(f, "tense whatif", command);
	headline(f, w);
	figure(f, w);
	facts(f, w);
	results(f, w);
	method(f, w);
	patches(f, &w->question, &w->samples);
	every_run(f, w);
	free(command);
	return page_end(f, &w->question, &w->samples.environment);
}
