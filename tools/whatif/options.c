// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <linux/tense.h>

#include "base/util.h"
#include "latency.h"
#include "metric.h"

/* More of them than anybody would wait for. */
#define CUTS_MAX	100
#define DIGITS		"0123456789"

static char *add_func(struct whatif_question *q, char *name,
		      unsigned int percent)
{
	if (q->funcs == WHATIF_FUNCS_MAX) {
		free(name);
		return xprintf("more than %d functions", WHATIF_FUNCS_MAX);
	}
	q->func[q->funcs++] = (struct whatif_func){
		.name = name, .percent = percent,
	};
	return NULL;
}

/*
 * Parses digits and perhaps a fraction. strtod() accepts more: it would take
 * the first point of a range with the number.
 */
static bool number(const char **text, double *value)
{
	const char *p = *text;
	size_t len = strspn(p, DIGITS);
	char copy[32];

	if (p[len] == '.' && isdigit((unsigned char)p[len + 1]))
		len += 1 + strspn(p + len + 1, DIGITS);
	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, p, len);
	copy[len] = '\0';
	*value = strtod(copy, NULL);
	p += len;
	*text = *p == '%' ? p + 1 : p;
	return true;
}

/* Text after the last @ that is no number is a symbol version or an address. */
static const char *percent_mark(const char *text, double *percent)
{
	const char *mark = strrchr(text, '@'), *p = mark ? mark + 1 : "";
	double value;

	if (!number(&p, &value) || *p)
		return NULL;
	*percent = value;
	return mark;
}

char *whatif_parse_func(struct whatif_question *q, const char *text)
{
	double percent = 0;
	const char *mark = percent_mark(text, &percent);
	size_t len = mark ? (size_t)(mark - text) : strlen(text);

	if (mark && (percent < TENSE_PERCENT_MIN ||
		     percent > TENSE_PERCENT_MAX))
		return xprintf("percent '%s' of '%.*s' is not a number from %d to %d",
			       mark + 1, (int)len, text, TENSE_PERCENT_MIN,
			       TENSE_PERCENT_MAX);
	if (!len)
		return xprintf("'%s' names no function", text);
	if (strchr(text, '\n'))
		return xprintf("a name with a line break");
	return add_func(q, xprintf("%.*s", (int)len, text),
			lround(percent * TENSE_FINE));
}

static char *add_cut(struct whatif_question *q, double percent, bool slower)
{
	double cut = slower ? -percent / 100 : percent / 100;

	if (q->nr_cuts == CUTS_MAX)
		return xprintf("more than %d changes", CUTS_MAX);
	q->cuts = xrealloc(q->cuts, (q->nr_cuts + 1) * sizeof(*q->cuts));
	q->cuts[q->nr_cuts++] = cut;
	return NULL;
}

static char *add_range(struct whatif_question *q, double from, double to,
		       double step, bool slower)
{
	double count = floor((to - from) / step + 1e-9) + 1;
	char *error = NULL;

	if (step <= 0 || to < from || count > CUTS_MAX)
		return xprintf("a range of no or too many changes");
	for (int i = 0; i < count && !error; i++)
		error = add_cut(q, from + i * step, slower);
	return error;
}

char *whatif_parse_cuts(struct whatif_question *q, const char *text,
			bool slower)
{
	const char *p = text;
	char *error = NULL;

	/* Some people write 0.2 for 20 %. */
	if (!strncmp(text, "0.", 2) && isdigit((unsigned char)text[2]) && !strchr(text, '%'))
		return xprintf("'%s' is less than 1 %%: write a percentage with its sign, as in 20%% or 0.2%%",
			       text);
	do {
		double from, to, step = 10;

		if (!number(&p, &from))
			goto bad;
		if (strncmp(p, "..", 2) != 0) {
			to = from;
		} else {
			p += 2;
			if (!number(&p, &to))
				goto bad;
			if (*p == '/' && (p++, !number(&p, &step)))
				goto bad;
		}
		if (slower ? to > 100000 : to >= 99.9)
			return slower ?
			       xprintf("%g %% slower is beyond 100000", to) :
			       xprintf("%g %% less time: should be below 99.9",
				       to);
		error = add_range(q, from, to, step, slower);
	} while (!error && *p++ == ',');
	if (error || !p[-1])
		return error;
bad:
	return xprintf("'%s' is not a list like 20%% or 10,20,50%% or 0..90/10%%",
		       text);
}

