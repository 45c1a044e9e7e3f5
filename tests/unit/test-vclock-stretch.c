// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the charge of a task whose percent changes: R1 and R2 by a counter,
 * R13.
 */
#include "test-vclock.h"

#define ROUNDS		200000
#define RECORDS		12
/* Longest that one charge can hold; the whole of it at 1 % fits in u64. */
#define LONGEST		(1ULL << 56)

/* Longest that one is charged at thousandths of a percent. */
#define LONGEST_FINE	(1ULL << 46)

static u128 virtual_of(u64 real, const struct vclock_task *t)
{
	u32 percent = vclock_fine(t);

	if (real > LONGEST_FINE)
		percent = t->percent * VCLOCK_FINE;
	/* To 2^-32 ns, in two steps for it to fit. */
	return ((u128)real * 100 * VCLOCK_FINE / percent << 32) +
	       ((u128)real * 100 * VCLOCK_FINE % percent << 32) / percent;
}

/* A random instant in or around a stretch, not seldom one of its ends. */
static u64 random_stamp(struct rng *rng, u64 from, u64 to)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return from;
	case 1:
		return to;
	case 2:
		return from - rng_below(rng, from + 1);
	case 3:
		return to + rng_below(rng, ~0ULL - to);
	default:
		return from + rng_below(rng, to - from + 1);
	}
}

static u32 random_percent(struct rng *rng)
{
	if (rng_chance(rng, 50))
		return (u32)rng_scale(rng, 150000) * VCLOCK_FINE;
	return (u32)rng_scale(rng, 150000 * VCLOCK_FINE);
}

struct errors {
	unsigned int part, own, percent, charged, returned, ran, rest;
};

/* One change: what is left of the stretch shrinks by the share of its ticks. */
static void spend_one(struct rng *rng, struct vclock_task *t,
		      struct vclock_stretch *s, u64 stamp, struct errors *e)
{
	const struct vclock_stretch old = *s;
	const struct vclock_task before = *t;
	u64 own = rng_chance(rng, 50) ? 0 : rng_scale(rng, 1ULL << 20);
	u64 ticks = 0, ns, free, returned;
	u128 want, paid;

	if (stamp > old.from)
		ticks = (stamp < old.to ? stamp : old.to) - old.from;
	ns = ticks == old.to - old.from ? old.ns :
		(u64)((u128)old.ns * ticks / (old.to - old.from));
	own = own < ticks ? own : ticks;
	free = own == old.to - old.from ? old.ns :
		(u64)((u128)old.ns * own / (old.to - old.from));
	returned = vclock_spend(t, s, stamp, own);

	e->part += s->from != old.from + ticks || s->to != old.to ||
		   s->ns != old.ns - ns;
	e->own += t->ran - before.ran != ns - free;
	want = virtual_of(ns - free, &before);
	paid = fixed(before.credit) < want ? fixed(before.credit) : want;
	e->charged += fixed(t->charged) - fixed(before.charged) != want - paid;
	e->charged += fixed(before.credit) - fixed(t->credit) != paid;
	e->rest += fixed(s->charged) - fixed(old.charged) != want - paid;
	e->returned += returned != t->charged.ns - before.charged.ns;
	e->percent += vclock_fine(t) != vclock_fine(&before);
	vclock_set_fine(t, random_percent(rng));
}

static void test_against_exact(u64 ticks, u64 real, bool credit,
			       const char *what)
{
	struct rng rng = { ticks ^ real };
	struct errors e = { 0 };
	struct machine m;
	struct vclock_task t;
	unsigned int lost = 0, lvt = 0;

	machine_with(&m, &t, 3);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		u64 from = rng_below(&rng, 1ULL << 62);
		u64 to = from + rng_scale(&rng, ticks);
		u64 ns = rng_scale(&rng, real), own = t.ran;
		struct vclock_stretch s = { .from = from, .to = to, .ns = ns };
		u128 before, moved = fixed(m.cpu[3].lvt);

		/* Before it gets so large that the virtual clock wraps. */
		if (t.charged.ns > 1ULL << 62) {
			machine_init(&m, 0);
			start(&m, &t, 3, t.percent, 0, 0);
			moved = own = 0;
		}
		before = fixed(t.charged);
		if (credit)
			vclock_credit(&t, rng_scale(&rng, real));
		for (unsigned int n = rng_below(&rng, RECORDS); n; n--)
			spend_one(&rng, &t, &s, random_stamp(&rng, from, to), &e);
		spend_one(&rng, &t, &s, to, &e);
		lost += s.ns || s.from != s.to || t.ran - own > ns;
		vclock_pass(&m.vc, &t, &s);
		lvt += fixed(m.cpu[3].lvt) - moved != fixed(t.charged) - before;
	}
	is_i64(e.part, 0, "R2: %s: each part in proportion to its ticks", what);
	is_i64(e.own, 0, "R13: %s: without own ticks", what);
	is_i64(e.charged, 0, "R1: %s: charged at the percent before", what);
	is_i64(e.rest, 0, "R1: %s: and the CPU is to be as well", what);
	is_i64(e.returned, 0, "R8: %s: and the scheduler is told", what);
	is_i64(e.percent, 0, "R2: %s: the percent is the caller's", what);
	is_i64(lost, 0, "R1: %s: the parts are the whole", what);
	is_i64(lvt, 0, "R1: %s: the LVT moves by all parts, to the bit", what);
}

