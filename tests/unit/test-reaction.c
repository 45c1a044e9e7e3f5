// SPDX-License-Identifier: GPL-2.0
/* Which guests are killed for not reacting to signals, by a clock of its own. */
#include <signal.h>

#include "tap.h"
#include "reaction.h"

#define SECOND	1000000000ULL

static uint64_t now;

/* The loop of a tense that runs: it looks in time. */
static void pass(struct reaction *r, uint64_t ns)
{
	while (ns) {
		uint64_t step = ns > SECOND / 2 ? SECOND / 2 : ns;

		now += step;
		ns -= step;
		reaction_check(r, now);
	}
}

/* The loop is stopped with the guest, and goes on later. */
static void freeze(struct reaction *r, uint64_t ns)
{
	now += ns;
	reaction_check(r, now);
}

static struct reaction begin(void)
{
	struct reaction r = { 0 };

	now = 1000 * SECOND;
	reaction_check(&r, now);
	return r;
}

static void test_silence(void)
{
	struct reaction r = begin();

	is_i64(reaction_timeout_ms(&r), -1, "no signal: no time-out");
	pass(&r, 100 * SECOND);
	ok(!reaction_has_failed(&r), "a guest that was sent nothing lives");
	ok(reaction_sends(&r, SIGTERM, true), "a signal goes to the guest");
	ok(reaction_timeout_ms(&r) > 0 && reaction_timeout_ms(&r) <= 1000,
	   "tense looks again within a second");
	pass(&r, REACTION_NS - 1);
	ok(!reaction_has_failed(&r), "just before 5 s the guest lives");
	is_i64(reaction_timeout_ms(&r), 1, "the time-out is never early");
	pass(&r, 1);
	ok(reaction_has_failed(&r), "after 5 s it does not");
	is_i64(r.sig, SIGTERM, "for that signal");
	is_i64(reaction_timeout_ms(&r), 0, "and poll() does not wait");
}

static void test_second(void)
{
	struct reaction r = begin();

	ok(reaction_sends(&r, SIGINT, true), "a signal");
	pass(&r, REACTION_AGAIN_NS - 1);
	ok(reaction_sends(&r, SIGTERM, true),
	   "a second one at once is not a second one");
	pass(&r, 1);
	ok(reaction_sends(&r, SIGCONT, false),
	   "one that does not end is none either");
	ok(!reaction_sends(&r, SIGTERM, true), "a second later it kills");
	is_i64(r.sig, SIGINT, "for the first");
	ok(!reaction_has_failed(&r), "before the time-out");
}

static void test_answers(void)
{
	struct reaction r = begin();

	for (int i = 0; i < 20; i++) {
		if (!reaction_sends(&r, SIGTERM, true))
			break;
		pass(&r, 4 * SECOND);
		reaction_takes(&r);
	}
	ok(!reaction_is_awaited(&r) && !reaction_has_failed(&r),
	   "a guest that answers 20 signals late lives");
	pass(&r, 1000 * SECOND);
	ok(!reaction_has_failed(&r), "however long the command goes on");

	reaction_sends(&r, SIGTERM, true);
	reaction_sends(&r, SIGTERM, true);
	pass(&r, 4 * SECOND);
	reaction_takes(&r);
	ok(reaction_is_awaited(&r), "two signals need two answers");
	pass(&r, 4 * SECOND);
	ok(!reaction_has_failed(&r), "the first of which gives more time");
	pass(&r, SECOND);
	ok(reaction_has_failed(&r), "but not for ever");

	r = begin();
	reaction_sends(&r, SIGCONT, false);
	pass(&r, 100 * SECOND);
	ok(!reaction_has_failed(&r), "SIGCONT needs no answer");
	reaction_sends(&r, SIGTERM, true);
	reaction_takes(&r);
	ok(reaction_is_awaited(&r), "and its answer is not another's");
	reaction_takes(&r);
	ok(!reaction_is_awaited(&r), "which comes after it");
	reaction_takes(&r);
	reaction_sends(&r, SIGTERM, true);
	ok(reaction_is_awaited(&r), "an answer too many answers nothing");
}

static void test_frozen(void)
{
	struct reaction r = begin();

	reaction_sends(&r, SIGTERM, true);
	freeze(&r, 3600 * SECOND);
	ok(!reaction_has_failed(&r), "an hour in which tense stood still is not 5 s");
	pass(&r, 3 * SECOND);
	ok(!reaction_has_failed(&r), "nor with 3 s more");
	pass(&r, SECOND);
	ok(reaction_has_failed(&r), "only those in which it ran count");
}

static void test_wrap(void)
{
	struct reaction r = begin();

	r.sent = r.taken = r.ending = UINT32_MAX;
	reaction_sends(&r, SIGTERM, true);
	ok(reaction_is_awaited(&r), "after 2^32 signals the next one is awaited");
	reaction_takes(&r);
	ok(!reaction_is_awaited(&r), "and answered");
}

int main(void)
{
	test_silence();
	test_second();
	test_answers();
	test_frozen();
	test_wrap();
	return done();
}
