// SPDX-License-Identifier: GPL-2.0
#include "question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "base/util.h"

_Static_assert(WHATIF_SLOTS == TENSE_SLOTS, "a slot of the kernel's is a slot");

unsigned int whatif_progress_slot(const struct whatif_question *q)
{
	return q->metric.kind == METRIC_PROGRESS ? q->funcs + 1 : 0;
}

const char *whatif_name(const struct whatif_question *q, unsigned int name)
{
	if (name >= 1 && name <= q->funcs)
		return q->func[name - 1].name;
	if (name && name == whatif_progress_slot(q))
		return q->metric.pattern;
	if (name == WHATIF_FROM && q->metric.from)
		return q->metric.from;
	if (name == WHATIF_TO && q->metric.to)
		return q->metric.to;
	return "";
}

const char *whatif_limit_runs(struct whatif_question *q)
{
	if (q->runs && q->max_runs)
		return "--runs fixes the number of runs, and --max-runs limits it: use only one of them";
	if (!q->deterministic && q->runs)
		return "--runs is for --deterministic: otherwise --precision and --max-runs say how many";
	if (q->runs)
		q->max_runs = q->runs;
	else if (!q->max_runs)
		q->max_runs = q->deterministic ? WHATIF_EXACT_ROUNDS_MAX :
						 WHATIF_ROUNDS_MAX;
	return NULL;
}

const char *whatif_metric_name(enum metric_kind kind)
{
	static const char *const names[] = {
		[METRIC_ELAPSED] = "elapsed", [METRIC_CPU] = "cpu",
		[METRIC_STDOUT] = "stdout", [METRIC_STDERR] = "stderr",
		[METRIC_PROGRESS] = "progress", [METRIC_LATENCY] = "latency",
	};

	return names[kind];
}

char *whatif_metric_title(const struct whatif_question *q)
{
	switch (q->metric.kind) {
	case METRIC_ELAPSED:
		return xstrdup("elapsed time");
	case METRIC_CPU:
		return xstrdup("CPU time");
	case METRIC_STDOUT:
	case METRIC_STDERR:
		return xprintf("%s:%s (%s is better)",
			       whatif_metric_name(q->metric.kind),
			       q->metric.pattern, whatif_less(q) ? "less" : "more");
	case METRIC_LATENCY:
		return xprintf("%s to %s, mean", q->metric.from, q->metric.to);
	default:
		return xprintf("calls of %s per second", q->metric.pattern);
	}
}

bool whatif_is_printed(const struct whatif_question *q)
{
	return q->metric.kind == METRIC_STDOUT || q->metric.kind == METRIC_STDERR;
}

bool whatif_less(const struct whatif_question *q)
{
	return whatif_is_time(q) ||
	       (whatif_is_printed(q) && q->better == BETTER_LESS);
}

double whatif_gain(const struct whatif_question *q, double change)
{
	return whatif_less(q) ? -change : change;
}

const char *whatif_check_metric(const struct whatif_question *q)
{
	if (q->show_output && whatif_is_printed(q))
		return "--show-output cannot be used with --metric stdout:REGEX or stderr:REGEX, which reads the output instead: use only one of them";
	return q->better && !whatif_is_printed(q) ?
	       "--better is only for a number that the command prints: --metric stdout:REGEX or stderr:REGEX" :
	       NULL;
}

void whatif_check_input(const struct whatif_question *q)
{
	if (q->input && !q->prepare && access(q->input, R_OK))
		die(STATUS_FAILED, "--input %s: %s", q->input, strerror(errno));
}

bool whatif_is_time(const struct whatif_question *q)
{
	return q->metric.kind == METRIC_ELAPSED ||
	       q->metric.kind == METRIC_CPU ||
	       q->metric.kind == METRIC_LATENCY;
}

double whatif_unit(const struct whatif_question *q, const char **unit)
{
	if (q->metric.kind == METRIC_LATENCY) {
		*unit = "us";
		return 1e-3;
	}
	*unit = whatif_is_time(q) ? "s" :
		q->metric.kind == METRIC_PROGRESS ? "1/s" : "";
	return whatif_is_time(q) ? 1e-9 : 1;
}

/* As it could be typed. */
char *whatif_command(const struct whatif_question *q)
{
	char *text = xstrdup("");

	for (char **arg = q->argv; *arg; arg++) {
		bool plain = **arg && !(*arg)[strcspn(*arg,
						      " \t\n'\"\\$&;|<>()*?[]{}`~#!")];
		char *longer = xprintf(plain ? "%s%s%s" : "%s%s'%s'", text,
				       *text ? " " : "", *arg);

		free(text);
		text = longer;
	}
	return text;
}

void whatif_question_free(struct whatif_question *q)
{
	for (char **arg = q->argv; q->own_argv && *arg; arg++)
		free(*arg);
	if (q->own_argv)
		free(q->argv);
	for (size_t i = 0; i < q->funcs; i++)
		free(q->func[i].name);
	free(q->metric.pattern);
	free(q->metric.from);
	free(q->metric.to);
	free(q->cuts);
	free(q->prepare);
	free(q->input);
}
