// SPDX-License-Identifier: GPL-2.0
#include "sweep-cpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define DIGITS	"0123456789"

/* Parses the number at *text, and moves *text behind it. */
static char *take_number(const char **text, unsigned int most,
			 unsigned int *number)
{
	size_t len = strspn(*text, DIGITS), word = strcspn(*text, ",");
	const char *range = strstr(*text, "..");
	unsigned long value;

	if (range && range < *text + word)
		word = range - *text;
	if (!word)
		return xprintf("a number is missing: use a list such as 1,2,4 or 1..8");
	value = len == word ? strtoul(*text, NULL, 10) : 0;
	if (!value)
		return xprintf("'%.*s' is not a number of CPUs", (int)word, *text);
	if (value > most)
		return xprintf("'%.*s': a guest has at most %u CPUs", (int)word,
			       *text, most);
	*number = value;
	*text += word;
	return NULL;
}

static char *add(struct sweep_cpus *cpus, unsigned int number)
{
	unsigned int last = cpus->count ? cpus->list[cpus->count - 1] : 0;

	if (number == last)
		return xprintf("%u is in the list twice: leave one out", number);
	if (number < last)
		return xprintf("%u comes after %u: begin with the smallest number",
			       number, last);
	if (cpus->count == SWEEP_CPUS_MAX)
		return xprintf("more than %d numbers: leave some out",
			       SWEEP_CPUS_MAX);
	cpus->list[cpus->count++] = number;
	return NULL;
}

static char *add_range(struct sweep_cpus *cpus, unsigned int from,
		       unsigned int to)
{
	char *error = NULL;
	unsigned int power = 1;

	if (from > to)
		return xprintf("the range %u..%u runs backwards: use %u..%u", from,
			       to, to, from);
	while (power < from)
		power *= 2;
	if (power > to)
		return xprintf("no power of two is in the range %u..%u: list the numbers",
			       from, to);
	for (; power <= to && !error; power *= 2)
		error = add(cpus, power);
	return error;
}

static char *take_item(struct sweep_cpus *cpus, const char **text,
		       unsigned int most)
{
	unsigned int from = 0, to = 0;
	char *error = take_number(text, most, &from);

	if (error)
		return error;
	if (strncmp(*text, "..", 2) != 0)
		return add(cpus, from);
	*text += 2;
	error = take_number(text, most, &to);
	if (!error && **text && **text != ',')
		error = xprintf("a range has two ends, such as 1..8");
	return error ? error : add_range(cpus, from, to);
}

char *sweep_cpus_parse(struct sweep_cpus *cpus, const char *text,
		       unsigned int most)
{
	char *error;

	cpus->count = 0;
	do
		error = take_item(cpus, &text, most);
	while (!error && *text++ == ',');
	return error;
}
