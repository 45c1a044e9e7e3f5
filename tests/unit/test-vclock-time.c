// SPDX-License-Identifier: GPL-2.0
/* Where time stands: R3, R4, R5, R6, R9 and R11. */
#include "test-vclock.h"

static void test_ready_by(void)
{
	struct machine m;
	struct vclock_task waker, t;

	machine_init(&m, 0);
	start(&m, &waker, 0, 50, 0, 0);
	start(&m, &t, 1, 100, 0, 0);
	vclock_charge(&m.vc, &t, 300);
	vclock_block(&m.vc, &t, 300);
	vclock_charge(&m.vc, &waker, 500);
	vclock_ready_by(&m.vc, &t, &waker);
	is_i64(t.ready, 1000, "R3: ready at the LVT of the waker's CPU");
	vclock_join(&m.vc, &t, 1, 500);
	is_i64(vclock_now(&m.vc, &t), 1000, "R4: a CPU that was idle is set to it");

	vclock_charge(&m.vc, &t, 700);
	vclock_block(&m.vc, &t, 1200);
	vclock_ready_by(&m.vc, &t, &waker);
	is_i64(t.ready, 1700, "R3: no task is ready before it blocked");
}

static void test_ready_outside(void)
{
	struct machine m;
	struct vclock_task slow, t;

	machine_with(&m, &slow, 0);
	start(&m, &t, 1, 10, 0, 0);
	vclock_charge(&m.vc, &t, 200);
	vclock_block(&m.vc, &t, 10000);
	ok(vclock_ready_outside(&m.vc, &t, 10700),
	   "R3: a wake-up from outside ahead of GVT has to wait");
	is_i64(t.ready, 2700,
	       "R3: from when it blocked, real time, whatever the percent");
	vclock_arm(&m.vc, &t.deadline, t.ready);
	vclock_charge(&m.vc, &slow, 2699);
	ok(!vclock_expire(&m.vc, 11000), "R3: not before GVT is there");
	vclock_charge(&m.vc, &slow, 1);
	ok(vclock_expire(&m.vc, 11000) == &t.deadline, "R3: like a deadline");
	vclock_join(&m.vc, &t, 1, 11000);
	is_i64(vclock_now(&m.vc, &t), 2700, "R4: it starts there");

	vclock_block(&m.vc, &t, 11000);
	vclock_charge(&m.vc, &slow, 10000);
	ok(!vclock_ready_outside(&m.vc, &t, 11500),
	   "R3: one behind GVT is ready at once");
	is_i64(t.ready, 12700, "R3: not before GVT");
	vclock_join(&m.vc, &t, 1, 11500);
	is_i64(vclock_now(&m.vc, &t), 12700, "R4: it starts at GVT");

	vclock_block(&m.vc, &t, 12000);
	ok(!vclock_ready_outside(&m.vc, &t, 11999),
	   "R3: a clock that went back by 1 ns is no wait");
	is_i64(t.ready, 12700, "R3: not a long one");
	ok(!vclock_ready_outside(&m.vc, &t, 12000), "R3: no wait at all");
}

static void test_join(void)
{
	struct machine m;
	struct vclock_task a, b, child;

	machine_with(&m, &a, 0);
	vclock_charge(&m.vc, &a, 800);
	start(&m, &b, 1, 100, 0, 800);
	is_i64(vclock_now(&m.vc, &b), 800,
	       "R4: who is ready before GVT starts at GVT");
	is_i64(vclock_active(&m.vc), 2, "R4: two CPUs are active");
	vclock_charge(&m.vc, &b, 200);
	vclock_task_init(&child, 100, m.cpu[1].lvt.ns);
	vclock_join(&m.vc, &child, 2, 1000);
	is_i64(m.cpu[2].lvt.ns, 1000, "R4: a child starts where fork was");
	is_i64(vclock_reached(&m.vc), 800, "R5: which does not move GVT");
	vclock_block(&m.vc, &child, 1000);
	child.ready = 900;
	vclock_join(&m.vc, &child, 2, 1000);
	is_i64(m.cpu[2].lvt.ns, 1000, "R4: a CPU's LVT does not go back");
	vclock_block(&m.vc, &child, 1000);
	child.ready = 5000;
	vclock_join(&m.vc, &child, 0, 1000);
	is_i64(m.cpu[0].lvt.ns, 800,
	       "R4: a CPU that is active already is left alone");
	is_i64(m.cpu[0].tasks, 2, "R4: and has two tasks");
}

