// SPDX-License-Identifier: GPL-2.0
/* Checks when a guest that does not react is killed, with a fake clock. */
#include <signal.h>

#include "tap.h"
#include "run/reaction.h"

#define SECOND	1000000000ULL

static uint64_t now;

/* A running tense: it checks often enough. */
static void pass(struct reaction *r, uint64_t ns)
{
	while (ns) {
		uint64_t step = ns > SECOND / 2 ? SECOND / 2 : ns;

		now += step;
		ns -= step;
		reaction_check(r, now);
	}
}

/* A tense that is stopped with its guest, and continues later. */
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
	ok(!reaction_has_failed(&r), "no signal: the guest lives");
	ok(reaction_sends(&r, SIGTERM, true), "a signal goes to the guest");
	ok(reaction_timeout_ms(&r) > 0 && reaction_timeout_ms(&r) <= 1000,
	   "tense looks again within a second");
	pass(&r, REACTION_NS - 1);
	ok(!reaction_has_failed(&r), "just before 5 s the guest lives");
	is_i64(reaction_timeout_ms(&r), 1, "the time-out is never early");
	pass(&r, 1);
	ok(reaction_has_failed(&r), "after 5 s the guest has failed");
	is_i64(r.sig, SIGTERM, "the unanswered signal is SIGTERM");
	is_i64(reaction_timeout_ms(&r), 0, "poll() does not wait then");
}

static void test_second(void)
{
	struct reaction r = begin();

	ok(reaction_sends(&r, SIGINT, true), "the first signal is sent");
	pass(&r, REACTION_AGAIN_NS - 1);
	ok(reaction_sends(&r, SIGTERM, true),
	   "a second signal within 1 s is sent, too");
	pass(&r, 1);
	ok(reaction_sends(&r, SIGCONT, false),
	   "SIGCONT a second later is sent, too");
	ok(!reaction_sends(&r, SIGTERM, true), "SIGTERM a second later kills");
	is_i64(r.sig, SIGINT, "the unanswered signal is the first one");
	ok(!reaction_has_failed(&r), "the kill comes before the time-out");
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
	ok(!reaction_has_failed(&r), "it lives however long the command runs");

	reaction_sends(&r, SIGTERM, true);
	reaction_sends(&r, SIGTERM, true);
	pass(&r, 4 * SECOND);
	reaction_takes(&r);
	ok(reaction_is_awaited(&r), "two signals need two answers");
	pass(&r, 4 * SECOND);
	ok(!reaction_has_failed(&r), "the first answer restarts the 5 s");
	pass(&r, SECOND);
	ok(reaction_has_failed(&r), "5 s later the guest has failed");

	r = begin();
	reaction_sends(&r, SIGCONT, false);
	pass(&r, 100 * SECOND);
	ok(!reaction_has_failed(&r), "SIGCONT needs no answer");
	reaction_sends(&r, SIGTERM, true);
	reaction_takes(&r);
	ok(reaction_is_awaited(&r), "the answer to SIGCONT is not SIGTERM's");
	reaction_takes(&r);
	ok(!reaction_is_awaited(&r), "the second answer is SIGTERM's");
	reaction_takes(&r);
	reaction_sends(&r, SIGTERM, true);
	ok(reaction_is_awaited(&r), "a spare answer does not count for later");
}

static void test_frozen(void)
{
	struct reaction r = begin();

	reaction_sends(&r, SIGTERM, true);
	freeze(&r, 3600 * SECOND);
	ok(!reaction_has_failed(&r), "an hour in which tense is frozen counts little");
	pass(&r, 3 * SECOND);
	ok(!reaction_has_failed(&r), "3 s more are not enough");
	pass(&r, SECOND);
	ok(reaction_has_failed(&r), "4 s in which tense runs are enough");
}

static void test_wrap(void)
{
	struct reaction r = begin();

	r.sent = r.taken = r.ending = UINT32_MAX;
	reaction_sends(&r, SIGTERM, true);
	ok(reaction_is_awaited(&r), "an answer is awaited after 2^32 signals");
	reaction_takes(&r);
	ok(!reaction_is_awaited(&r), "the answer arrives");
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
