// SPDX-License-Identifier: GPL-2.0
/*
 * Says when a task is sampled. The charged time of each task is divided into periods.
 * Each period has one point, at a random instant, so that regular work of the program
 * meets the points only by chance. An event that finds the charged time beyond a point
 * asks for a sample at the task's return to user mode. Such an event is the CPU's timer,
 * which is set for the point, a tick, a switch to another task, or the end of a call.
 * So time in the kernel counts for the code that called it.
 *
 * sampler.c takes the sample, as task work. t->lock protects the sampler. blocks.c has
 * points of its own, in the time for which a task is blocked.
 */
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <asm/irq_regs.h>

#include "samples.h"
#include "tense.h"

/* The CPU's timer is set for at least this many real ns from now. */
#define TIMER_MIN	5000
/*
 * While a sample ends it is more: where an interrupt takes longer than TIMER_MIN, one after
 * the other would keep the task in its sample.
 */
#define TIMER_MIN_END	50000

/*
 * R13: an interrupt costs the program more than the module's part of it: the entry before
 * and the return after. Trials measure that. At the end of a sample, the module sets a
 * timer TRIAL_MIN later, and in each further trial a little later, up to 40 us. A trial has
 * a result only if its interrupt is the next event, interrupts user mode, and Tense has done
 * no other work since the sample. In the first trials with a result, the program hardly ran:
 * the run time of the task up to the interrupt is the cost. A late interrupt makes a result
 * too large, because the program ran meanwhile. The smallest result is too small, because a
 * trial finds caches warm. So the module takes the lower quartile of the first TENSE_RESULTS
 * results. A time above INTERRUPT_MAX is no result. With fewer than RESULTS_MIN, the module
 * does not refund the interrupt. In real ns.
 */
#define TRIAL_MIN	1000
#define INTERRUPT_MAX	100000
#define RESULTS_MIN	4	/* number of results */

/* Returns a random number below @below: splitmix64. */
static u64 draw(u64 *state, u64 below)
{
	u64 z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return mul_u64_u64_shr(z ^ z >> 31, below, 64);
}

static void begin_period(struct tense_points *p, const struct tense_survey *survey,
			 u64 begin)
{
	p->begin = begin;
	p->length = READ_ONCE(survey->period);
	p->point = begin + draw(&p->random, p->length);
}

/**
 * tense_points_begin() - begin the first period, unless it has begun
 * @p: the points
 * @now: the time so far, virtual ns
 * @seed: of the random points
 * @survey: has the period
 */
void tense_points_begin(struct tense_points *p, u64 now, u64 seed,
			const struct tense_survey *survey)
{
	if (p->begun)
		return;
	p->random = seed;
	begin_period(p, survey, now);
	p->begun = true;
}

/**
 * tense_points_pass() - pass the points up to a time
 * @p: the points
 * @now: the time, virtual ns
 * @survey: has the period
 *
 * Return: the virtual ns for which these points stand: a period each.
 */
u64 tense_points_pass(struct tense_points *p, u64 now, const struct tense_survey *survey)
{
	u64 ns, whole;

	if (now < p->point)
		return 0;
	/* A jump may pass many periods at once. */
	whole = div64_u64(now - p->begin, p->length);
	ns = whole * p->length;
	if (whole)
		begin_period(p, survey, p->begin + ns);
	if (now >= p->point) {
		ns += p->length;
		begin_period(p, survey, p->begin + p->length);
	}
	return ns;
}

/**
 * tense_may_sample() - whether a task runs a program and may be sampled
 * @p: the task
 *
 * Workers of io_uring and vhost never return to user mode, and an exiting task has left
 * it.
 */
bool tense_may_sample(const struct task_struct *p)
{
	return p->mm && !(p->flags & (PF_EXITING | COMPAT_PF_WORKER | PF_KTHREAD));
}

/**
 * tense_sampler_queue() - let a task take its samples before user mode
 * @t: the running task, or one that sleeps and whose pi_lock the caller holds; locked
 */
void tense_sampler_queue(struct tense_task *t)
{
	struct tense_sampler *s = &t->sampler;

	lockdep_assert_held(&t->lock);

	if (!s->queued && tense_may_sample(t->task))
		s->queued = !tense_at_return(t->task, &s->work);
}

