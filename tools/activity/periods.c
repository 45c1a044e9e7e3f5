// SPDX-License-Identifier: GPL-2.0
#include "periods.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "interval.h"
#include "libtense/measure/ticks.h"

/*
 * Fewer do not show the least cost of one. Beside others, a recording has few, and
 * interrupts that came by chance are among them.
 */
#define COST_LEAST	25

size_t periods_count(const struct recording *r)
{
	return 2 * r->count + 1;
}

struct period periods_at(const struct recording *r, size_t number)
{
	size_t i = number / 2;

	if (number % 2)
		return (struct period){
			.gap = &r->gaps[i], .index = i,
			.begin = r->gaps[i].begin, .end = r->gaps[i].end,
		};
	return (struct period){
		.index = i,
		.begin = i ? r->gaps[i - 1].end : 0,
		.end = i < r->count ? r->gaps[i].begin : r->length,
	};
}

static double tooth_of(const struct timer *t, const struct gap *gap)
{
	return round(((double)gap->begin - t->first) / t->interval);
}

/*
 * Does a switch come within the tolerance of the same tooth? It may be the tick
 * itself, and other interrupts follow it.
 */
static bool is_beside_switch(const struct recording *r, size_t i)
{
	const struct timer *t = &r->timer;
	double tooth = t->first + tooth_of(t, &r->gaps[i]) * t->interval;

	for (size_t j = i; j-- > 0 && (double)r->gaps[j].end > tooth - t->tolerance;)
		if (r->gaps[j].switched)
			return true;
	for (size_t j = i + 1; j < r->count &&
			       (double)r->gaps[j].begin < tooth + t->tolerance; j++)
		if (r->gaps[j].switched)
			return true;
	return false;
}

/*
 * The longest of several interrupts at one tooth is the timer's. The others came
 * by chance.
 */
static void mark_timer(struct recording *r)
{
	struct gap *last = NULL;
	double tooth = 0;

	for (size_t i = 0; i < r->count; i++) {
		struct gap *gap = &r->gaps[i];

		if (gap->switched || !interval_hits(&r->timer, (double)gap->begin) ||
		    is_beside_switch(r, i))
			continue;
		if (last && tooth_of(&r->timer, gap) == tooth) {
			if (gap->end - gap->begin <= last->end - last->begin)
				continue;
			last->cause = CAUSE_OTHER;
		}
		last = gap;
		tooth = tooth_of(&r->timer, gap);
		gap->cause = CAUSE_TIMER;
	}
}

static double least_cost(const struct recording *r)
{
	double *times = xmalloc(r->count * sizeof(*times)), least;
	unsigned int count = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->gaps[i].cause == CAUSE_TIMER)
			times[count++] = (double)(r->gaps[i].end -
						  r->gaps[i].begin);
	least = count < COST_LEAST ? 0 : ticks_agreed(times, count);
	free(times);
	return least;
}

void periods_analyse(struct recording *r)
{
	interval_infer(&r->timer, r->gaps, r->count, r->length, r->ns);
	for (size_t i = 0; i < r->count; i++)
		r->gaps[i].cause = r->gaps[i].switched ? CAUSE_PROCESS :
							 CAUSE_OTHER;
	if (r->timer.interval > 0)
		mark_timer(r);
	r->least_ns = least_cost(r) * r->ns;
}

int periods_shortest_first(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Sums up the gaps whose cause has its bit set in causes. */
static struct share share_of(const struct recording *r, unsigned int causes)
{
	uint64_t *lengths = xmalloc(r->count * sizeof(*lengths));
	struct share s = { 0 };

	for (size_t i = 0; i < r->count; i++) {
		if (!(causes >> r->gaps[i].cause & 1))
			continue;
		lengths[s.count++] = r->gaps[i].end - r->gaps[i].begin;
		s.total += lengths[s.count - 1];
	}
	qsort(lengths, s.count, sizeof(*lengths),
	      periods_shortest_first);
	if (s.count) {
		s.shortest = lengths[0];
		s.median = lengths[(s.count - 1) / 2];
		s.longest = lengths[s.count - 1];
	}
	free(lengths);
	return s;
}

struct share periods_share(const struct recording *r, enum cause cause)
{
	return share_of(r, 1u << cause);
}

struct share periods_inactive(const struct recording *r)
{
	return share_of(r, (1u << NR_CAUSES) - 1);
}

struct share periods_interrupt_cost(const struct recording *r)
{
	struct share timer = periods_share(r, CAUSE_TIMER);

	return timer.count ? timer : periods_share(r, CAUSE_OTHER);
}

const char *cause_name(enum cause cause)
{
	static const char *const names[] = {
		[CAUSE_TIMER] = "timer interrupt",
		[CAUSE_PROCESS] = "another process",
		[CAUSE_OTHER] = "other",
	};

	return names[cause];
}

void recording_free(struct recording *r)
{
	free(r->gaps);
	interrupts_free(&r->interrupts);
}
