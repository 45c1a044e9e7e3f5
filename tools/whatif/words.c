// SPDX-License-Identifier: GPL-2.0
#include "words.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"

char *whatif_varied_names(const struct whatif_question *q,
			  const struct whatif_plan *plan, size_t condition)
{
	char *names = xstrdup(""), *longer;
	unsigned int left = 0;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		left += whatif_varied(plan, condition, i);
	for (unsigned int i = 1; i < WHATIF_SLOTS; i++) {
		if (!whatif_varied(plan, condition, i))
			continue;
		left--;
		longer = xprintf("%s%s%s", names, whatif_name(q, i),
				 left > 1 ? ", " : left ? " and " : "");
		free(names);
		names = longer;
	}
	return names;
}

char *whatif_cut_words(double cut)
{
	return xprintf("took %.3g %% %s time", fabs(100 * cut),
		       cut < 0 ? "more" : "less");
}

char *whatif_change_words(const struct whatif_question *q, double change)
{
	if (q->metric.kind == METRIC_LATENCY)
		return xprintf("take %.1f %% %s time from %s to %s",
			       fabs(change), change > 0 ? "more" : "less",
			       q->metric.from, q->metric.to);
	if (whatif_is_time(q))
		return xprintf("%s %.1f %% %s %s",
			       q->metric.kind == METRIC_CPU ? "use" : "take",
			       fabs(change), change > 0 ? "more" : "less",
			       q->metric.kind == METRIC_CPU ? "CPU time" :
							      "time");
	return xprintf("have %s of %s by %.1f %%",
		       change < 0 ? "less" : "more",
		       q->metric.kind == METRIC_PROGRESS ? q->metric.pattern :
							   "the metric",
		       fabs(change));
}

const char *whatif_gain_title(const struct whatif_question *q)
{
	if (!whatif_less(q))
		return "change of the metric, %";
	if (!whatif_is_time(q))
		return "how much less the metric is, %";
	if (q->metric.kind == METRIC_LATENCY)
		return "time that the latency is less, %";
	return q->metric.kind == METRIC_CPU ?
	       "CPU time that the program takes less, %" :
	       "time that the program takes less, %";
}

char *whatif_sentence(const struct whatif *w, size_t condition)
{
	const struct whatif_result *r = whatif_result(&w->answer, condition);
	char *names = whatif_varied_names(&w->question, &w->plan, condition);
	char *cut = whatif_cut_words(r->cut);
	char *change = whatif_change_words(&w->question, r->change.value);
	char *text = xprintf("If %s %s, the program would %s [%+.2f %+.2f]",
			     names, cut, change, r->change.low,
			     r->change.high);

	free(names);
	free(cut);
	free(change);
	return text;
}