static int by_size(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/**
 * tense_interrupt_cost() - cost of an interrupt to the program, without the module's part
 * @s: the survey
 *
 * Return: real ns. 0 until there are TENSE_RESULTS results or all trials have begun, and 0
 *	if these have fewer than RESULTS_MIN results.
 */
u64 tense_interrupt_cost(const struct tense_survey *s)
{
	u64 result[TENSE_RESULTS];
	int n;

	for (n = 0; n < TENSE_RESULTS; n++) {
		result[n] = READ_ONCE(s->result[n]);
		if (!result[n])
			break;
	}
	if (n < RESULTS_MIN || (n < TENSE_RESULTS && atomic_read(&s->trials)))
		return 0;
	sort(result, n, sizeof(*result), by_size, NULL);
	return result[n / 4];
}

/* The timer of a trial has interrupted the program. */
static void note_interrupt(const struct tense_task *t, struct tense_survey *survey)
{
	u64 took = t->v.ran - t->sampler.ended;
	int n;

	if (t->v.ran <= t->sampler.ended || took > INTERRUPT_MAX)
		return;
	n = atomic_fetch_add_unless(&survey->results, 1, TENSE_RESULTS);
	if (n < TENSE_RESULTS)
		WRITE_ONCE(survey->result[n], took);
}

/* Returns the delay of the next trial in real ns, or 0 if none is left. */
static u64 next_trial(struct tense_survey *survey)
{
	u64 delay = TRIAL_MIN;
	int left;

	if (atomic_read(&survey->results) == TENSE_RESULTS)
		return 0;
	left = atomic_dec_if_positive(&survey->trials);
	if (left < 0)
		return 0;
	while (++left < TENSE_TRIALS)
		delay += delay / 8;
	return delay;
}

/*
 * Asks for a sample if the running task has passed a point, or if a trial has ended with a
 * result. The end of a sample asks for none: at a low percent, the task has reached its
 * next point by then, and would never return to user mode. A call of the device asks even
 * during a pause, because its jump belongs to the function that made it.
 */
static void look(struct tense_task *t, struct tense_survey *survey)
{
	struct pt_regs *regs = get_irq_regs();
	struct tense_sampler *s = &t->sampler;
	bool in_kernel = s->queued || !(regs && user_mode(regs));
	bool trial = s->trial && !in_kernel && t->left == TENSE_WORK_SAMPLE;

	lockdep_assert_held(&t->lock);

	/* Any other event than an interrupt of the program ends a trial without a result. */
	s->trial = false;
	tense_points_begin(&s->charged, t->v.charged.ns,
			   survey->seed + ((u64)s->number << 32), survey);
	if (s->due || s->ends ||
	    (t->v.charged.ns < s->charged.point && !trial) ||
	    t->task != current || !tense_may_sample(current))
		return;
	s->due = true;
	s->since = tense_real_now();
	s->in_kernel = in_kernel;
	if (trial)
		note_interrupt(t, survey);
	s->ran = t->v.ran;
	tense_sampler_queue(t);
}

/**
 * tense_sampler_horizon() - time until the CPU's timer has to check for a sample
 * @t: runs on this CPU, charged just now, locked
 *
 * Asks for the sample at once if it is due.
 *
 * Return: real ns, VCLOCK_NEVER if no timer is needed.
 */
u64 tense_sampler_horizon(struct tense_task *t)
{
	/* Pairs with set_survey(). */
	struct tense_survey *survey = smp_load_acquire(&t->exp->survey);
	struct tense_sampler *s = &t->sampler;
	u64 left, ns, now, trial;

	lockdep_assert_held(&t->lock);

	if (!survey)
		return VCLOCK_NEVER;
	look(t, survey);
	if (s->queued || !tense_may_sample(t->task))
		return VCLOCK_NEVER;
	/* Ticks and switches suffice to count the time that finds no room. */
	if (READ_ONCE(survey->full))
		return NSEC_PER_SEC;
	left = s->charged.point - min(s->charged.point, t->v.charged.ns) + t->v.credit.ns;
	/* At least one check per second keeps the product below from overflowing. */
	left = min_t(u64, left, NSEC_PER_SEC);
	ns = div_u64(left * vclock_fine(&t->v), TENSE_PERCENT_REAL * TENSE_FINE);
	now = tense_real_now();
	if (s->pause_until > now)
		ns = max(ns, s->pause_until - now);
	if (s->ends) {
		trial = s->tries ? next_trial(survey) : 0;
		s->tries = false;
		s->trial = trial;
		if (trial)
			return trial;
		ns = max_t(u64, ns, TIMER_MIN_END);
	}
	return clamp(ns, (u64)TIMER_MIN, (u64)NSEC_PER_SEC);
}

/**
 * tense_sampler_stops() - sample a task that has passed a point and stops running
 * @t: the task
 *
 * Caller holds the run queue lock.
 */
void tense_sampler_stops(struct tense_task *t)
{
	/* Pairs with set_survey(). */
	struct tense_survey *survey = smp_load_acquire(&t->exp->survey);

	if (!survey)
		return;
	raw_spin_lock(&t->lock);
	if (!t->in_call)
		look(t, survey);
	raw_spin_unlock(&t->lock);
}