static void test_migration(void)
{
	struct machine m;
	struct vclock_task a, t;

	machine_with_two(&m, &a, &t);
	vclock_charge(&m.vc, &t, 3000);
	vclock_join(&m.vc, &t, 5, 3000);
	is_i64(m.cpu[5].lvt.ns, 3000,
	       "R4: a CPU that never ran the experiment takes the task's time");
	is_i64(m.cpu[1].tasks + m.cpu[5].tasks, 1, "R4: it is on one CPU");
	is_i64(vclock_active(&m.vc), 2, "R4: two are active");
	vclock_charge(&m.vc, &a, 100);
	vclock_join(&m.vc, &t, 0, 3100);
	is_i64(m.cpu[0].lvt.ns, 100, "R4: an active CPU is left alone");
	is_i64(vclock_reached(&m.vc), 100, "R5: GVT is the minimum of who is left");
	is_i64(vclock_now(&m.vc, &t), 3000,
	       "R9: who moves to a CPU that is behind does not go back");
	vclock_join(&m.vc, &t, 0, 3100);
	is_i64(m.cpu[0].tasks, 2, "R4: to the same CPU is no move");
	vclock_block(&m.vc, &t, 3100);
	vclock_join(&m.vc, &a, 7, 9000);
	is_i64(m.cpu[7].lvt.ns, 100,
	       "R4: the only task of all takes its time along");
	is_i64(vclock_reached(&m.vc), 100, "R5: GVT does not follow real time meanwhile");
}

/* A task that moves is runnable all the time: GVT does not pass it by. */
static void test_migration_slowest(void)
{
	struct machine m;
	struct vclock_task slow, fast;

	machine_with_two(&m, &slow, &fast);
	vclock_charge(&m.vc, &slow, 100);
	vclock_charge(&m.vc, &fast, 900);
	vclock_join(&m.vc, &slow, 2, 900);
	is_i64(vclock_now(&m.vc, &slow), 100,
	       "R4: the slowest task moves and loses no time");
	is_i64(vclock_reached(&m.vc), 100, "R5: it still holds GVT");
	is_i64(vclock_active(&m.vc), 2, "R5: as one of two active CPUs");
	vclock_join(&m.vc, &slow, 1, 900);
	is_i64(vclock_reached(&m.vc), 900, "R5: until it moves to one that is ahead");
}

static void test_gvt(void)
{
	struct machine m;
	struct vclock_task t[CPUS];
	u64 lvt[CPUS] = { 0 };
	struct rng rng = { 5 };
	bool same = true;

	machine_init(&m, 0);
	for (unsigned int i = 0; i < CPUS; i++)
		start(&m, &t[i], i, 100, 0, 0);
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int cpu = (unsigned int)rng_below(&rng, CPUS);
		u64 d = rng_scale(&rng, 10000), least = VCLOCK_NEVER;

		vclock_charge(&m.vc, &t[cpu], d);
		lvt[cpu] += d;
		for (unsigned int k = 0; k < CPUS; k++)
			least = lvt[k] < least ? lvt[k] : least;
		same = same && vclock_gvt(&m.vc, 7 * (u64)i) == least;
	}
	ok(same, "R5: GVT is the minimum LVT at each of 100000 charges");
}

