// SPDX-License-Identifier: GPL-2.0
/* Tests the charge of a task: R1, R2, R10 and R13. */
#include "test-vclock.h"

/* In real ns; at 1 percent still less than u64 holds. */
#define LONGEST		(1ULL << 56)

static const u32 percents[] = {
	1, 3, 7, 50, 99, 100, 101, 125, 333, 33333, 99999, 100000
};

/*
 * Is @got, which came from @charges charges, the exact @want (ns << 64) to
 * 1 ppm, and as good as its 32 bits of fraction allow? Charges round down.
 */
static bool exact(struct vclock_time got, u128 want, u64 charges)
{
	u128 have = fixed(got) << 32, lost = want - have;

	return have <= want && lost <= want / 1000000 &&
	       lost <= (u128)charges << 32;
}

static u128 virtual_of(u64 real, u32 percent)
{
	u128 scaled = (u128)real * 100;

	return (scaled / percent << 64) + (scaled % percent << 64) / percent;
}

/* Charges of 1 to @most ns that make up @total. */
static void r1_exact(u32 percent, u64 total, u64 most, const char *what)
{
	struct rng rng = { percent };
	struct machine m;
	struct vclock_task t;
	u64 real = 0, charges = 0, returned = 0;

	machine_init(&m, 0);
	start(&m, &t, 3, percent, 0, 0);
	while (real < total) {
		u64 d = 1 + rng_below(&rng, most);

		returned += vclock_charge(&m.vc, &t, d);
		real += d;
		charges++;
	}
	ok(exact(t.charged, virtual_of(real, percent), charges),
	   "R1: %s at %u %% is exact", what, percent);
	ok(fixed(m.cpu[3].lvt) == fixed(t.charged),
	   "R1: %s at %u %% moves the LVT as much", what, percent);
	is_i64(returned, t.charged.ns, "R8: the returned parts add up to it");
	is_i64(t.ran, real, "R1: real time is counted as it is");
}

static void test_exact(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(percents); i++) {
		r1_exact(percents[i], 2000000, 1, "two million charges of 1 ns");
		r1_exact(percents[i], 50000000, 50, "two million tiny charges");
		r1_exact(percents[i], DAY, 200 * NSEC_PER_MSEC, "a day");
	}
}

