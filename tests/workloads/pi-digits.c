// SPDX-License-Identifier: GPL-2.0
/*
 * The spigot of Rabinowitz and Wagon, four digits at a time: pi written in the
 * mixed radix 1/3, 2/5, 3/7, ..., multiplied by 10000 again and again. Each
 * run does the same work.
 */
#include <stdint.h>
#include <stdlib.h>

#include "pi-digits.h"

#define GROUP		4	/* digits */
#define BASE		10000
/* Terms for a group: its digits / log10(2), rounded up. */
#define GROUP_TERMS	14
#define TICK_TERMS	512
/* The last carry may still change these, so they are not shown. */
#define GUARD_GROUPS	2

/* Multiplies by BASE. Returns what crosses the radix point, times BASE. */
static uint64_t multiply(uint32_t *term, int terms, void (*tick)(void *),
			 void *data)
{
	uint64_t value = 0;

	for (int i = terms - 1; i >= 0; i--) {
		value = value * (i + 1) + (uint64_t)term[i] * BASE;
		term[i] = value % (2 * i + 1);
		value /= 2 * i + 1;
		if (i % TICK_TERMS == 0)
			tick(data);
	}
	return value;
}

int pi_digits(int digits, char *text, void (*tick)(void *), void *data)
{
	int groups = (digits + GROUP - 1) / GROUP + GUARD_GROUPS;
	int terms = groups * GROUP_TERMS;
	uint32_t *term = calloc(terms, sizeof(*term));
	uint32_t *group = calloc(groups, sizeof(*group));
	uint32_t rest = 0;

	if (digits < 1 || !term || !group) {
		free(term);
		free(group);
		return -1;
	}
	/* 2 in each place is pi; 2000, so that the first group is 3141. */
	for (int i = 0; i < terms; i++)
		term[i] = 2000;
	for (int g = 0; g < groups; g++) {
		uint64_t value = multiply(term, terms - g * GROUP_TERMS, tick,
					  data);

		group[g] = rest + value / BASE;
		rest = value % BASE;
		for (int i = g; i > 0 && group[i] >= BASE; i--) {
			group[i] -= BASE;
			group[i - 1]++;
		}
	}
	for (int i = 0; i < digits; i++) {
		uint32_t value = group[i / GROUP];

		for (int j = i % GROUP; j < GROUP - 1; j++)
			value /= 10;
		text[i] = '0' + value % 10;
	}
	text[digits] = 0;
	free(term);
	free(group);
	return 0;
}