static void test_gvt_block(void)
{
	struct machine m;
	struct vclock_task a, b;

	machine_with_two(&m, &a, &b);
	vclock_charge(&m.vc, &b, 900);
	is_i64(vclock_gvt(&m.vc, 900), 0, "R5: the slowest holds GVT");
	vclock_block(&m.vc, &a, 900);
	is_i64(vclock_gvt(&m.vc, 900), 900, "R6: unless it is blocked");
	is_i64(vclock_gvt(&m.vc, 5000), 900,
	       "R5: real time means nothing while a CPU is active");
	vclock_join(&m.vc, &a, 0, 1000);
	is_i64(vclock_gvt(&m.vc, 1000), 900, "R5: it comes back at GVT");
	vclock_charge(&m.vc, &a, 1000);
	vclock_leave(&m.vc, &b, 2000);
	is_i64(vclock_gvt(&m.vc, 2000), 1900, "R11: who leaves holds nothing");
	vclock_leave(&m.vc, &a, 2000);
	is_i64(vclock_active(&m.vc), 0, "R11: nothing is active at the end");
	is_i64(m.least[1], (s64)VCLOCK_NEVER, "R11: nor counts for GVT");
}

static void test_idle(void)
{
	struct machine m;
	struct vclock_task t;

	machine_init(&m, 1000000);
	is_i64(vclock_gvt(&m.vc, 1000000), 0, "R5: time starts at 0");
	is_i64(vclock_gvt(&m.vc, 1000250), 250,
	       "R5: GVT follows real time before the first task");
	start(&m, &t, 0, 1000, 0, 1000400);
	is_i64(vclock_now(&m.vc, &t), 400, "R4: which starts there");
	vclock_charge(&m.vc, &t, 1000);
	vclock_block(&m.vc, &t, 2000000);
	is_i64(vclock_gvt(&m.vc, 2000000), 500, "R5: idle: where the last was");
	is_i64(vclock_gvt(&m.vc, 2000077), 577, "R5: idle: follows real time");
	is_i64(vclock_gvt(&m.vc, 1999999), 500,
	       "R5: idle: a clock that goes back does not take it back");
	vclock_advance(&m.vc, 2000077);
	vclock_advance(&m.vc, 2000077);
	vclock_advance(&m.vc, 2000050);
	is_i64(vclock_reached(&m.vc), 577, "R5: idle: real time counts once");
	is_i64(vclock_gvt(&m.vc, 2000078), 578, "R5: idle: and goes on");
	ok(!vclock_ready_outside(&m.vc, &t, 2000100),
	   "R3: idle: a wake-up from outside is ready at once");
	is_i64(t.ready, 600, "R3: idle: after as long as it waited");
	vclock_join(&m.vc, &t, 0, 2000100);
	is_i64(m.cpu[0].lvt.ns, 600, "R4: idle: it goes on there");
}

static void test_skip(void)
{
	struct machine m;
	struct vclock_task t, a, b;

	machine_init(&m, 0);
	m.vc.skip = true;
	start(&m, &t, 0, 100, 0, 0);
	start(&m, &a, 1, 100, 0, 0);
	start(&m, &b, 2, 100, 0, 0);
	vclock_block(&m.vc, &a, 0);
	vclock_arm(&m.vc, &a.deadline, 1000000);
	vclock_block(&m.vc, &b, 0);
	vclock_arm(&m.vc, &b.deadline, 5000000);
	ok(!vclock_expire(&m.vc, 10), "R5: no time is skipped while one runs");
	is_i64(vclock_reached(&m.vc), 0, "R5: not a ns");
	vclock_charge(&m.vc, &t, 10);
	m.vc.outside = 1;
	vclock_block(&m.vc, &t, 10);
	ok(!vclock_expire(&m.vc, 20),
	   "R5: nor while one waits for the outside");
	is_i64(vclock_reached(&m.vc), 20, "R5: then it is real time");
	m.vc.outside = 0;
	ok(vclock_expire(&m.vc, 20) == &a.deadline,
	   "R5: idle time is skipped up to the first deadline");
	is_i64(vclock_reached(&m.vc), 1000000, "R5: to its very instant");
	vclock_join(&m.vc, &a, 1, 21);
	is_i64(vclock_now(&m.vc, &a), 1000001,
	       "R4: its task starts there, not at the next deadline");
	ok(!vclock_expire(&m.vc, 21), "R5: which is not reached yet");
	vclock_leave(&m.vc, &a, 30);
	ok(vclock_expire(&m.vc, 30) == &b.deadline, "R5: but it will be");
	is_i64(vclock_reached(&m.vc), 5000000, "R5: at its instant");
	vclock_leave(&m.vc, &b, 31);
	ok(!vclock_expire(&m.vc, 40), "R5: nothing is left to skip to");
	is_i64(vclock_gvt(&m.vc, 40), 5000010, "R5: so it is real time");
}

