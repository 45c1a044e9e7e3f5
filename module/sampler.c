// SPDX-License-Identifier: GPL-2.0
/*
 * Takes samples of a task on its way to user mode, when points.c or blocks.c has asked
 * for them.
 * R13: the task is charged neither for the sample nor for the interrupt before it.
 */
#include <linux/ptrace.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>

#include "samples.h"
#include "tense.h"

/*
 * During the pause after a sample, no timer comes for another one. At a low percent,
 * samples would otherwise keep the CPU from the program. The pause is PAUSE_PART times
 * the time that the sample took. PAUSE_MIN covers the interrupt, and PAUSE_MAX bounds
 * the time for which the sample waited. In real ns.
 */
#define PAUSE_PART	3
#define PAUSE_MIN	50000
#define PAUSE_MAX	1000000
/* In real ns. The end of a sample takes longer only if an interrupt came. */
#define END_MAX		20000

static u64 pause_after(const struct tense_sampler *s, u64 now)
{
	u64 took = now > s->since ? now - s->since : 0;

	return clamp(PAUSE_PART * took, (u64)PAUSE_MIN, (u64)PAUSE_MAX);
}

static void take(struct tense_survey *survey, const struct tense_where *where)
{
	if (READ_ONCE(survey->full))
		tense_sample_lose(survey, where);
	else if (!tense_sample_is_allowed(survey))
		tense_sample_hide(survey, where);
	else
		tense_sample_take(survey, where);
}

/* Takes the samples of the calling task that are still due. */
static void sample(struct tense_task *t, struct tense_survey *survey)
{
	struct tense_sampler *s = &t->sampler;
	struct tense_where charged = { .kind = TENSE_SAMPLE_THREAD };
	struct tense_where block = { .kind = TENSE_SAMPLE_BLOCK };
	struct tense_where wake = { .kind = TENSE_SAMPLE_WAKE };

	tense_task_lock_irq(t);
	charged.time = vclock_now(&t->exp->vc, &t->v);
	if (s->charged.begun)
		charged.ns = tense_points_pass(&s->charged, t->v.charged.ns, survey);
	charged.flags = !s->due || s->in_kernel ? TENSE_SAMPLE_KERNEL : 0;
	/* R13: entry and return of the interrupt, and Tense's work from its charge to here. */
	if (s->due && !s->in_kernel)
		tense_refund(t, tense_interrupt_cost(survey) + t->v.ran -
				min(t->v.ran, s->ran));
	block.time = s->block.time;
	block.ns = s->block.ns;
	block.flags = s->block.flags | TENSE_SAMPLE_KERNEL;
	block.wake = s->block.wake;
	block.waker = s->block.waker;
	s->block.ns = 0;
	wake.time = charged.time;
	wake.flags = TENSE_SAMPLE_KERNEL;
	wake.wake = s->wake;
	s->wake = 0;
	raw_spin_unlock_irq(&t->lock);
	if (charged.ns)
		take(survey, &charged);
	if (block.ns)
		take(survey, &block);
	if (wake.wake)
		take(survey, &wake);
}

/*
 * R13: the kernel learns the cost of the end of a call. The end of a sample also sets
 * the timer for the next one, and takes longer.
 */
static void refund_end(struct tense_task *t)
{
	struct tense_sampler *s = &t->sampler;

	tense_task_lock_irq(t);
	/* Before the refund lowers it, for time that the next charge will add. */
	s->ended = t->v.ran;
	if (!t->own_work)
		tense_refund(t, min(tense_real_now() - t->left_at, (u64)END_MAX));
	tense_page_update(t);
	raw_spin_unlock_irq(&t->lock);
}

/* Runs as task work: the task holds no lock, and returns to user mode next. */
void tense_sampler(struct callback_head *work)
{
	struct tense_task *t = container_of(work, struct tense_task, sampler.work);
	struct tense_survey *survey = t->exp->survey;
	u64 since = tense_real_now(), now;

	tense_work_begin(t, TENSE_WORK_SAMPLE, false);
	if (tense_may_sample(current))
		sample(t, survey);
	tense_task_lock_irq(t);
	t->sampler.queued = false;
	/* Drops the samples for which the sampler asked when it slept or woke a thread. */
	t->sampler.block.ns = 0;
	t->sampler.wake = 0;
	t->sampler.ends = true;
	t->sampler.tries = t->sampler.due && !t->sampler.in_kernel;
	now = tense_real_now();
	if (t->sampler.due)
		t->sampler.pause_until = now + pause_after(&t->sampler, now);
	t->sampler.due = false;
	raw_spin_unlock_irq(&t->lock);
	tense_work_end(t, TENSE_WORK_SAMPLE);
	tense_task_lock_irq(t);
	t->sampler.ends = false;
	raw_spin_unlock_irq(&t->lock);
	refund_end(t);
	atomic64_add(tense_real_now() - since, &survey->overhead);
}