/* However it is cut, nothing is lost, and at one percent nothing changes. */
static void test_conservation(void)
{
	struct rng rng = { 5 };
	unsigned int ran = 0, charged = 0, place = 0;

	for (unsigned int i = 0; i < ROUNDS / 10; i++) {
		u64 from = rng_below(&rng, 1ULL << 60), stamp = from;
		u64 ticks = rng_scale(&rng, 1ULL << 40);
		u64 ns = rng_scale(&rng, 1ULL << 40);
		u32 percent = 1000 + (u32)rng_scale(&rng, 99999000);
		unsigned int n = rng_below(&rng, 200) + 1, cuts = 0;
		struct vclock_stretch s = {
			.from = from, .to = from + ticks, .ns = ns,
		};
		struct vclock_task t;
		u128 lost;

		vclock_task_init(&t, 100, 0);
		vclock_set_fine(&t, percent);
		while (n--) {
			u64 ideal;

			stamp += rng_below(&rng, 2 * ticks / 200 + 2);
			if (stamp > s.to)
				stamp = s.to;
			vclock_spend(&t, &s, stamp, 0);
			cuts++;
			ideal = (u64)((u128)ns * (stamp - from) / ticks);
			place += t.ran > ideal || ideal - t.ran > cuts;
		}
		vclock_spend(&t, &s, s.to, 0);
		ran += t.ran != ns;
		lost = virtual_of(ns, &t) - fixed(t.charged);
		charged += lost > cuts;
	}
	is_i64(ran, 0, "R1: real time is conserved");
	is_i64(charged, 0, "R1: virtual time too, but for 2^-32 ns for each cut");
	is_i64(place, 0, "R2: no cut is more than 1 ns for each cut before it off");
}

static void test_cases(void)
{
	struct vclock_stretch s = { .from = 1000, .to = 2000, .ns = 500 };
	struct vclock_task t;

	vclock_task_init(&t, 100, 0);
	is_i64(vclock_spend(&t, &s, 1200, 0), 100, "R2: a fifth of the ticks");
	vclock_set_percent(&t, 50);
	is_i64(vclock_spend(&t, &s, 1400, 0), 200, "R2: twice as much at 50 %%");
	is_i64(vclock_spend(&t, &s, 1300, 0), 0, "R2: a stamp in the past");
	is_i64(vclock_spend(&t, &s, 0, ~0ULL), 0, "R2: at the start of time");
	is_i64(s.from, 1400, "R2: moves nothing");
	vclock_set_percent(&t, 100);
	is_i64(vclock_spend(&t, &s, 1500, 40), 30, "R13: 40 ticks are our own");
	is_i64(vclock_spend(&t, &s, 1600, 1000), 0, "R13: all, if so many are");
	is_i64(t.ran, 230, "R13: nor has it run them");
	is_i64(vclock_spend(&t, &s, ~0ULL, 0), 200, "R2: a stamp in the future");
	is_i64(s.from, 2000, "R2: is the end of the stretch");
	is_i64(vclock_spend(&t, &s, ~0ULL, 0), 0, "R2: of which nothing is left");
	is_i64(vclock_spend(&t, &s, 2000, 7), 0, "R2: however often");
	is_i64(t.ran, 430, "R1: all is counted, once");

	s = (struct vclock_stretch){ .from = 7, .to = 8, .ns = 1000 };
	is_i64(vclock_spend(&t, &s, 7, 0), 0, "R2: before the only tick");
	is_i64(vclock_spend(&t, &s, 8, 0), 1000, "R2: after it");
	s = (struct vclock_stretch){ .from = 0, .to = ~0ULL, .ns = LONGEST };
	is_i64(vclock_spend(&t, &s, 1ULL << 63, 0), LONGEST / 2,
	       "limits: the longest stretch, cut in two");
	is_i64(vclock_spend(&t, &s, ~0ULL, ~0ULL), 0,
	       "limits: of which one is all our own");
	s = (struct vclock_stretch){ .from = 5, .to = ~0ULL };
	is_i64(vclock_spend(&t, &s, 900, 3), 0, "limits: no time, many ticks");
}