static void test_window(void)
{
	struct machine m;
	struct vclock_task slow, t;

	machine_with_two(&m, &slow, &t);
	vclock_charge(&m.vc, &t, WINDOW);
	ok(!vclock_ahead(&m.vc, &t), "R6: a whole window ahead is allowed");
	is_i64(vclock_skew(&m.vc), WINDOW, "R6: and is the worst skew");
	vclock_charge(&m.vc, &t, 1);
	ok(vclock_ahead(&m.vc, &t), "R6: 1 ns more is not");
	ok(!vclock_ahead(&m.vc, &slow), "R6: the minimum is never gated");
	is_i64(vclock_skew(&m.vc), WINDOW + 1, "R6: the worst skew is noted");
	vclock_gate(&m.vc, &t);
	is_i64(t.deadline.when, WINDOW + 1 - WINDOW / 2,
	       "R6: it goes on when half a window is free");
	vclock_disarm(&m.vc, &t.deadline);
	vclock_charge(&m.vc, &slow, WINDOW / 2 + 1);
	ok(!vclock_ahead(&m.vc, &t), "R6: as soon as GVT has caught up");
	is_i64(vclock_gvt(&m.vc, 0), WINDOW / 2 + 1,
	       "R6: which is the release time");
	vclock_charge(&m.vc, &t, 10 * WINDOW);
	ok(vclock_ahead(&m.vc, &t), "R6: far ahead again");
	vclock_block(&m.vc, &slow, 0);
	ok(!vclock_ahead(&m.vc, &t), "R6: a blocked task holds nobody");
	is_i64(vclock_skew(&m.vc), 11 * WINDOW + 1 - (WINDOW / 2 + 1),
	       "R6: the worst skew stays");

	vclock_charge(&m.vc, &t, 10 * WINDOW);
	ok(!vclock_ahead(&m.vc, &t), "R6: one CPU alone is never gated");
}

/* Moved on its way to sleep at the gate, to a CPU that only others bring on. */
static void test_gated_and_moved(void)
{
	struct machine m;
	struct vclock_task slow, t;

	machine_with_two(&m, &slow, &t);
	vclock_charge(&m.vc, &t, 10 * WINDOW);
	vclock_gate(&m.vc, &t);
	ok(!vclock_regate(&m.vc, &t), "R6: where it is, it waits for the same");
	vclock_charge(&m.vc, &slow, WINDOW);
	vclock_join(&m.vc, &t, 0, 0);
	ok(vclock_regate(&m.vc, &t), "R6: on a CPU that is behind, for less");
	vclock_block(&m.vc, &slow, 0);
	ok(vclock_expire(&m.vc, 0) == &t.deadline,
	   "R6: and is let go when nobody else is left there");
	is_i64(t.deadline.when, WINDOW / 2, "R6: half a window before that CPU's LVT");
	vclock_arm(&m.vc, &t.deadline, 3);
	ok(!vclock_regate(&m.vc, &t) && t.deadline.when == 3,
	   "R6: it never waits for longer than before");
}

