/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tests of libtense on a fake device with areas share this: spans as the
 * stubs enter and leave them, and a clock page that says what they want.
 */
#ifndef TESTS_FAKE_AREA_H
#define TESTS_FAKE_AREA_H

#include <errno.h>

#include <tense.h>

#include "api/area.h"
#include "fake-device.h"
#include "api/span.h"
#include "tap.h"

static inline void join(void)
{
	fake.map_error = 0;
	is_i64(tense_init(), 0, "init");
}

/* As the stubs do: the fast one, and the other if that cannot. In percent. */
static inline int enter(struct tense_span *before, unsigned int percent,
		 unsigned int slot, unsigned int *slow)
{
	int err;

	percent *= TENSE_FINE;
	err = __tense_span_begin(before, percent, slot, 0);

	if (err != -EAGAIN)
		return err;
	++*slow;
	return __tense_span_begin_slow(before, percent, slot, 0);
}

static inline int leave(const struct tense_span *before, unsigned int *slow)
{
	int err = __tense_span_end(before, 0);

	if (err != -EAGAIN)
		return err;
	++*slow;
	return __tense_span_end_slow(before, 0);
}

/* Shows a clock that began @ns at the counter of now. */
static inline struct fake_area *show(uint64_t ns, uint64_t rate, uint32_t percent)
{
	struct fake_area *a = fake_area();

	a->clock->seq++;
	a->clock->flags = TENSE_CLOCK_MEMBER | TENSE_CLOCK_VALID;
	a->clock->counter = tense_area_counter();
	a->clock->ns = ns;
	a->clock->credit = 0;
	a->clock->floor = 0;
	a->clock->ahead = UINT64_MAX;
	a->clock->limit = fake.ordered ? UINT64_MAX : 0;
	a->clock->rate = rate;
	a->clock->stale = 1ULL << 40;
	a->clock->percent = percent * TENSE_FINE;
	a->ring->shown = 0;
	a->clock->seq++;
	return a;
}

/* The header defines this time when the counter is @now. */
static inline uint64_t time_at(const struct fake_area *a, uint64_t now)
{
	const struct tense_clock *c = a->clock;
	uint64_t from = c->counter, ns;
	uint32_t percent = c->percent;
	unsigned __int128 sum = 0;

	for (uint32_t i = c->tail; ; i++) {
		const struct tense_record *r =
			&a->ring->record[i % TENSE_RING_RECORDS];
		bool last = i == a->ring->head;
		uint64_t to = last || r->stamp > now ? now : r->stamp, run = 0;

		if (to > from) {
			run = to - from;
			from = to;
		}
		if (!last)
			run -= r->own < run ? r->own : run;
		sum += (unsigned __int128)run * c->rate * 100 *
		       TENSE_FINE / percent;
		if (last)
			break;
		percent = r->percent;
	}
	ns = sum >> 32;
	return c->ns + ns - (c->credit < ns ? c->credit : ns);
}

/* Without a charge in between: is the clock between that before and after? */
static inline bool clock_is_right(const struct fake_area *a)
{
	uint64_t before = time_at(a, tense_area_counter()), after;
	int64_t now = tense_page_now();

	after = time_at(a, tense_area_counter());
	/* Each part is rounded down. */
	return now >= 0 && (uint64_t)now + 1 >= before && (uint64_t)now <= after;
}

static inline struct fake_area *clock_of(uint32_t percent)
{
	join();
	tense_scale_percent(percent);
	tense_scale_pop();
	return show(1000000, 1ULL << 31, 100);
}

#endif
