// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "util.h"

#define SECOND_NS	1000000000ULL
#define SILENCE_NS	(30 * SECOND_NS)

static void begin(struct progress_log *l)
{
	if (!l->start)
		l->start = l->told = now_ns();
}

static void say(struct progress_log *l, const char *what)
{
	warn("%s", what);
	l->told = now_ns();
}

static void show_counted(struct progress_log *l, unsigned int done,
			 unsigned int total, const char *what)
{
	uint64_t now = now_ns(), left;
	unsigned int percent;
	char *line;

	/* The total is an estimate, so done may exceed it. */
	percent = done < total ? (uint64_t)done * 100 / total : 100;
	if (!l->counted) {
		l->counted = now;
		l->tenth = percent / 10;
	}
	snprintf(l->what, sizeof(l->what), "%s: %u %% done", what, percent);
	if (percent / 10 <= l->tenth || percent == 100)
		return;
	l->tenth = percent / 10;
	left = (now - l->counted) / percent * (100 - percent) / SECOND_NS;
	line = xprintf("%s, %u:%02u left", l->what, (unsigned int)(left / 60),
		       (unsigned int)(left % 60));
	say(l, line);
	free(line);
}

void progress_log_show(struct progress_log *l, unsigned int done,
		       unsigned int total, const char *what)
{
	bool first = !l->start;

	begin(l);
	if (total) {
		if (first)
			say(l, what);
		show_counted(l, done, total, what);
		return;
	}
	snprintf(l->what, sizeof(l->what), "%s", what);
	/* The script marks long steps by done; short ones get no line. */
	if (first || done)
		say(l, what);
}

void progress_log_wait(struct progress_log *l)
{
	uint64_t passed, now;
	char *line;

	begin(l);
	now = now_ns();
	if (now - l->told < SILENCE_NS)
		return;
	l->told = now;
	if (!l->what[0])
		return;
	passed = (now - l->start) / SECOND_NS;
	line = xprintf("still %s, after %u:%02u", l->what,
		       (unsigned int)(passed / 60), (unsigned int)(passed % 60));
	say(l, line);
	free(line);
}

int progress_log_timeout_ms(const struct progress_log *l)
{
	uint64_t passed = l->start ? now_ns() - l->told : 0;

	return passed < SILENCE_NS ? (SILENCE_NS - passed) / 1000000 + 1 : 0;
}
