// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "memory.h"
#include "report.h"

#define ROW_OUTSIDE	(REPORT_ROWS - 1)
#define ROW_MANY	(REPORT_ROWS - 2)

static unsigned int row_of(const struct span *span)
{
	unsigned int hops = span->hops, row = hops < 3 ? hops : 2;

	if (span->outside)
		return ROW_OUTSIDE;
	while (hops > 2 && row < ROW_MANY) {
		hops = (hops + 1) / 2;
		row++;
	}
	return row;
}

static void add(struct errors *e, double error)
{
	if (e->count == e->room) {
		e->room = e->room ? 2 * e->room : 1024;
		e->of = again(e->of, e->room, sizeof(*e->of));
	}
	e->of[e->count++] = error;
}

void report_add(struct report *r, const struct program *p,
		const struct results *ideal, const struct results *real)
{
	for (unsigned int i = 0; i < ideal->ops; i++) {
		const struct span *span = &ideal->of[i].span;
		double off = (double)real->of[i].clock -
			     (double)fixed_ns(span->exact);

		add(&r->row[row_of(span)],
		    off / (double)p->setup.window);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

static double part(const struct errors *e, double share)
{
	return fabs(e->of[(size_t)(share * (double)(e->count - 1))]);
}

static void print_row(unsigned int row, struct errors *e)
{
	unsigned int most = row < 3 ? row : 1U << (row - 1);
	size_t early = 0, late = 0;
	char hops[32];

	if (!e->count)
		return;
	qsort(e->of, e->count, sizeof(*e->of), by_size);
	for (size_t i = 0; i < e->count; i++) {
		early += e->of[i] < 0;
		late += e->of[i] > 0;
	}
	if (row == ROW_OUTSIDE)
		snprintf(hops, sizeof(hops), "any *");
	else if (row < 3)
		snprintf(hops, sizeof(hops), "%u", most);
	else if (row < ROW_MANY)
		snprintf(hops, sizeof(hops), "%u-%u", most / 2 + 1, most);
	else
		snprintf(hops, sizeof(hops), "%u-", most / 2 + 1);
	printf("# %6s %9zu %7.1f %7.1f %9.5f %9.5f %9.5f %9.5f\n", hops, e->count,
	       100.0 * (double)early / (double)e->count,
	       100.0 * (double)late / (double)e->count, part(e, 0.5),
	       part(e, 0.9), part(e, 0.99), part(e, 1));
}

void report_print(struct report *r, const char *title)
{
	printf("# %s: error of an operation's end over W\n", title);
	printf("# %6s %9s %7s %7s %9s %9s %9s %9s\n", "hops", "operations",
	       "early %", "late %", "median", "p90", "p99", "max");
	for (unsigned int i = 0; i < REPORT_ROWS; i++)
		print_row(i, &r->row[i]);
	if (r->row[ROW_OUTSIDE].count)
		printf("# * after a wait for the outside, which takes real time, among tasks slower than real\n");
}

void report_free(struct report *r)
{
	for (unsigned int i = 0; i < REPORT_ROWS; i++)
		free(r->row[i].of);
	*r = (struct report) { 0 };
}