static void forget_metric(struct whatif_metric *metric)
{
	free(metric->pattern);
	free(metric->from);
	free(metric->to);
	*metric = (struct whatif_metric){ 0 };
}

void whatif_set_progress(struct whatif_question *q, const char *name)
{
	forget_metric(&q->metric);
	q->metric.kind = METRIC_PROGRESS;
	q->metric.pattern = xstrdup(name);
}

char *whatif_parse_latency(struct whatif_question *q, const char *text)
{
	forget_metric(&q->metric);
	q->metric.kind = METRIC_LATENCY;
	q->metric.pattern = xstrdup(text);
	return whatif_latency_parse(text, &q->metric.from, &q->metric.to);
}

char *whatif_parse_metric(struct whatif_question *q, const char *text)
{
	static const struct {
		const char *name;
		enum metric_kind kind;
	} with_pattern[] = {
		{ "stdout:", METRIC_STDOUT },
		{ "stderr:", METRIC_STDERR },
	};

	forget_metric(&q->metric);
	if (!strcmp(text, "elapsed")) {
		q->metric.kind = METRIC_ELAPSED;
		return NULL;
	}
	if (!strcmp(text, "cpu")) {
		q->metric.kind = METRIC_CPU;
		return NULL;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(with_pattern[i].name);

		if (strncmp(text, with_pattern[i].name, len) != 0)
			continue;
		q->metric.kind = with_pattern[i].kind;
		q->metric.pattern = xstrdup(text + len);
		return whatif_metric_check(text + len);
	}
	return xprintf("metric '%s' is not elapsed, cpu, stdout:REGEX or stderr:REGEX",
		       text);
}

static char *parse_better(struct whatif_question *q, const char *text)
{
	if (!strcmp(text, "less"))
		q->better = BETTER_LESS;
	else if (!strcmp(text, "more"))
		q->better = BETTER_MORE;
	else
		return xprintf("--better '%s' is neither less nor more", text);
	return NULL;
}

char *whatif_parse_number(const char *option, const char *text, double max,
			  double *value)
{
	const char *p = text;

	if (!number(&p, value) || *p || *value <= 0 || *value > max)
		return xprintf("--%s '%s' is not a number above 0, up to %g", option,
			       text, max);
	return NULL;
}

char *whatif_parse_whole(const char *option, const char *text, double max,
			 uint64_t *value)
{
	double real = 0;
	char *error = whatif_parse_number(option, text, max, &real);

	if (error)
		return error;
	*value = real;
	return (double)*value == real ?
	       NULL : xprintf("--%s '%s' is not a whole number", option, text);
}

static void replace(char **text, const char *with)
{
	free(*text);
	*text = xstrdup(with);
}

char *whatif_take_option(struct whatif_question *q, int c, const char *arg,
			 bool *taken)
{
	*taken = true;
	switch (c) {
	case WHATIF_METRIC:
		return whatif_parse_metric(q, arg);
	case WHATIF_BETTER:
		return parse_better(q, arg);
	case WHATIF_PROGRESS:
		whatif_set_progress(q, arg);
		return NULL;
	case WHATIF_LATENCY:
		return whatif_parse_latency(q, arg);
	case WHATIF_PRECISION:
		return whatif_parse_number("precision", arg, 100, &q->precision);
	case WHATIF_SEED:
		return whatif_parse_whole("seed", arg, UINT32_MAX, &q->seed);
	case REPEAT_PREPARE:
		replace(&q->prepare, arg);
		return NULL;
	case REPEAT_INPUT:
		replace(&q->input, arg);
		return NULL;
	case REPEAT_IGNORE_FAILURE:
		q->ignore_failure = true;
		return NULL;
	case REPEAT_SHOW_OUTPUT:
		q->show_output = true;
		return NULL;
	case REPEAT_QUIET:
		q->quiet = true;
		return NULL;
	default:
		*taken = false;
		return NULL;
	}
}

void whatif_choose_seed(struct whatif_question *q)
{
	uint32_t seed = 1;

	if (q->seed)
		return;
	if (!q->deterministic)
		getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
	q->seed = seed;
}
