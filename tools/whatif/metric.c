// SPDX-License-Identifier: GPL-2.0
#include "metric.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/util.h"

static pcre2_code *compile(const char *pattern, char **error)
{
	PCRE2_SIZE offset;
	PCRE2_UCHAR text[200];
	pcre2_code *code;
	int number;

	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
			     PCRE2_MULTILINE, &number, &offset, NULL);
	*error = NULL;
	if (code)
		return code;
	pcre2_get_error_message(number, text, sizeof(text));
	*error = xprintf("expression '%s': %s at %zu", pattern,
			 (const char *)text, (size_t)offset);
	return NULL;
}

char *whatif_metric_check(const char *pattern)
{
	char *error;

	pcre2_code_free(compile(pattern, &error));
	return error;
}

/* Group 1 of a match if it took part, else all of it. */
static void take(pcre2_match_data *match, size_t *start, size_t *end)
{
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);
	int group = pcre2_get_ovector_count(match) > 1 &&
		    at[2] != PCRE2_UNSET;

	*start = at[2 * group];
	*end = at[2 * group + 1];
}

static char *to_number(const char *text, size_t len, double *value)
{
	char *copy = xprintf("%.*s", (int)(len < 100 ? len : 100), text);
	char *end, *error = NULL;

	*value = strtod(copy, &end);
	if (end == copy || *end || !isfinite(*value))
		error = xprintf("'%s' is not a number", copy);
	else if (*value <= 0)
		error = xprintf("'%s' is not above 0, so that changes of it are not in percent",
				copy);
	free(copy);
	return error;
}

char *whatif_metric_find(const char *pattern, const char *text, size_t len,
			 double *value)
{
	size_t start = 0, end = 0, from = 0;
	pcre2_match_data *match;
	bool found = false;
	pcre2_code *code;
	char *error;

	code = compile(pattern, &error);
	if (!code)
		return error;
	match = pcre2_match_data_create_from_pattern(code, NULL);
	while (from <= len &&
	       pcre2_match(code, (PCRE2_SPTR)text, len, from, 0, match,
			   NULL) >= 0) {
		PCRE2_SIZE *at = pcre2_get_ovector_pointer(match);

		if (at[1] > at[0]) {
			take(match, &start, &end);
			found = true;
		}
		from = at[1] > at[0] ? at[1] : at[1] + 1;
	}
	error = found ? to_number(text + start, end - start, value) :
			xprintf("nothing matches '%s'", pattern);
	pcre2_match_data_free(match);
	pcre2_code_free(code);
	return error;
}