/* Skew also arises when a task is carried to an idle CPU. */
static void test_skew_join(void)
{
	struct machine m;
	struct vclock_task slow, child;

	machine_with(&m, &slow, 0);
	start(&m, &child, 1, 100, 77, 0);
	is_i64(vclock_skew(&m.vc), 77, "R6: a CPU that joins ahead of GVT is skew");
}

static void test_reading(void)
{
	struct machine m;
	struct vclock_task t, slow;
	u64 blocked;

	machine_with_two(&m, &slow, &t);
	vclock_charge(&m.vc, &t, 400);
	is_i64(vclock_now(&m.vc, &t), 400, "R9: a task sees its CPU's LVT");
	vclock_charge(&m.vc, &t, 100);
	vclock_block(&m.vc, &t, 500);
	blocked = vclock_now(&m.vc, &t);
	is_i64(blocked, 500, "R9: a blocked one what it had reached");
	vclock_ready_by(&m.vc, &t, &slow);
	vclock_join(&m.vc, &t, 0, 500);
	is_i64(vclock_now(&m.vc, &t), 500,
	       "R9: on a CPU that is behind, time stands still");
	vclock_charge(&m.vc, &slow, 499);
	is_i64(vclock_now(&m.vc, &t), 500, "R9: still");
	vclock_charge(&m.vc, &t, 2);
	is_i64(vclock_now(&m.vc, &t), 501, "R9: until the CPU is there");
}

/* R5: CPUs may take the lock in another order than they read the clock. */
static void test_leaving_order(void)
{
	struct machine m;
	struct vclock_task a, b;

	machine_with_two(&m, &a, &b);
	vclock_charge(&m.vc, &a, 1000);
	vclock_charge(&m.vc, &b, 1000);
	vclock_block(&m.vc, &b, 1050);
	vclock_block(&m.vc, &a, 1000);
	is_i64(vclock_gvt(&m.vc, 1060), 1010,
	       "R5: no time passes twice when CPUs leave in another order");
	vclock_join(&m.vc, &a, 0, 1060);
	vclock_block(&m.vc, &a, 1055);
	is_i64(vclock_gvt(&m.vc, 1070), 1020, "R5: nor when a CPU comes back");
}

/* R9: readings that are ahead of the charged time. */
static void test_reading_ahead(void)
{
	struct machine m;
	struct vclock_task t, other, child;

	machine_with(&m, &t, 0);
	start(&m, &other, 0, 100, 0, 0);
	vclock_charge(&m.vc, &t, 1000);
	vclock_take_shown(&m.vc, &t, 1500);
	is_i64(vclock_read(&m.vc, &t), 1500, "R9: a reading is not taken back");
	is_i64(vclock_now(&m.vc, &t), 1000, "R9: a reading is not charged");
	is_i64(vclock_floor(&m.vc, &other), 1500,
	       "R9: the page of the next task on the CPU shows no less");
	is_i64(vclock_read(&m.vc, &other), 1500, "R9: the kernel tells it no less");
	vclock_charge(&m.vc, &t, 499);
	is_i64(vclock_read(&m.vc, &t), 1500, "R9: time stands still");
	vclock_charge(&m.vc, &t, 2);
	is_i64(vclock_read(&m.vc, &t), 1501, "R9: time goes on when that is charged");

	vclock_take_shown(&m.vc, &t, 1501 + 2 * VCLOCK_AHEAD_MAX + 1);
	is_i64(vclock_read(&m.vc, &t), 1501, "R9: a time that no page can show is ignored");
	vclock_take_shown(&m.vc, &t, ~0ULL);
	is_i64(vclock_read(&m.vc, &t), 1501, "R9: the highest number is ignored");
	vclock_take_shown(&m.vc, &t, 0);
	is_i64(vclock_read(&m.vc, &t), 1501, "R9: a past time changes nothing");

	vclock_take_shown(&m.vc, &t, 1600);
	is_i64(vclock_wait_from(&m.vc, &t), 1501, "R9: no wait counts from a reading");
	vclock_charge(&m.vc, &t, 9);
	is_i64(vclock_wait_from(&m.vc, &t), 1510, "R9: a second wait does not either");
	vclock_wait_until(&t, 2501);
	vclock_charge(&m.vc, &t, 40);
	vclock_block(&m.vc, &t, 2000);
	is_i64(t.blocked_at, 1550, "R9: a task blocks at its charged time");
	t.ready = 2501;
	vclock_charge(&m.vc, &other, 950);
	is_i64(vclock_floor(&m.vc, &t), 1600, "R9: before its deadline it reads the old time");
	vclock_charge(&m.vc, &other, 1);
	vclock_join(&m.vc, &t, 0, 3000);
	is_i64(vclock_read(&m.vc, &t), 2600,
	       "R9: at its deadline it reads the full sleep");
	is_i64(vclock_now(&m.vc, &t), 2501, "R9: the charged time is the deadline");

	vclock_task_init(&child, 100, 0);
	vclock_shown_by(&m.vc, &child, 0);
	vclock_join(&m.vc, &child, 1, 3000);
	is_i64(vclock_read(&m.vc, &child), 2600,
	       "R9: a task that is woken on another CPU reads no less");
}

