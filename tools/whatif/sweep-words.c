// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sweep-output.h"
#include "words.h"

/* Appends to a text and frees it. */
static char *append(char *text, char *more)
{
	char *longer = xprintf("%s%s", text, more);

	free(text);
	free(more);
	return longer;
}

/* Does a function of the question have a percent of its own? */
static bool has_own_percent(const struct whatif_question *q)
{
	for (size_t i = 0; i < q->funcs; i++)
		if (q->func[i].percent)
			return true;
	return false;
}

char *sweep_variant_words(const struct sweep *s, size_t condition)
{
	const struct whatif *w = &s->answers[0];
	const struct whatif_condition *c = &w->plan.conditions[condition];
	char *names = whatif_varied_names(&w->question, &w->plan, condition);
	char *words;

	/* The mean cut of several percents may differ between numbers of CPUs. */
	if (isnan(c->cut) || has_own_percent(&w->question))
		words = xprintf("%s: %s", names, c->name);
	else
		words = xprintf("%s: %.3g %% %s", names, fabs(100 * c->cut),
				c->cut < 0 ? "slower" : "faster");
	free(names);
	return words;
}

/* "16.0 %", "nothing distinguishable", "2.0 % (not trusted)" */
static char *amount(const struct whatif_result *r)
{
	if (r->verdict == VERDICT_NO_EFFECT)
		return xprintf("nothing distinguishable");
	if (r->verdict == VERDICT_PREDICTION)
		return xprintf("%.1f %%", fabs(r->change.value));
	return xprintf("%.1f %% (%s)", fabs(r->change.value),
		       whatif_verdict(r->verdict));
}

char *sweep_sentence(const struct sweep *s, size_t condition)
{
	char *text = append(sweep_variant_words(s, condition), xstrdup(" "));
	const char *last = "";

	for (size_t i = 0; i < s->count; i++) {
		const struct whatif *w = &s->answers[i];
		const struct whatif_result *r = whatif_result(&w->answer, condition);
		bool loses = r->verdict != VERDICT_NO_EFFECT &&
			     whatif_gain(&w->question, r->change.value) < 0;
		const char *verb = loses ? "loses " : "gains ";
		char *size = amount(r);

		text = append(text, xprintf("%s%s%s on %u%s", i ? ", " : "",
					    verb == last ? "" : verb, size,
					    s->cpus.list[i], i ? "" :
					    s->cpus.list[i] == 1 ? " CPU" : " CPUs"));
		last = verb;
		free(size);
	}
	return text;
}
