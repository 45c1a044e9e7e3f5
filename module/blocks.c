// SPDX-License-Identifier: GPL-2.0
/*
 * Says when a block of a task is sampled. The sum of all blocks of a task is a second
 * clock. It has a random point in each period, like charged time (points.c).
 * If a block passes a point, two samples are due. The task is sampled on its way to user
 * mode, where it still is in the call that blocked it. So is the thread that woke it,
 * which is in the call that did so. Both samples have the same number.
 *
 * A block is virtual time: from the task's time when it blocked to its ready time (R3).
 */
#include <linux/pid.h>

#include "samples.h"
#include "tense.h"

/* Keeps apart the points of charged time and of blocks. */
#define BLOCKS_SEED	0x426c6f636b736564ULL

/**
 * tense_block_begins() - a task leaves its run queue to sleep
 * @t: the task, locked
 */
void tense_block_begins(struct tense_task *t)
{
	/* Pairs with set_survey(). */
	t->sampler.in_block = smp_load_acquire(&t->exp->survey) && t->task == current;
}

/*
 * Asks for a sample if the ending block passes a point. Caller holds the task's pi_lock.
 * Returns the ns for which the sample stands; 0: none is due, or the task can take none.
 */
static u64 pass_points(struct tense_task *t, const struct tense_survey *survey)
{
	struct tense_sampler *s = &t->sampler;
	u64 ns = t->v.ready - min(t->v.ready, t->v.blocked_at);

	lockdep_assert_held(&t->lock);

	if (!s->in_block || !tense_may_sample(t->task))
		return 0;
	s->in_block = false;
	tense_points_begin(&s->blocked, 0,
			   survey->seed + ((u64)s->number << 32) + BLOCKS_SEED, survey);
	/* After centuries, blocks are no longer sampled: a later point would overflow. */
	if (s->blocked_ns > S64_MAX || ns > S64_MAX)
		return 0;
	s->blocked_ns += ns;
	ns = tense_points_pass(&s->blocked, s->blocked_ns, survey);
	if (ns)
		tense_sampler_queue(t);
	return s->queued ? ns : 0;
}

/*
 * Asks the running task for a sample of the place from which it wakes others. If it
 * wakes several in one call, these wake-ups share a number. Returns the number, or 0.
 */
static u32 ask_waker(struct tense_task *waker, struct tense_survey *survey)
{
	struct tense_sampler *s = &waker->sampler;
	u32 wake;

	raw_spin_lock(&waker->lock);
	tense_sampler_queue(waker);
	if (!s->wake && s->queued)
		s->wake = (u32)atomic_inc_return(&survey->wakes);
	wake = s->wake;
	raw_spin_unlock(&waker->lock);
	return wake;
}

/**
 * tense_block_ends() - something wakes a task
 * @t: the task, which has its ready time
 * @waker: the running task, if it wakes @t; NULL: a timer, or the outside
 * @flags: TENSE_SAMPLE_*
 *
 * Caller holds the task's pi_lock, so that the task does not run meanwhile.
 */
void tense_block_ends(struct tense_task *t, struct tense_task *waker, u32 flags)
{
	/* Pairs with set_survey(). */
	struct tense_survey *survey = smp_load_acquire(&t->exp->survey);
	struct tense_block *b = &t->sampler.block;
	u32 wake = 0;
	u64 ns;

	if (!survey)
		return;
	raw_spin_lock(&t->lock);
	ns = pass_points(t, survey);
	raw_spin_unlock(&t->lock);
	if (!ns)
		return;
	if (waker)
		wake = ask_waker(waker, survey);
	raw_spin_lock(&t->lock);
	/* One call may block several times: its last block gives the reason. */
	tense_add_up(&b->ns, ns);
	b->time = t->v.ready;
	b->wake = wake;
	b->waker = waker ? task_pid_nr_ns(current, survey->pids) : 0;
	b->flags = flags;
	raw_spin_unlock(&t->lock);
}