/* R9: readings that threads on several CPUs exchange in memory. */
static void test_reading_order(void)
{
	struct machine m;
	struct vclock_task a, b;
	u64 latest = 0, most;

	machine_init(&m, 0);
	m.vc.latest = &latest;
	start(&m, &a, 0, 100, 0, 0);
	start(&m, &b, 1, 100, 0, 0);
	vclock_charge(&m.vc, &a, 5000);
	is_i64(vclock_read(&m.vc, &a), 5000, "R9: a CPU is ahead");
	is_i64(vclock_read(&m.vc, &b), 0, "R9: unordered, another CPU reads an earlier time");
	m.vc.ordered = true;
	vclock_read(&m.vc, &a);
	is_i64(latest, 5000, "R9: ordered, a reading is stored in the word");
	is_i64(vclock_read(&m.vc, &b), 5000, "R9: another CPU reads no earlier time");
	is_i64(vclock_now(&m.vc, &b), 0, "R9: the word is not charged");
	vclock_take_shown(&m.vc, &b, 7000);
	is_i64(vclock_read(&m.vc, &a), 7000, "R9: a time that a page showed counts, too");

	most = WINDOW + VCLOCK_LATEST_MAX;
	latest = most;
	is_i64(vclock_read(&m.vc, &a), most, "R9: the word counts up to its limit");
	latest = most + 1;
	is_i64(vclock_read(&m.vc, &b), 7000, "R9: a word beyond its limit is ignored");
	is_i64(latest, 7000, "R9: a word beyond its limit is corrected");
	latest = ~0ULL;
	is_i64(vclock_read(&m.vc, &b), 7000, "R9: the highest number is ignored");
	vclock_move(&m.vc, &a, 10 * NSEC_PER_SEC);
	vclock_read(&m.vc, &a);
	is_i64(latest, most, "R9: after a jump ahead the word stays at its limit");
}

/* At 1000 a task has read 1500, and waits for 1000 ns. */
static void wait_with_lead(struct machine *m, struct vclock_task *t)
{
	machine_with(m, t, 0);
	vclock_charge(&m->vc, t, 1000);
	vclock_take_shown(&m->vc, t, 1500);
	vclock_wait_from(&m->vc, t);
	vclock_wait_until(t, 2000);
}

