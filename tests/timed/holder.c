// SPDX-License-Identifier: GPL-2.0
/* A thread that holds what another one waits for. */
#include "timed.h"

#include <linux/futex.h>
#include <stdlib.h>

enum { STARTS, HOLDS, LETS_GO };

struct duty {
	struct thing *thing;
	void (*lock)(struct thing *thing);
	void (*unlock)(struct thing *thing);
};

static void stage_set(struct thing *thing, unsigned int stage)
{
	thing->stage = stage;
	syscall(SYS_futex, &thing->stage, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void stage_leaves(struct thing *thing, unsigned int stage)
{
	while (thing->stage == stage)
		syscall(SYS_futex, &thing->stage, FUTEX_WAIT, stage, NULL, NULL,
			0);
}

static void *holds(void *arg)
{
	struct duty duty = *(struct duty *)arg;

	free(arg);
	if (duty.lock)
		duty.lock(duty.thing);
	stage_set(duty.thing, HOLDS);
	stage_leaves(duty.thing, HOLDS);
	if (duty.unlock)
		duty.unlock(duty.thing);
	return NULL;
}

void hold(const struct timed_call *call, struct thing *thing,
	  void (*lock)(struct thing *thing), void (*unlock)(struct thing *thing))
{
	struct duty *duty = malloc(sizeof(*duty));
	sigset_t all, before;

	if (!duty)
		abort();
	*duty = (struct duty){ thing, lock, unlock };
	thing->stage = STARTS;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&thing->holder, NULL, holds, duty))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	stage_leaves(thing, STARTS);
}

void let_go(const struct timed_call *call, struct thing *thing)
{
	stage_set(thing, LETS_GO);
}

void holder_end(const struct timed_call *call, struct thing *thing)
{
	let_go(call, thing);
	pthread_join(thing->holder, NULL);
}