static void test_large(void)
{
	const u64 year = 365 * DAY;

	for (unsigned int i = 0; i < ARRAY_SIZE(percents); i++) {
		struct machine m;
		struct vclock_task t;

		machine_init(&m, 0);
		start(&m, &t, 0, percents[i], 0, 0);
		vclock_charge(&m.vc, &t, year);
		ok(exact(t.charged, virtual_of(year, percents[i]), 1),
		   "R1: one charge of a year at %u %%", percents[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(percents); i++) {
		struct machine m;
		struct vclock_task t;

		machine_init(&m, 0);
		start(&m, &t, 0, percents[i], 0, 0);
		vclock_charge(&m.vc, &t, ~0ULL);
		ok(exact(t.charged, virtual_of(LONGEST, percents[i]), 1),
		   "limits: a charge past any limit at %u %% is the longest one",
		   percents[i]);
	}
}

static void test_change(void)
{
	struct rng rng = { 2 };
	struct machine m;
	struct vclock_task t;
	u128 want = 0;
	const u64 charges = 1000000;

	machine_with(&m, &t, 0);
	for (u64 i = 0; i < charges; i++) {
		u64 d = rng_scale(&rng, 1000000);

		want += virtual_of(d, t.percent);
		vclock_charge(&m.vc, &t, d);
		if (rng_chance(&rng, 50))
			vclock_set_percent(&t, (u32)rng_scale(&rng, 100000));
	}
	ok(exact(t.charged, want, charges),
	   "R2: what ran before a change is charged at the old percent");
}

static void test_percent(void)
{
	static const u32 bad[] = { 0, 100001, 1U << 31, ~0U };
	struct vclock_task t, old;

	vclock_task_init(&t, 7, 5);
	vclock_credit(&t, 3);
	old = t;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		is_i64(vclock_set_percent(&t, bad[i]), -EINVAL,
		       "limits: percent %u is refused", bad[i]);
	ok(t.percent == old.percent && t.seen == old.seen &&
	   t.ready == old.ready && t.cpu == old.cpu &&
	   fixed(t.credit) == fixed(old.credit),
	   "limits: a refused percent changes nothing");
	is_i64(vclock_set_percent(&t, 1), 0, "limits: percent 1 is taken");
	is_i64(t.percent, 1, "limits: and kept");
	is_i64(vclock_set_percent(&t, 100000), 0,
	       "limits: percent 100000 is taken");
	is_i64(t.percent, 100000, "limits: and kept");
}

/* Tasks that take turns on one CPU, with jumps and credit between. */
static void test_conservation(void)
{
	struct rng rng = { 3 };
	struct machine m;
	struct vclock_task t[5];
	u128 charged = 0;

	machine_init(&m, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++)
		start(&m, &t[i], 2, 1 + i * 77, 1000, 0);
	for (unsigned int i = 0; i < 200000; i++) {
		struct vclock_task *one = &t[rng_below(&rng, ARRAY_SIZE(t))];

		switch (rng_below(&rng, 10)) {
		case 0:
			vclock_move(&m.vc, one, rng_scale(&rng, 5000));
			break;
		case 1:
			vclock_credit(one, rng_scale(&rng, 5000));
			break;
		case 2:
			vclock_refund(one, rng_scale(&rng, 500));
			break;
		default:
			vclock_charge(&m.vc, one, rng_scale(&rng, 100000));
		}
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++)
		charged += fixed(t[i].charged);
	ok(charged == fixed(m.cpu[2].lvt) - ((u128)1000 << 32),
	   "R1: what the tasks were charged is what the LVT moved, to the bit");
}

static void test_move(void)
{
	struct machine m;
	struct vclock_task t;

	machine_init(&m, 0);
	start(&m, &t, 1, 400, 10, 0);
	is_i64(vclock_move(&m.vc, &t, 1000), 1000, "R10: a jump is virtual ns");
	is_i64(vclock_now(&m.vc, &t), 1010, "R10: whatever the percent");
	is_i64(vclock_reached(&m.vc), 1010, "R10: and moves the CPU like a charge");
	is_i64(t.ran, 0, "R10: no real time ran");
	is_i64(vclock_move(&m.vc, &t, 0), 0, "R10: a jump by 0");
	is_i64(vclock_now(&m.vc, &t), 1010, "R10: reads the clock");
}

static void test_credit(void)
{
	struct machine m;
	struct vclock_task t, other;

	machine_init(&m, 0);
	start(&m, &t, 0, 200, 1000, 0);
	vclock_credit(&t, 500);
	is_i64(vclock_charge(&m.vc, &t, 600), 0, "R10: credit is not charged");
	is_i64(vclock_now(&m.vc, &t), 1000, "R10: time stands still");
	is_i64(t.ran, 600, "R10: but real time ran");
	is_i64(vclock_charge(&m.vc, &t, 600), 100, "R10: until it is used up");
	is_i64(vclock_now(&m.vc, &t), 1100, "R10: then time goes on");

	vclock_credit(&t, 30);
	vclock_credit(&t, 20);
	start(&m, &other, 0, 100, 0, 0);
	is_i64(vclock_charge(&m.vc, &other, 10), 10, "R10: credit is its own");
	is_i64(vclock_move(&m.vc, &t, 60), 60, "R10: no jump falls short of it");
	is_i64(vclock_charge(&m.vc, &t, 120), 10, "R10: credits add up");
}

/* Charges below 1 ns use up credit just the same. */
static void test_credit_tiny(void)
{
	struct machine m;
	struct vclock_task t;
	u64 i;

	machine_init(&m, 0);
	start(&m, &t, 0, 300, 0, 0);
	vclock_credit(&t, 1000);
	for (i = 0; i < 2999; i++)
		vclock_charge(&m.vc, &t, 1);
	ok(fixed(m.cpu[0].lvt) == 0,
	   "R10: 999 of 1000 ns of credit used in thirds: time stands still");
	for (; i < 6000; i++)
		vclock_charge(&m.vc, &t, 1);
	ok(m.cpu[0].lvt.ns >= 999 && m.cpu[0].lvt.ns <= 1000,
	   "R10: after that, 1000 ns are charged");

	machine_init(&m, 0);
	start(&m, &t, 0, 100000, 0, 0);
	vclock_credit(&t, 900);
	for (i = 0; i < 1000; i++)
		vclock_charge(&m.vc, &t, 899);
	ok(fixed(m.cpu[0].lvt) == 0,
	   "R10: many charges of 0.9 ns use credit, not time");
}

static void test_credit_limit(void)
{
	struct machine m;
	struct vclock_task t;

	machine_with(&m, &t, 0);
	vclock_credit(&t, 1ULL << 63);
	vclock_credit(&t, 1ULL << 63);
	is_i64(t.credit.ns, VCLOCK_TIME_MAX, "limits: credit saturates");
	vclock_credit(&t, ~0ULL);
	is_i64(t.credit.ns, VCLOCK_TIME_MAX, "limits: and does not wrap");
	vclock_charge(&m.vc, &t, 1000 * DAY);
	is_i64(vclock_now(&m.vc, &t), 0, "limits: time stands still for long");
}

/* Calls that cost 37 ns between stretches of 1000 ns of the program. */
static void test_refund(void)
{
	const u64 calls = 1000000;

	for (unsigned int i = 0; i < ARRAY_SIZE(percents); i++) {
		struct machine m;
		struct vclock_task t;
		u128 want, have;
		u64 charged;

		machine_init(&m, 0);
		start(&m, &t, 0, percents[i], 0, 0);
		for (u64 call = 0; call < calls; call++) {
			vclock_charge(&m.vc, &t, 1037);
			vclock_refund(&t, 37);
		}
		/* The last refund is still credit. */
		vclock_charge(&m.vc, &t, 37);
		vclock_refund(&t, 37);
		want = virtual_of(1000 * calls, percents[i]);
		have = fixed(t.charged) << 32;
		ok((have > want ? have - want : want - have) <= want / 1000000,
		   "R13: what is given back at %u %% is exact", percents[i]);
		is_i64(t.ran, 1000 * calls, "R13: in real time too");
		/* The task leaves. The credit had less than 1 virtual ns more. */
		charged = t.charged.ns;
		vclock_unrefund(&t, ~0ULL, 37);
		is_i64(t.credit.ns, 0, "R13: an unused refund is taken back");
		ok(t.ran <= 1000 * calls + 37 &&
		   t.ran + percents[i] / 100 + 1 >= 1000 * calls + 37,
		   "R13: its time counts as run at %u %%", percents[i]);
		is_i64(t.charged.ns, charged, "R13: and is not charged");
	}
}

static void test_refund_limit(void)
{
	struct machine m;
	struct vclock_task t;

	machine_with(&m, &t, 0);
	vclock_charge(&m.vc, &t, 100);
	vclock_refund(&t, 150);
	is_i64(t.ran, 0, "R13: no less than nothing ran");
	is_i64(vclock_charge(&m.vc, &t, 150), 0,
	       "R13: a refund ahead of its charge counts");
}

static bool alike(const struct machine *a, const struct vclock_task *t,
		  const struct machine *b, const struct vclock_task *u)
{
	return fixed(t->charged) == fixed(u->charged) && t->ran == u->ran &&
	       fixed(a->cpu[0].lvt) == fixed(b->cpu[0].lvt) &&
	       vclock_reached(&a->vc) == vclock_reached(&b->vc) &&
	       vclock_skew(&a->vc) == vclock_skew(&b->vc);
}

/* The short way of a charge is a way to the same result. */
static void test_plain(unsigned int cpus)
{
	struct rng rng = { cpus };
	struct machine m, n;
	struct vclock_memory mine = { cpus, m.cpu, m.least, m.lock };
	struct vclock_memory its = { cpus, n.cpu, n.least, n.lock };
	struct vclock_task t, u;
	unsigned int other = 0, returned = 0;

	vclock_init(&m.vc, &mine, WINDOW, 0);
	vclock_init(&n.vc, &its, WINDOW, 0);
	start(&m, &t, 0, 100, 0, 0);
	start(&n, &u, 0, 100, 0, 0);
	for (int i = 0; i < 200000; i++) {
		u64 ns = rng_chance(&rng, 1) ? rng_scale(&rng, 1ULL << 47) :
					       rng_below(&rng, 10000000);
		u32 percent = rng_chance(&rng, 50) ? 100000 :
			      1000 + (u32)rng_scale(&rng, 99999000);

		vclock_set_fine(&t, percent);
		vclock_set_fine(&u, percent);
		returned += vclock_charge(&m.vc, &t, ns) !=
			    vclock_charge_plain(&n.vc, &u, ns);
		other += !alike(&m, &t, &n, &u);
	}
	is_i64(other, 0, "R1: %u CPUs: short and long way charge alike", cpus);
	is_i64(returned, 0, "R8: %u CPUs: and return the same", cpus);
}

int main(void)
{
	test_exact();
	test_large();
	test_change();
	test_percent();
	test_conservation();
	test_move();
	test_credit();
	test_credit_tiny();
	test_credit_limit();
	test_refund();
	test_refund_limit();
	test_plain(1);
	test_plain(2);
	return done();
}