/* R9: which deadlines keep a lead. */
static void test_kept_leads(void)
{
	struct machine m;
	struct vclock_task t;

	wait_with_lead(&m, &t);
	vclock_charge(&m.vc, &t, 999);
	is_i64(vclock_read(&m.vc, &t), 1999, "R9: a timer that has not come yet");
	vclock_charge(&m.vc, &t, 1);
	is_i64(vclock_read(&m.vc, &t), 2500, "R9: one that counts from a reading");
	vclock_charge(&m.vc, &t, 400);
	vclock_wait_until(&t, 2450);
	vclock_charge(&m.vc, &t, 50);
	is_i64(vclock_read(&m.vc, &t), 2500, "R9: a time that the program names");
	vclock_wait_from(&m.vc, &t);
	vclock_wait_until(&t, 2480);
	vclock_wait_end(&t, 2480);
	vclock_charge(&m.vc, &t, 40);
	is_i64(vclock_read(&m.vc, &t), 2500, "R9: a wait that ended before");
	vclock_charge(&m.vc, &t, 20);
	is_i64(vclock_read(&m.vc, &t), 2510, "R9: the lead is paid back");
}

/* R9: a task that has a timer and waits for something else, too. */
static void test_lead_of_timer(void)
{
	struct machine m;
	struct vclock_task t;

	wait_with_lead(&m, &t);
	vclock_wait_until(&t, 5000);
	vclock_wait_end(&t, 5000);
	vclock_charge(&m.vc, &t, 1000);
	is_i64(vclock_read(&m.vc, &t), 2500, "R9: another deadline does not end its wait");

	vclock_wait_from(&m.vc, &t);
	vclock_wait_until(&t, 4000);
	vclock_wait_end(&t, 4000);
	vclock_wait_until(&t, 4000);
	vclock_charge(&m.vc, &t, 2000);
	is_i64(vclock_read(&m.vc, &t), 4500, "R9: a wait that goes on after a signal");
}

/* R9: a task that jumped and moved to a CPU that is behind. */
static void test_reading_after_jump(void)
{
	struct machine m;
	struct vclock_task t, other;
	u64 latest = 0;

	machine_init(&m, 0);
	m.vc.latest = &latest;
	m.vc.ordered = true;
	start(&m, &other, 1, 100, 0, 0);
	start(&m, &t, 0, 100, 0, 0);
	vclock_move(&m.vc, &t, 10 * NSEC_PER_SEC);
	vclock_join(&m.vc, &t, 1, 0);
	is_i64(vclock_read(&m.vc, &t), 10 * NSEC_PER_SEC, "R9: it reads its own time");
	is_i64(vclock_read(&m.vc, &other), WINDOW + VCLOCK_LATEST_MAX,
	       "R9: another task on that CPU reads no more than is possible");

	latest = 5000000;
	is_i64(vclock_limit(&m.vc), WINDOW + VCLOCK_LATEST_MAX,
	       "R9: a page takes what the kernel takes");
	vclock_take_shown(&m.vc, &other, vclock_limit(&m.vc));
	latest = ~0ULL;
	is_i64(vclock_read(&m.vc, &other), vclock_limit(&m.vc),
	       "R9: and what it took is not taken back");
}

/*
 * R9: a host stopped the CPU that ran a task, which then moved to a CPU that is
 * behind. At percent 1 a ms is 100 ms of virtual time.
 */
static void test_reading_after_stall(void)
{
	struct machine m;
	struct vclock_task t, other, third;
	u64 latest = 0;

	machine_init(&m, 0);
	m.vc.latest = &latest;
	m.vc.ordered = true;
	start(&m, &other, 1, 100, 0, 0);
	start(&m, &third, 2, 100, 0, 0);
	start(&m, &t, 0, 1, 0, 0);
	vclock_charge(&m.vc, &t, 20000000);
	vclock_charge(&m.vc, &t, 10000000);
	vclock_join(&m.vc, &t, 1, 0);
	is_i64(vclock_read(&m.vc, &t), 3 * NSEC_PER_SEC, "R9: it reads its own time");
	is_i64(vclock_read(&m.vc, &other), 3 * NSEC_PER_SEC,
	       "R9: another task on that CPU reads no earlier time");
	is_i64(vclock_read(&m.vc, &third), 3 * NSEC_PER_SEC,
	       "R9: nor does a task on another CPU");
	is_i64(vclock_now(&m.vc, &third), 0, "R9: it is not charged for that");

	vclock_move(&m.vc, &third, 10 * NSEC_PER_SEC);
	vclock_join(&m.vc, &third, 1, 0);
	vclock_read(&m.vc, &third);
	is_i64(vclock_read(&m.vc, &other),
	       3 * NSEC_PER_SEC + VCLOCK_LATEST_MAX,
	       "R9: the time of a jump does not count");
}

