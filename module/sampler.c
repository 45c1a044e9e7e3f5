// SPDX-License-Identifier: GPL-2.0
/*
 * Takes a sample of a task on its way to user mode. points.c says when, and asks for
 * it. R13: the task is charged neither for the sample nor for the interrupt before it.
 */
#include <linux/ptrace.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>

#include "samples.h"
#include "tense.h"

/*
 * In real ns. After a sample no timer comes for so long: samples must not keep the
 * CPU from the program at a low percent.
 */
#define PAUSE		50000
/* The end of a sample takes less, unless an interrupt came. */
#define END_MAX		20000

/* Takes a sample of the calling task, if it is still due. */
static void sample(struct tense_task *t, struct tense_survey *survey)
{
	struct tense_where where = { .regs = task_pt_regs(current) };

	tense_task_lock_irq(t);
	where.time = vclock_now(&t->exp->vc, &t->v);
	where.ns = tense_points_pass(t, survey);
	where.flags = t->sampler.in_kernel ? TENSE_SAMPLE_KERNEL : 0;
	/* R13: from the interrupt to here, only Tense worked. */
	if (!t->sampler.in_kernel && t->v.ran > t->sampler.ran)
		tense_refund(t, t->v.ran - t->sampler.ran);
	raw_spin_unlock_irq(&t->lock);
	if (where.ns)
		tense_sample_take(survey, &where);
}

/*
 * R13: to set the timer for the next sample takes longer than the end of a call, of
 * which the kernel learns the cost.
 */
static void refund_end(struct tense_task *t)
{
	tense_task_lock_irq(t);
	tense_refund(t, min(tense_real_now() - t->left_at, (u64)END_MAX));
	raw_spin_unlock_irq(&t->lock);
}

/* Runs as task work: the task holds no lock, and returns to user mode next. */
void tense_sampler(struct callback_head *work)
{
	struct tense_task *t = container_of(work, struct tense_task, sampler.work);
	struct tense_survey *survey = t->exp->survey;
	u64 since = tense_real_now();

	tense_work_begin(t, TENSE_WORK_SAMPLE, false);
	if (tense_may_sample(current))
		sample(t, survey);
	tense_task_lock_irq(t);
	t->sampler.queued = false;
	t->sampler.pause_until = local_clock() + PAUSE;
	raw_spin_unlock_irq(&t->lock);
	tense_work_end(t, TENSE_WORK_SAMPLE);
	refund_end(t);
	atomic64_add(tense_real_now() - since, &survey->overhead);
}
