// SPDX-License-Identifier: GPL-2.0
/* R1 and R2: whose a stretch's time is when somebody else had the CPU, too. */
#include "test-vclock.h"

#define RATE	(1ULL << 31)	/* two ticks a ns */
#define MS	(2 * NSEC_PER_MSEC)	/* in ticks */

/* Real ns of each part of a stretch of @ticks, @ns of which were the task's. */
static void divide(u64 ticks, u64 ns, const u64 *stamp, unsigned int n,
		   u64 *part)
{
	struct vclock_stretch s = { .from = 1000, .to = 1000 + ticks, .ns = ns };
	struct vclock_segments g = { .at = s.from };
	struct machine m;
	struct vclock_task t;

	machine_with(&m, &t, 0);
	for (unsigned int i = 0; i < n; i++)
		vclock_divide(&g, &s, 1000 + stamp[i]);
	vclock_cut_holes(&s, &g, RATE);
	for (unsigned int i = 0; i < n; i++)
		part[i] = vclock_spend(&t, &s, 1000 + stamp[i], 0);
	part[n] = vclock_spend(&t, &s, s.to, 0);
}

static void test_cases(void)
{
	const u64 at[] = { 1 * MS, 2 * MS, 8 * MS, 9 * MS };
	const u64 one[] = { 1 * MS };
	const u64 early[] = { 0, 1 * MS }, late[] = { 9 * MS, 10 * MS };
	u64 part[5];

	divide(10 * MS, 10000000, at, 4, part);
	is_i64(part[0], 1000000, "nothing is missing: as the counter says");
	is_i64(part[2], 6000000, "the long one");
	divide(10 * MS, 6000000, at, 4, part);
	is_i64(part[0], 1000000, "4 ms are missing: not here");
	is_i64(part[1], 1000000, "nor here");
	is_i64(part[2], 2000000, "but where there is room for them");
	is_i64(part[3], 1000000, "not here");
	is_i64(part[4], 1000000, "nor at the end");
	divide(10 * MS, 9960000, at, 4, part);
	is_i64(part[0], 980000, "40 us are missing: half at the beginning");
	is_i64(part[2], 6000000, "none in between");
	is_i64(part[4], 980000, "half at the end");
	divide(10 * MS, 3000000, one, 1, part);
	is_i64(part[0], 1000000, "7 ms are missing: not in a part of 1 ms");
	is_i64(part[1], 2000000, "but in the last");
	divide(10 * MS, 0, at, 4, part);
	is_i64(part[0] + part[1] + part[2] + part[3] + part[4], 0,
	       "all is missing");
	divide(10 * MS, 12000000, at, 4, part);
	is_i64(part[0], 1200000, "more than the counter says: in proportion");
	divide(10 * MS, 3000000, early, 2, part);
	is_i64(part[0], 0, "a stamp at the start: nothing ran before it");
	is_i64(part[1], 1000000, "7 ms are missing: not in the first 1 ms");
	is_i64(part[2], 2000000, "7 ms are missing in the 9 ms after it");
	divide(10 * MS, 3000000, late, 2, part);
	is_i64(part[0], 2000000, "7 ms are missing in the 9 ms at the front");
	is_i64(part[1], 1000000, "7 ms are missing: not in the last 1 ms");
	is_i64(part[2], 0, "a stamp at the end: nothing ran after it");
	divide(10 * MS, 9960000, early, 2, part);
	is_i64(part[1], 980000, "the first part that is not empty begins late");
	divide(0, 500, one, 1, part);
	is_i64(part[0] + part[1], 500, "no ticks at all: it is not lost");
}

/* A charge may leave out Tense's work before drain() cuts the holes. */
static void test_cut_after_a_part(void)
{
	struct vclock_stretch s = { .from = 0, .to = 10 * MS, .ns = 6000000 };
	struct vclock_segments g = { };
	struct machine m;
	struct vclock_task t;

	machine_with(&m, &t, 0);
	is_i64(vclock_spend(&t, &s, 1 * MS, 0), 600000, "a tenth of the ticks");
	g.at = s.from;
	vclock_divide(&g, &s, 2 * MS);
	vclock_cut_holes(&s, &g, RATE);
	is_i64(vclock_spend(&t, &s, 2 * MS, 0), 1000000,
	       "then 3.6 ms are missing: not in the next 1 ms");
	is_i64(vclock_spend(&t, &s, s.to, 0), 4400000, "but in the rest");
}

/* One in four lies at an end of the stretch, so that a segment is empty. */
static u64 any_stamp(struct rng *rng, u64 ticks)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return ticks;
	default:
		return rng_below(rng, ticks + ticks / 4 + 1);
	}
}

/* Whatever the stamps are, nothing is lost and nothing comes from nowhere. */
static void test_conserved(void)
{
	struct rng rng = { 42 };
	unsigned int wrong = 0, beyond = 0;

	for (unsigned int i = 0; i < 200000; i++) {
		u64 ticks = rng_below(&rng, 1ULL << rng_below(&rng, 30));
		u64 ns = rng_below(&rng, ticks + 2), sum = 0, last = 0;
		u64 stamp[8], part[9];
		unsigned int n = (unsigned int)rng_below(&rng, 9);

		for (unsigned int k = 0; k < n; k++)
			stamp[k] = any_stamp(&rng, ticks);
		divide(ticks, ns, stamp, n, part);
		for (unsigned int k = 0; k <= n; k++) {
			u64 end = k < n ? min(stamp[k], ticks) : ticks;
			u64 length = end > last ? end - last : 0;

			sum += part[k];
			/* Missing time makes no part longer than it was. */
			if (ns <= ticks / 2 && part[k] > length / 2 + 2 * n + 2)
				beyond++;
			last = max(last, end);
		}
		wrong += sum != ns;
	}
	is_i64(wrong, 0, "all parts together are the whole");
	is_i64(beyond, 0, "no part is longer than the counter says");
}

int main(void)
{
	test_cases();
	test_cut_after_a_part();
	test_conserved();
	return done();
}