/* How far readings may be beyond the window, in ns. */
static u64 beyond(const struct machine *m)
{
	return vclock_limit(&m->vc) - vclock_reached(&m->vc) - WINDOW -
	       VCLOCK_LATEST_MAX;
}

/* R9: only run time takes a CPU beyond the window, and only while it is ahead. */
static void test_beyond(void)
{
	struct machine m;
	struct vclock_task t, slow;

	machine_with_two(&m, &slow, &t);
	m.vc.ordered = true;
	vclock_charge(&m.vc, &t, WINDOW);
	is_i64((s64)beyond(&m), 0, "R9: a CPU at the end of its window");
	vclock_charge(&m.vc, &t, 1000);
	is_i64((s64)beyond(&m), 1000, "R9: run time takes a CPU beyond it");
	vclock_set_percent(&t, 200);
	vclock_charge(&m.vc, &t, 1);
	vclock_charge(&m.vc, &t, 1);
	is_i64((s64)beyond(&m), 1001, "R9: so do two fractions that make a ns");

	vclock_charge(&m.vc, &slow, 2000);
	vclock_charge(&m.vc, &t, 2);
	vclock_move(&m.vc, &t, 10 * NSEC_PER_SEC);
	vclock_charge(&m.vc, &t, 20);
	is_i64((s64)beyond(&m), 1001, "R9: a CPU that was within its window starts anew");
	vclock_join(&m.vc, &t, 2, 0);
	is_i64((s64)beyond(&m), 1001, "R9: a CPU that joins is no farther ahead");
	vclock_charge(&m.vc, &t, 20);
	is_i64((s64)beyond(&m), 1012, "R9: but its run time adds to the most so far");
	vclock_block(&m.vc, &t, 0);
	vclock_join(&m.vc, &t, 2, 0);
	is_i64((s64)beyond(&m), 1012, "R9: a CPU that joins again is no farther ahead");
}

static void test_tree_size(void)
{
	static const unsigned int size[][2] = {
		{ 1, 8 }, { 4, 8 }, { 8, 8 }, { 9, 64 }, { 64, 64 },
		{ 4096, 4096 }, { 4097, 32768 },
	};
	struct vclock_cpu cpu;
	struct vclock vc;
	struct vclock_task t;
	u64 least[16];
	raw_spinlock_t lock[8];
	const struct vclock_memory memory = { 1, &cpu, least, lock };

	for (unsigned int i = 0; i < ARRAY_SIZE(size); i++)
		is_i64(gvt_leaves(size[i][0]), size[i][1],
		       "R5: the tree of %u CPUs", size[i][0]);
	vclock_init(&vc, &memory, WINDOW, 0);
	vclock_task_init(&t, 100, 0);
	vclock_join(&vc, &t, 0, 0);
	vclock_charge(&vc, &t, 3);
	is_i64(vclock_gvt(&vc, 9), 3, "R5: one CPU is its own minimum");
	vclock_leave(&vc, &t, 9);
	is_i64(vclock_gvt(&vc, 10), 4, "R5: and can turn idle");
}

int main(void)
{
	test_ready_by();
	test_ready_outside();
	test_join();
	test_migration();
	test_migration_slowest();
	test_gvt();
	test_gvt_block();
	test_idle();
	test_skip();
	test_window();
	test_gated_and_moved();
	test_skew_join();
	test_reading();
	test_leaving_order();
	test_reading_ahead();
	test_reading_order();
	test_kept_leads();
	test_lead_of_timer();
	test_reading_after_jump();
	test_reading_after_stall();
	test_beyond();
	test_tree_size();
	return done();
}
