// SPDX-License-Identifier: GPL-2.0
/* R7: when the next timer has to fire, in real ns. */
#include "test-vclock.h"

#define ROUNDS 300000

/* A kernel with one CPU has no other that can be left behind. */
static void machine_init_one(struct machine *m)
{
	machine_init(m, 0);
	m->vc.cpus = 1;
}

/*
 * After @real ns more, has GVT or the LVT reached @target? On copies, by
 * what a charge really does.
 */
static bool reaches(const struct machine *now, const struct vclock_task *who,
		    u64 real, u64 target)
{
	struct machine m = *now;
	struct vclock_task t = *who;

	m.vc.cpu = m.cpu;
	m.vc.gvt.least = m.least;
	m.vc.gvt.lock = m.lock;
	vclock_charge(&m.vc, &t, real);
	return m.cpu[t.cpu].lvt.ns >= target;
}

/*
 * Random state: is the horizon the first instant at which the target is
 * reached? It may be late by what one virtual ns takes.
 */
static void test_exact(bool two, bool credit)
{
	struct rng rng = { two * 2 + credit };
	unsigned int early = 0, late = 0, other = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		u32 percent = (u32)rng_scale(&rng, VCLOCK_PERCENT_MAX);
		u64 grain = (percent + 99) / 100, target, real;
		struct machine m;
		struct vclock_task t, slow;
		struct vclock_deadline d = { 0 };

		if (two)
			machine_init(&m, 0);
		else
			machine_init_one(&m);
		start(&m, &t, two ? 4 : 0, percent, 0, 0);
		if (two)
			start(&m, &slow, 6, 100, 0, 0);
		vclock_charge(&m.vc, &t, rng_below(&rng, WINDOW / 2 * percent / 100 + 1));
		if (credit)
			vclock_credit(&t, rng_scale(&rng, 1000000));
		if (credit && rng_chance(&rng, 50))
			vclock_refund(&t, rng_scale(&rng, 10000));
		target = m.cpu[t.cpu].lvt.ns + rng_scale(&rng, 1ULL << 33);
		vclock_arm(&m.vc, &d, target);
		if (two && target > vclock_reached(&m.vc) + WINDOW + 1)
			target = vclock_reached(&m.vc) + WINDOW + 1;
		real = vclock_horizon(&m.vc, &t);
		/* With two CPUs, it looks for releases every 10 ms. */
		early += !reaches(&m, &t, real, target) &&
			 !(two && real == 10 * NSEC_PER_MSEC);
		late += real > grain && reaches(&m, &t, real - grain - 1, target);
		other += real == 0;
	}
	is_i64(early, 0, "R7: %s, %s: the timer is never early",
	       two ? "two CPUs" : "one CPU", credit ? "credit" : "no credit");
	is_i64(late, 0, "R7: nor late by more than 1 virtual ns");
	is_i64(other, 0, "R7: nor immediate for what is ahead");
}

static void test_cases(void)
{
	struct machine m;
	struct vclock_task t, slow;
	struct vclock_deadline d = { 0 }, far = { 0 };

	machine_init_one(&m);
	start(&m, &t, 0, 300, 0, 0);
	is_i64(vclock_horizon(&m.vc, &t), (s64)VCLOCK_NEVER,
	       "R7: one CPU, no deadline: never");

	machine_init(&m, 0);
	is_i64(vclock_horizon(&m.vc, NULL), (s64)VCLOCK_NEVER,
	       "R7: idle, no deadline: never");
	start(&m, &t, 0, 300, 0, 0);
	is_i64(vclock_horizon(&m.vc, &t), (WINDOW + 1) * 3,
	       "R6: one CPU of several: the end of the window, for who may join");
	vclock_arm(&m.vc, &d, 1000);
	is_i64(vclock_horizon(&m.vc, &t), 3000, "R7: at the task's rate");
	vclock_set_percent(&t, 50);
	is_i64(vclock_horizon(&m.vc, &t), 500, "R7: at its new rate");
	vclock_credit(&t, 100);
	is_i64(vclock_horizon(&m.vc, &t), 550, "R7: credit takes longer");
	vclock_charge(&m.vc, &t, 550);
	is_i64(vclock_horizon(&m.vc, &t), 0, "R7: at once if it is due");
	ok(vclock_expire(&m.vc, 550) == &d, "R7: it is");

	start(&m, &slow, 1, 100, 0, 550);
	is_i64(vclock_horizon(&m.vc, &slow), WINDOW + 1,
	       "R6: two CPUs, no deadline: the end of the window");
	vclock_arm(&m.vc, &d, 1500);
	vclock_charge(&m.vc, &t, 1000);
	is_i64(vclock_horizon(&m.vc, &t), (WINDOW + 1 - 2000 + 1) / 2,
	       "R7: a deadline behind this CPU is the other's to reach");
	is_i64(vclock_horizon(&m.vc, &slow), 500, "R7: which is its");
	is_i64(vclock_horizon(&m.vc, NULL), (s64)VCLOCK_NEVER,
	       "R7: and not one where no task of the experiment runs");
	vclock_block(&m.vc, &slow, 600);
	vclock_block(&m.vc, &t, 600);
	is_i64(vclock_horizon(&m.vc, NULL), 0, "R7: idle: due at once");
	ok(vclock_expire(&m.vc, 600) == &d, "R7: idle: it fires");
	vclock_arm(&m.vc, &d, vclock_reached(&m.vc) + 4321);
	is_i64(vclock_horizon(&m.vc, NULL), 4321, "R7: idle: in real time");
	vclock_disarm(&m.vc, &d);
	vclock_arm(&m.vc, &far, VCLOCK_TIME_MAX);
	ok(vclock_horizon(&m.vc, NULL) >= 600 * NSEC_PER_SEC,
	   "limits: idle: a far deadline is minutes away");
}

