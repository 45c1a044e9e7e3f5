// SPDX-License-Identifier: GPL-2.0
#include "timed.h"

#include <linux/futex.h>

static long futex(uint32_t *word, int operation, uint32_t value,
		  const struct timespec *time, uint32_t *target, uint32_t bits)
{
	return syscall(SYS_futex, word, operation, value, time, target, bits);
}

static int open_word(const struct timed_call *call, struct thing *thing)
{
	thing->word = 0;
	return 0;
}

/* A word that does not change, so that only FUTEX_WAKE ends the wait. */
static void wake_word(const struct timed_call *call, struct thing *thing)
{
	futex(&thing->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int operation(const struct timed_call *call)
{
	int real = call->clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0;

	/* The flag is not for it: its clock was CLOCK_REALTIME before. */
	return call->variant == FUTEX_LOCK_PI ? FUTEX_LOCK_PI :
						call->variant | real;
}

static int wait_word(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	long result = futex(&thing->word, operation(call), 0, &time, NULL,
			    FUTEX_BITSET_MATCH_ANY);

	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static int wait_waitv(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	struct futex_waitv waiter = {
		.uaddr = (uintptr_t)&thing->word, .flags = FUTEX_32,
	};
	long result = syscall(SYS_futex_waitv, &waiter, 1, 0, &time,
			      call->clock);

	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static void lock_pi(struct thing *thing)
{
	futex(&thing->word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
}

static void unlock_pi(struct thing *thing)
{
	futex(&thing->word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
}

static int open_pi(const struct timed_call *call, struct thing *thing)
{
	thing->word = 0;
	hold(call, thing, lock_pi, unlock_pi);
	return 0;
}

static int wait_pi(const struct timed_call *call, struct thing *thing,
		   struct timespec time, struct timespec *rest)
{
	long result = futex(&thing->word, operation(call), 0, &time, NULL, 0);

	if (result == 0)
		unlock_pi(thing);
	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

static int wait_requeue_pi(const struct timed_call *call, struct thing *thing,
			   struct timespec time, struct timespec *rest)
{
	long result = futex(&thing->word, operation(call), 0, &time,
			    &thing->target, FUTEX_BITSET_MATCH_ANY);

	if (result == 0)
		futex(&thing->target, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	return result == 0 ? WOKEN : ended(result, ETIMEDOUT);
}

/* Moved to a lock that is free, the waiter has it. */
static void wake_requeue_pi(const struct timed_call *call, struct thing *thing)
{
	futex(&thing->word, FUTEX_CMP_REQUEUE_PI, 1, NULL, &thing->target, 0);
}

#define WORD .raw = true, .open = open_word, .wake = wake_word
#define LOCK .raw = true, .open = open_pi, .wake = let_go, .close = holder_end

static const struct timed_call calls[] = {
	{ "futex(WAIT)", .clock = CLOCK_MONOTONIC, .wait = wait_word,
	  .variant = FUTEX_WAIT, WORD },
	{ "futex(WAIT_BITSET)", .clock = CLOCK_MONOTONIC, .wait = wait_word,
	  .flags = ABSOLUTE, .variant = FUTEX_WAIT_BITSET, WORD },
	{ "futex(WAIT_BITSET)", .clock = CLOCK_REALTIME, .wait = wait_word,
	  .flags = ABSOLUTE, .variant = FUTEX_WAIT_BITSET, WORD },
	{ "futex(WAIT_REQUEUE_PI)", .clock = CLOCK_MONOTONIC,
	  .wait = wait_requeue_pi, .flags = ABSOLUTE, .after = CONTINUED,
	  .variant = FUTEX_WAIT_REQUEUE_PI, .raw = true, .open = open_word,
	  .wake = wake_requeue_pi },
	{ "futex(WAIT_REQUEUE_PI)", .clock = CLOCK_REALTIME,
	  .wait = wait_requeue_pi, .flags = ABSOLUTE, .after = CONTINUED,
	  .variant = FUTEX_WAIT_REQUEUE_PI, .raw = true, .open = open_word,
	  .wake = wake_requeue_pi },
	{ "futex(LOCK_PI)", .clock = CLOCK_REALTIME, .wait = wait_pi,
	  .flags = ABSOLUTE, .after = CONTINUED, .variant = FUTEX_LOCK_PI,
	  LOCK },
	{ "futex(LOCK_PI2)", .clock = CLOCK_MONOTONIC, .wait = wait_pi,
	  .flags = ABSOLUTE, .after = CONTINUED, .variant = FUTEX_LOCK_PI2,
	  LOCK },
	{ "futex(LOCK_PI2)", .clock = CLOCK_REALTIME, .wait = wait_pi,
	  .flags = ABSOLUTE, .after = CONTINUED, .variant = FUTEX_LOCK_PI2,
	  LOCK },
	{ "futex_waitv", .clock = CLOCK_MONOTONIC, .wait = wait_waitv,
	  .flags = ABSOLUTE, .after = RESTARTED, WORD },
	{ "futex_waitv", .clock = CLOCK_REALTIME, .wait = wait_waitv,
	  .flags = ABSOLUTE, .after = RESTARTED, WORD },
};

const struct timed_calls futex_calls = { calls, ARRAY_LENGTH(calls) };