/* The percent in thousandths, of which 0 to 999 are on top of a whole one. */
static void test_fine(void)
{
	static const struct {
		u32 thousandths;
		int err;
		u32 then;
	} cases[] = {
		{ 111111, 0, 111111 }, { 1000, 0, 1000 }, { 1001, 0, 1001 },
		{ 999, -EINVAL, 1001 }, { 0, -EINVAL, 1001 },
		{ 99999999, 0, 99999999 }, { 100000000, 0, 100000000 },
		{ 100000999, 0, 100000000 },
		{ 100001000, -EINVAL, 100000000 }, { ~0U, -EINVAL, 100000000 },
	};
	struct vclock_task t;

	vclock_task_init(&t, 7, 0);
	is_i64(vclock_fine(&t), 7000, "a whole percent");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		is_i64(vclock_set_fine(&t, cases[i].thousandths), cases[i].err,
		       "limits: %u thousandths", cases[i].thousandths);
		is_i64(vclock_fine(&t), cases[i].then, "limits: and then");
	}
	vclock_set_fine(&t, 111111);
	vclock_set_percent(&t, 125);
	is_i64(vclock_fine(&t), 125000, "a whole one replaces both");
	vclock_set_percent(&t, 0);
	vclock_set_fine(&t, 111111);
	vclock_set_percent(&t, 100001);
	is_i64(vclock_fine(&t), 111111, "one that is refused neither");
}

/* R10: credit is paid by what runs first. */
static void test_credit(void)
{
	struct vclock_stretch s = { .to = 1000, .ns = 1000 };
	struct machine m;
	struct vclock_task t;

	machine_with(&m, &t, 0);
	vclock_credit(&t, 150);
	is_i64(vclock_spend(&t, &s, 100, 0), 0, "R10: credit covers it");
	vclock_set_percent(&t, 200);
	is_i64(vclock_spend(&t, &s, 500, 0), 150, "R10: and a part of the next");
	is_i64(vclock_spend(&t, &s, 1000, 0), 250, "R10: then none");
	is_i64(m.cpu[0].lvt.ns, 0, "R1: the CPU is charged");
	vclock_pass(&m.vc, &t, &s);
	is_i64(m.cpu[0].lvt.ns, 400, "R1: all at once");
	is_i64(vclock_reached(&m.vc), 400, "R5: GVT follows");
	is_i64(vclock_skew(&m.vc), 0, "R6: and the skew is none");
}

#define PARTS	3

/* The segments of a few percents, summed up by percent, are charged alike. */
static void test_parts(void)
{
	struct rng rng = { 8 };
	unsigned int ran = 0, lost = 0, cut = 0;

	for (unsigned int i = 0; i < ROUNDS / 10; i++) {
		u64 from = rng_below(&rng, 1ULL << 60), stamp = from;
		u64 ticks = rng_scale(&rng, 1ULL << 40);
		u64 ns = rng_scale(&rng, 1ULL << 40), part[PARTS] = { 0 };
		u64 each[PARTS] = { 0 };
		struct vclock_stretch one = {
			.from = from, .to = from + ticks, .ns = ns,
		}, all = one;
		struct vclock_task t, u;

		vclock_task_init(&t, 100, 0);
		vclock_task_init(&u, 100, 0);
		for (unsigned int n = 0; n < 50; n++) {
			u64 before = t.ran;

			stamp += rng_below(&rng, 2 * ticks / 50 + 2);
			vclock_spend(&t, &one, stamp, 0);
			each[n % PARTS] += t.ran - before;
			part[n % PARTS] += vclock_pass_ticks(&all, stamp);
		}
		for (unsigned int n = 0; n < PARTS; n++) {
			u64 before = u.ran, has;

			vclock_spend_ticks(&u, &all, part[n], 0);
			has = u.ran - before;
			cut += (has > each[n] ? has - each[n] : each[n] - has) > 50;
		}
		vclock_spend(&t, &one, one.to, 0);
		vclock_spend_ticks(&u, &all, VCLOCK_REST, 0);
		ran += u.ran != ns || t.ran != ns;
		lost += all.ns || all.left;
	}
	is_i64(cut, 0, "R2: a part has what its segments have, but for 1 ns each");
	is_i64(ran, 0, "R1: all parts and the rest are the whole");
	is_i64(lost, 0, "R1: nothing is left");
}

int main(void)
{
	test_against_exact(1000, 1000, false, "tiny");
	test_against_exact(1ULL << 24, 1ULL << 23, false, "a tick");
	test_against_exact(1ULL << 24, 1ULL << 23, true, "a tick with credit");
	test_against_exact(1ULL << 61, LONGEST / 8, true, "years");
	test_conservation();
	test_cases();
	test_fine();
	test_credit();
	test_parts();
	return done();
}
