// SPDX-License-Identifier: GPL-2.0
/* Checks the lines that a long step prints without a terminal, with a fake clock. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "base/progress.h"
#include "base/util.h"

#define SECOND	1000000000ULL

static uint64_t now = 1000 * SECOND;
static char said[400];
static int lines;

/* Replaces the one in util.c. */
uint64_t now_ns(void)
{
	return now;
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	lines++;
}

char *xprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		exit(1);
	va_end(args);
	return text;
}

static bool says(const char *text)
{
	bool same = lines == 1 && !strcmp(said, text);

	if (!same)
		printf("# %d lines: %s\n", lines, said);
	lines = 0;
	said[0] = '\0';
	return same;
}

static bool is_silent(void)
{
	return lines == 0;
}

int main(void)
{
	struct progress_log l = { 0 };

	progress_log_wait(&l);
	now += 100 * SECOND;
	ok(progress_log_timeout_ms(&l) == 0, "half a minute is over");
	progress_log_wait(&l);
	ok(is_silent(), "no line before the script's first step");
	ok(progress_log_timeout_ms(&l) > 29000, "the next time-out is half a minute away");

	l = (struct progress_log){ 0 };
	progress_log_show(&l, 0, 0, "patching");
	ok(says("patching"), "the first step gets a line");
	progress_log_show(&l, 0, 0, "configuring");
	ok(is_silent(), "a short step gets none");
	progress_log_show(&l, 1, 0, "building");
	ok(says("building"), "a long step gets one");
	now += 29 * SECOND;
	ok(progress_log_timeout_ms(&l) <= 1001, "after 29 s, tense waits 1 s");
	progress_log_wait(&l);
	ok(is_silent(), "no line before 30 s");
	now += SECOND;
	progress_log_wait(&l);
	ok(says("still building, after 0:30"), "a line after 30 s");
	now += 60 * SECOND;
	progress_log_wait(&l);
	ok(says("still building, after 1:30"), "another line after 90 s");

	progress_log_show(&l, 1, 1000, "compiling");
	for (int i = 1; i < 100; i++)
		progress_log_show(&l, i, 1000, "compiling");
	ok(is_silent(), "no line below a tenth");
	now += 20 * SECOND;
	progress_log_show(&l, 100, 1000, "compiling");
	ok(says("compiling: 10 % done, 3:00 left"), "a tenth gets a line with the time left");
	progress_log_show(&l, 101, 1000, "compiling");
	ok(is_silent(), "once");
	now += 31 * SECOND;
	progress_log_wait(&l);
	ok(says("still compiling: 10 % done, after 2:21"), "a slow tenth gets a line in between");
	progress_log_show(&l, 450, 1000, "compiling");
	ok(says("compiling: 45 % done, 1:02 left"), "several tenths share a line");
	progress_log_show(&l, 1000, 1000, "compiling");
	progress_log_show(&l, 3000, 1000, "compiling");
	ok(is_silent(), "the end gets no line");

	l = (struct progress_log){ 0 };
	progress_log_show(&l, 0, 4, "measuring");
	ok(says("measuring"), "a counted first step gets a line");
	progress_log_show(&l, 0, 4, "measuring");
	ok(is_silent(), "only once");
	return done();
}
