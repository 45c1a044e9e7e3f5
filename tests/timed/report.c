// SPDX-License-Identifier: GPL-2.0
/*
 * The Test Anything Protocol, from several processes: results have no numbers.
 */
#include "timed.h"

#include <stdarg.h>
#include <stdio.h>

static struct {
	atomic_int run;
	atomic_int failed;
} *results;

void report_begin(void)
{
	results = shared(sizeof(*results));
}

/* One write for each line, so that those of several processes stay whole. */
static void line(const char *begin, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	dprintf(STDOUT_FILENO, "%s%s\n", begin, text);
}

bool check(bool cond, const char *format, ...)
{
	va_list args;

	results->run++;
	if (!cond)
		results->failed++;
	va_start(args, format);
	line(cond ? "ok - " : "not ok - ", format, args);
	va_end(args);
	return cond;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("# ", format, args);
	va_end(args);
}

void leave_out(const char *format, ...)
{
	va_list args;

	results->run++;
	va_start(args, format);
	line("ok # SKIP ", format, args);
	va_end(args);
}

int report_end(void)
{
	dprintf(STDOUT_FILENO, "1..%d\n", results->run);
	return results->failed != 0;
}
