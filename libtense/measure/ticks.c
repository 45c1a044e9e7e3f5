// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ticks.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_NS	100000000.0
#define GAPS		4096
/* Longer than two undisturbed readings of a clock take. */
#define GAP_NS		500.0

/* " CPU0 CPU2": the CPUs that are online. */
int ticks_column(char *line, int cpu)
{
	char *rest, *word = strtok_r(line, " \n", &rest), name[20];

	snprintf(name, sizeof(name), "CPU%d", cpu);
	for (int i = 0; word; i++, word = strtok_r(NULL, " \n", &rest))
		if (!strcmp(word, name))
			return i;
	return -1;
}

/* "LOC:   123   456   Local timer interrupts", a number in each column. */
uint64_t ticks_read(FILE *f, int cpu)
{
	char *line = NULL, *at, *end;
	uint64_t value = UINT64_MAX;
	size_t size = 0;
	int column = getline(&line, &size, f) > 0 ? ticks_column(line, cpu) : -1;

	while (column >= 0 && getline(&line, &size, f) > 0) {
		at = line + strspn(line, " ");
		if (strncmp(at, "LOC:", 4) != 0)
			continue;
		at += 4;
		for (int i = 0; i <= column; i++, at = end) {
			value = strtoull(at, &end, 10);
			if (end == at) {
				value = UINT64_MAX;
				break;
			}
		}
		break;
	}
	free(line);
	return value;
}

uint64_t ticks_now(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t value;

	if (!f)
		return UINT64_MAX;
	value = ticks_read(f, cpu);
	fclose(f);
	return value;
}

static int longest_first(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a < b) - (a > b);
}

double ticks_nth_longest(double *gaps, unsigned int count, unsigned int n)
{
	if (!n || n > count)
		return 0;
	qsort(gaps, count, sizeof(*gaps), longest_first);
	return gaps[n - 1];
}

static unsigned int watch(const struct counter *c, double *gaps)
{
	uint64_t began = counter_read(c), last = began, now;
	unsigned int count = 0;

	do {
		now = counter_read(c);
		if ((double)(now - last) * c->ns > GAP_NS && count < GAPS)
			gaps[count++] = (double)(now - last) * c->ns;
		last = now;
	} while ((double)(now - began) * c->ns < WATCH_NS);
	return count;
}

double ticks_cost(const struct counter *c)
{
	double *gaps = malloc(GAPS * sizeof(*gaps)), cost = 0;
	int cpu = sched_getcpu();
	uint64_t before = ticks_now(cpu), after;
	unsigned int count;

	if (!gaps)
		return 0;
	count = watch(c, gaps);
	after = ticks_now(cpu);
	if (before != UINT64_MAX && after != UINT64_MAX && after > before &&
	    sched_getcpu() == cpu)
		cost = ticks_nth_longest(gaps, count,
					 (unsigned int)(after - before));
	free(gaps);
	return cost;
}
