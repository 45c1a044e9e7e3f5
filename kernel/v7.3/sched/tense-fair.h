/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tense: the fair class of Linux 7.3, EEVDF, as tense.c sees it.
 *
 * All tasks of a CPU wait in one queue, with weights that include those of their
 * groups. Groups have no turns. If a limit stops a group, others get that CPU time, and
 * the experiment must not give it to its tasks elsewhere (R12). So fair_queue() names a
 * queue of its own for tasks below such a group, although they wait in that of the CPU.
 *
 * Slices, protection and lag count vruntime, so that a turn needs no count of its
 * own. The timer for its end needs to know how fast vruntime passes.
 */
#ifndef _KERNEL_SCHED_TENSE_FAIR_H
#define _KERNEL_SCHED_TENSE_FAIR_H

/*
 * Returns the queue by which the module tells apart which tasks share: that of the
 * nearest group with a limit, or that of the CPU.
 */
static inline struct cfs_rq *fair_queue(struct sched_entity *se)
{
#ifdef CONFIG_CFS_BANDWIDTH
	for (; se->parent; se = se->parent)
		if (cfs_rq_of(se)->runtime_enabled)
			return cfs_rq_of(se);
#endif
	return &rq_of(cfs_rq_of(se))->cfs;
}

/* Returns the weight of a task in the queue of its CPU. */
static inline unsigned long fair_weight(const struct sched_entity *se)
{
	return se->h_load.weight;
}

/* Returns the number of runnable tasks of the CPU, the running one included. */
static inline unsigned int fair_running(struct cfs_rq *cfs_rq)
{
	return rq_of(cfs_rq)->cfs.h_nr_runnable;
}

/*
 * Returns the vruntime that has passed on a CPU: the average over its tasks. It falls
 * when one comes in that lags behind, or when one leaves that is ahead.
 */
static inline u64 fair_reached(struct cfs_rq *cfs_rq)
{
	return avg_vruntime(&rq_of(cfs_rq)->cfs);
}

#ifdef CONFIG_FAIR_GROUP_SCHED
static inline struct sched_entity *fair_group(const struct cfs_rq *cfs_rq)
{
	return tg_se(cfs_rq->tg, cpu_of(cfs_rq->rq));
}
#endif

/* A group has no turns that the module could pass on: as if it had a limit. */
static inline bool fair_limited(const struct cfs_rq *cfs_rq)
{
	return true;
}

/* Whether the limit of a group has taken a runnable task out of its queue. */
static inline bool fair_is_stopped(const struct task_struct *p)
{
#ifdef CONFIG_CFS_BANDWIDTH
	return p->throttled;
#else
	return false;
#endif
}

static inline void fair_turn_begin(struct task_struct *p) { }

/* The task has run for @ran ns, which use up @ns of its turn. */
static inline void fair_turn_add(struct task_struct *p, u64 ran, u64 ns)
{
	if (ns)
		p->tense_pace = div64_u64(ran << 10, ns);
}

#endif