/* Changes of percent that are still in a ring may bring the target nearer. */
static void test_lowest(void)
{
	static const struct {
		u64 ahead;
		u32 percent, lowest;	/* thousandths */
		u64 recheck, real;
		const char *what;
	} cases[] = {
		{ 1000000, 300000, 0, 0, 3000000, "nothing told: at its own" },
		{ 1000000, 300000, 100000, 0, 1000000, "at the lowest told" },
		{ 1000000, 300000, 50000, 0, 500000, "however low" },
		{ 1000000, 300000, 400000, 0, 3000000, "unless its own is lower" },
		{ 20000, 300000, 100000, 0, 20000, "soon" },
		{ 5000, 300000, 100000, 0, 10000, "not sooner than in 10 us" },
		{ 1000, 300000, 1000, 0, 3000, "but at its own it may be" },
		{ 1000000, 111111, 99999, 0, 999991, "in thousandths as well" },
		{ 20000, 300000, 100000, 50000, 50000, "not before the ring may be read" },
		{ 20000, 300000, 100000, 90000, 60000, "but at its own it may be" },
		{ 20000, 300000, 0, 50000, 60000, "nothing told: no ring to read" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine m;
		struct vclock_task t;
		struct vclock_deadline d = { 0 };

		machine_init_one(&m);
		start(&m, &t, 0, 100, 0, 0);
		vclock_set_fine(&t, cases[i].percent);
		t.lowest = cases[i].lowest;
		t.recheck = cases[i].recheck;
		vclock_arm(&m.vc, &d, cases[i].ahead);
		is_i64(vclock_horizon(&m.vc, &t), cases[i].real,
		       "R7: lowest percent: %s", cases[i].what);
	}
}

/*
 * R6: the end of a window and a release may be found late, which delays no deadline. A
 * timer does not come ever sooner for them, as it does for a deadline.
 */
static void test_lowest_at_window(void)
{
	struct vclock_deadline d = { 0 };
	struct vclock_task slow, t;
	struct machine m;

	machine_with_two(&m, &slow, &t);
	vclock_set_fine(&slow, 200000);
	slow.lowest = 100000;
	is_i64(vclock_horizon(&m.vc, &slow), WINDOW + 1, "R6: at the lowest told");
	vclock_charge(&m.vc, &t, WINDOW + 1);
	vclock_gate(&m.vc, &t);
	is_i64(vclock_horizon(&m.vc, &slow), WINDOW / 2 + 1, "R6: also for a release");
	vclock_charge(&m.vc, &slow, WINDOW / 2);
	is_i64(vclock_horizon(&m.vc, &slow), WINDOW / 2,
	       "R6: but not for less than half a window");
	vclock_charge(&m.vc, &slow, WINDOW / 2);
	is_i64(vclock_horizon(&m.vc, &slow), 2, "R6: unless its own percent needs less");
	vclock_disarm(&m.vc, &t.deadline);
	vclock_arm(&m.vc, &d, WINDOW / 2 + WINDOW / 8);
	is_i64(vclock_horizon(&m.vc, &slow), WINDOW / 8,
	       "R7: for a deadline it looks sooner");
	vclock_disarm(&m.vc, &d);
	vclock_set_fine(&slow, 100000000);
	slow.lowest = 0;
	is_i64(vclock_horizon(&m.vc, &slow), 10 * NSEC_PER_MSEC,
	       "R6: a CPU without ticks looks for releases now and then");
}

/*
 * R6: a task that is beyond its window does not always stop at once, and others may
 * wait for its next charge.
 */
static void test_beyond_window(void)
{
	static const u32 fine[] = { 1000, 100000, 1000500, 99999999, 100000000 };
	struct vclock_task slow, far, t;
	struct machine m;

	machine_with_two(&m, &slow, &t);
	start(&m, &far, 2, 100, 0, 0);
	vclock_charge(&m.vc, &t, 3 * WINDOW);
	is_i64(vclock_horizon(&m.vc, &t), WINDOW, "R6: it looks after another window");
	vclock_move(&m.vc, &far, VCLOCK_TIME_MAX);
	vclock_gate(&m.vc, &far);
	is_i64(vclock_horizon(&m.vc, &t), WINDOW, "R6: also if a release is far away");
	for (unsigned int i = 0; i < ARRAY_SIZE(fine); i++) {
		vclock_set_fine(&t, fine[i]);
		t.lowest = fine[i];
		ok(vclock_horizon(&m.vc, &t) <= 10 * NSEC_PER_MSEC,
		   "limits: whatever its percent: %u thousandths", fine[i]);
	}
}

/*
 * R6: a window that ends sooner than an interrupt takes would let a CPU do nothing but
 * handle timers.
 */
static void test_pause(void)
{
	struct machine m;
	struct vclock_task t;
	struct vclock_deadline d = { 0 };

	machine_init(&m, 0);
	start(&m, &t, 0, 1, 0, 0);
	is_i64(vclock_horizon(&m.vc, &t), (WINDOW + 1 + 99) / 100,
	       "R6: percent 1: a hundredth of a window");
	t.pause = WINDOW;
	is_i64(vclock_horizon(&m.vc, &t), WINDOW, "R6: but not within a pause");
	vclock_arm(&m.vc, &d, 100 * (WINDOW / 2));
	is_i64(vclock_horizon(&m.vc, &t), WINDOW / 2,
	       "R7: a deadline in the pause does not wait");
	vclock_disarm(&m.vc, &d);
	vclock_arm(&m.vc, &d, 100 * (2 * WINDOW));
	is_i64(vclock_horizon(&m.vc, &t), WINDOW,
	       "R6: a deadline after the pause leaves the window to it");
	vclock_disarm(&m.vc, &d);
	vclock_arm(&m.vc, &d, WINDOW / 2);
	is_i64(vclock_horizon(&m.vc, &t), WINDOW / 2 / 100 + !!(WINDOW / 2 % 100),
	       "R7: nor does one before the end of the window");
	vclock_disarm(&m.vc, &d);
	vclock_set_percent(&t, 300);
	is_i64(vclock_horizon(&m.vc, &t), (WINDOW + 1) * 3,
	       "R6: a window that ends later ends as it would");
}

/* A timer is never set for longer than some minutes, nor for less. */
static void test_far(void)
{
	const u64 minute = 60 * NSEC_PER_SEC;
	struct rng rng = { 7 };
	unsigned int early = 0, wrapped = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		u32 percent = (u32)rng_scale(&rng, VCLOCK_PERCENT_MAX);
		struct vclock_deadline d = { 0 };
		struct vclock_task t;
		struct machine m;
		u64 real;

		machine_init_one(&m);
		start(&m, &t, 0, percent, 0, 0);
		vclock_arm(&m.vc, &d, rng_below(&rng, VCLOCK_TIME_MAX) +
				      20 * minute);
		if (rng_chance(&rng, 50))
			vclock_credit(&t, rng_below(&rng, VCLOCK_TIME_MAX));
		real = vclock_horizon(&m.vc, &t);
		early += real < 10 * minute / 100 * percent;
		wrapped += real > 60 * minute / 100 * percent;
	}
	is_i64(early, 0, "limits: a far timer is minutes away, at least");
	is_i64(wrapped, 0, "limits: and an hour at most");
}

int main(void)
{
	test_exact(false, false);
	test_exact(false, true);
	test_exact(true, false);
	test_exact(true, true);
	test_cases();
	test_lowest();
	test_lowest_at_window();
	test_beyond_window();
	test_pause();
	test_far();
	return done();
}
