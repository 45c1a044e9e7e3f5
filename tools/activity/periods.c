// SPDX-License-Identifier: GPL-2.0
#include "periods.h"

#include <stdlib.h>

#include "base/util.h"
#include "interval.h"

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

void periods_analyse(struct recording *r)
{
	interval_infer(&r->timer, r->gaps, r->count, r->length, r->ns);
	for (size_t i = 0; i < r->count; i++) {
		struct gap *gap = &r->gaps[i];

		gap->cause = gap->switched ? CAUSE_PROCESS :
			     interval_hits(&r->timer, gap->begin) ?
			     CAUSE_TIMER : CAUSE_OTHER;
	}
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
