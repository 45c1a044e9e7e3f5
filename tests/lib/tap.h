/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Test Anything Protocol for the tests that run on the host: one line for
 * each check, and the plan at the end, so that a test that dies early fails.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_run, tap_failed;

__attribute__((unused, format(printf, 2, 0)))
static bool tap_line(bool passed, const char *fmt, va_list args)
{
	printf("%sok %d - ", passed ? "" : "not ", ++tap_run);
	vprintf(fmt, args);
	putchar('\n');
	if (!passed)
		tap_failed++;
	fflush(stdout);
	return passed;
}

/* Checks one thing, which the rest says in words. Returns cond. */
__attribute__((unused, format(printf, 2, 3)))
static bool ok(bool cond, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_line(cond, fmt, args);
	va_end(args);
	return cond;
}

/* Checks that a number is the one expected, and tells both if it is not. */
__attribute__((unused, format(printf, 3, 4)))
static bool is_i64(int64_t got, int64_t expected, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_line(got == expected, fmt, args);
	va_end(args);
	if (got != expected)
		printf("# got %" PRId64 ", expected %" PRId64 "\n", got,
		       expected);
	return got == expected;
}

/* A check that cannot be made here, and why. */
__attribute__((unused, format(printf, 1, 2)))
static void skip(const char *fmt, ...)
{
	va_list args;

	printf("ok %d # SKIP ", ++tap_run);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* The plan; returns the exit status of the test. */
__attribute__((unused)) static int done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed != 0;
}

#endif
