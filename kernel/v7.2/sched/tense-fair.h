/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tense: the fair class of Linux 7.2, EEVDF, as tense.c sees it.
 *
 * Slices, protection and lag count vruntime, so that a turn needs no count of its
 * own. The timer for its end needs to know how fast vruntime passes.
 */
#ifndef _KERNEL_SCHED_TENSE_FAIR_H
#define _KERNEL_SCHED_TENSE_FAIR_H

/* Returns the queue in which an entity waits for its turn. */
static inline struct cfs_rq *fair_queue(struct sched_entity *se)
{
	return cfs_rq_of(se);
}

/* Returns the weight by which it shares that queue. */
static inline unsigned long fair_weight(const struct sched_entity *se)
{
	return se->load.weight;
}

/* Returns the number of tasks and groups that wait for turns in a queue. */
static inline unsigned int fair_running(const struct cfs_rq *cfs_rq)
{
	return cfs_rq->nr_queued - cfs_rq->tense.delayed;
}

/*
 * Returns the vruntime that has passed in a queue: the average over its entities.
 * It falls when one comes in that lags behind, or when one leaves that is ahead.
 */
static inline u64 fair_reached(struct cfs_rq *cfs_rq)
{
	return avg_vruntime(cfs_rq);
}

#ifdef CONFIG_FAIR_GROUP_SCHED
static inline struct sched_entity *fair_group(const struct cfs_rq *cfs_rq)
{
	return tg_se(cfs_rq->tg, cpu_of(cfs_rq->rq));
}
#endif

/* Whether the group of a queue has a limit on its CPU time. */
static inline bool fair_limited(const struct cfs_rq *cfs_rq)
{
#ifdef CONFIG_CFS_BANDWIDTH
	return cfs_rq->runtime_enabled;
#else
	return false;
#endif
}

/* A limit stops whole queues. */
static inline bool fair_is_stopped(const struct task_struct *p)
{
	return false;
}

static inline void fair_turn_begin(struct task_struct *p) { }

/* The task has run for @ran ns, which use up @ns of its turn. */
static inline void fair_turn_add(struct task_struct *p, u64 ran, u64 ns)
{
	if (ns)
		p->tense_pace = div64_u64(ran << 10, ns);
}

#endif
