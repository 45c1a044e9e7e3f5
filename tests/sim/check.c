// SPDX-License-Identifier: GPL-2.0
/* Checks the invariants that hold after every step. */
#include <stddef.h>

#include "sim.h"

static void check_cpu(struct sim *s, unsigned int k)
{
	const struct cpu *c = &s->cpu[k];
	uint64_t lvt = fixed_ns(s->m.cpu[k].lvt), ahead;
	unsigned int tasks = s->m.cpu[k].tasks;

	if (s->vcpu[k].tasks != tasks || s->vcpu[k].lvt.ns != lvt)
		sim_fail(s, "CPU %u: %u tasks at %llu, not %u at %llu", k,
			 s->vcpu[k].tasks,
			 (unsigned long long)s->vcpu[k].lvt.ns, tasks,
			 (unsigned long long)lvt);
	if (!tasks)
		return;
	/* R5 */
	if (lvt < vclock_reached(&s->vc))
		sim_fail(s, "CPU %u is active at %llu, behind GVT", k,
			 (unsigned long long)lvt);
	ahead = lvt - vclock_reached(&s->vc);
	/* R6 */
	if (ahead > s->m.window + c->over)
		sim_fail(s, "CPU %u is %llu ahead, %llu more than one step", k,
			 (unsigned long long)ahead,
			 (unsigned long long)(ahead - s->m.window - c->over));
	/* R6: progress; nobody waits for what has come, the slowest least. */
	if (c->gated && ahead <= s->m.window / 2)
		sim_fail(s, "CPU %u is gated at %llu with GVT at %llu", k,
			 (unsigned long long)lvt,
			 (unsigned long long)vclock_reached(&s->vc));
	if (tasks > c->gated && c->running == NONE && !c->others_until)
		sim_fail(s, "CPU %u has a task to run and does not", k);
}

static void check_queue(struct sim *s, bool release)
{
	const struct vclock_deadline *found = release ? s->vc.first_release : s->vc.first;
	struct model_task *first = model_first(&s->m, release);
	struct vclock_deadline *d = NULL;

	if (first)
		d = &s->task[first - s->m.task].v.deadline;
	if (found != d)
		sim_fail(s, "the first %s is at %llu, not at %llu",
			 release ? "release" : "deadline",
			 (unsigned long long)(found ? found->when : NEVER),
			 (unsigned long long)(first ? first->when : NEVER));
	/* R7: none is late, in virtual time, at the end of a step. */
	if (d && d->when <= vclock_reached(&s->vc))
		sim_fail(s, "a %s at %llu has not fired",
			 release ? "release" : "deadline",
			 (unsigned long long)d->when);
}

static void check_task(struct sim *s, int t)
{
	const struct vclock_task *v = &s->task[t].v;
	bool on_cpu = s->task[t].state == READY || s->task[t].state == GATED;
	bool due = s->task[t].state == GATED || s->task[t].state == SLEEPING ||
		   s->task[t].state == HELD;

	if ((v->cpu >= 0) != on_cpu)
		sim_fail(s, "task %d in state %d is on CPU %d", t,
			 (int)s->task[t].state, v->cpu);
	if (due && !vclock_armed(&v->deadline))
		sim_fail(s, "task %d waits for a deadline that is lost", t);
	if (vclock_armed(&v->deadline) != model_of(s, t)->queued)
		sim_fail(s, "task %d: its deadline is %squeued", t,
			 vclock_armed(&v->deadline) ? "" : "not ");
	/* Without asking for it, which would bring it up to date. */
	if (v->seen != model_of(s, t)->seen || v->seen < s->task[t].told)
		sim_fail(s, "task %d has seen %llu, not %llu", t,
			 (unsigned long long)v->seen,
			 (unsigned long long)model_of(s, t)->seen);
}

void check_all(struct sim *s)
{
	for (unsigned int k = 0; k < s->cpus; k++)
		check_cpu(s, k);
	for (unsigned int t = 0; t < s->tasks; t++)
		if (s->task[t].state != UNUSED)
			check_task(s, (int)t);
}

void check_step(struct sim *s)
{
	if (vclock_active(&s->vc) != model_active(&s->m))
		sim_fail(s, "%u CPUs are active, not %u", vclock_active(&s->vc),
			 model_active(&s->m));
	if (vclock_skew(&s->vc) != s->m.skew)
		sim_fail(s, "the worst skew is %llu, not %llu",
			 (unsigned long long)vclock_skew(&s->vc),
			 (unsigned long long)s->m.skew);
	check_queue(s, false);
	check_queue(s, true);
	if (s->cpus <= 64 || s->step % 64 == 0)
		check_all(s);
}

/* R11: nothing is left. */
void check_end(struct sim *s)
{
	check_all(s);
	if (s->alive || vclock_active(&s->vc) || s->vc.first || s->vc.outside)
		sim_fail(s, "left: %u tasks, %u CPUs, %u outside, %s deadline",
			 s->alive, vclock_active(&s->vc), s->vc.outside,
			 s->vc.first ? "a" : "no");
	for (unsigned int i = 1; i < 2 * gvt_leaves(s->cpus); i++)
		if (s->memory.least[i] != VCLOCK_NEVER)
			sim_fail(s, "the tree still has an LVT at %u", i);
}
