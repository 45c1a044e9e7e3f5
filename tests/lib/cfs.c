// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "cfs.h"

#define NICE_0	1024

static bool is_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* Calls a function for each that is ready in a queue. */
static void with_each_ready(struct cfs *cfs, const struct cfs_queue *q,
			    void (*call)(struct cfs_entity *e, void *data), void *data)
{
	struct cfs_queue *group;
	struct cfs_task *t;

	for (t = cfs->task; t < cfs->task + CFS_TASKS; t++)
		if (t->exists && t->entity.ready && t->entity.queue == q)
			call(&t->entity, data);
	for (group = cfs->queue + 1; group < cfs->queue + cfs->queues; group++)
		if (group->group.ready && group->group.queue == q)
			call(&group->group, data);
}

static void count(struct cfs_entity *e, void *n)
{
	(void)e;
	++*(unsigned int *)n;
}

static unsigned int running(struct cfs *cfs, const struct cfs_queue *q)
{
	unsigned int n = 0;

	with_each_ready(cfs, q, count, &n);
	return n;
}

static void add_weight(struct cfs_entity *e, void *sum)
{
	*(u64 *)sum += e->weight;
}

static u64 weight(struct cfs *cfs, const struct cfs_queue *q)
{
	u64 sum = 0;

	with_each_ready(cfs, q, add_weight, &sum);
	return sum;
}

struct choice {
	const struct cfs_entity *but;
	struct cfs_entity *first;
};

static void choose(struct cfs_entity *e, void *data)
{
	struct choice *c = data;

	if (e != c->but && (!c->first || is_before(e->vruntime, c->first->vruntime)))
		c->first = e;
}

static struct cfs_entity *leftmost(struct cfs *cfs, const struct cfs_queue *q,
				   const struct cfs_entity *but)
{
	struct choice c = { .but = but };

	with_each_ready(cfs, q, choose, &c);
	return c.first;
}

static void update_min_vruntime(struct cfs *cfs, struct cfs_queue *q)
{
	const struct cfs_entity *first = leftmost(cfs, q, NULL);

	if (first && is_before(q->min_vruntime, first->vruntime))
		q->min_vruntime = first->vruntime;
}

/* The module does not say which scheduler it asks: this one answers. */
static struct cfs *current_cfs;

static unsigned int depth(const struct cfs_queue *q)
{
	unsigned int n = 0;

	for (; q->group.queue; q = q->group.queue)
		n++;
	return n;
}

struct tense_group tense_group_of(const void *queue)
{
	const struct cfs_queue *q = queue;

	return (struct tense_group){
		.running = running(current_cfs, q),
		.depth = depth(q),
		.min_vruntime = q->min_vruntime,
		.above = q->group.queue,
		.weight = q->group.weight,
		.vruntime = q->group.vruntime,
	};
}

void tense_group_owes(const void *queue, s64 ns)
{
	struct cfs_queue *q = current_cfs->queue;

	while (q != queue)
		q++;
	q->owed += ns;
}

static struct tense_place place_of(struct cfs *cfs, const struct cfs_task *t)
{
	const struct cfs_entity *e = &t->entity;

	return (struct tense_place){
		.queue = e->queue,
		.running = running(cfs, e->queue),
		.weight = e->weight,
		.vruntime = e->vruntime,
		.min_vruntime = e->queue->min_vruntime,
	};
}

/* As place_entity(), with half of the latency for who has slept. */
static void place(struct cfs_entity *e)
{
	u64 least = e->queue->min_vruntime - CFS_LATENCY / 2;

	if (is_before(e->vruntime, least))
		e->vruntime = least;
}

static void enter(struct cfs *cfs, struct cfs_task *t)
{
	struct cfs_entity *e;
	struct tense_place p;

	t->entity.ready = true;
	for (e = &t->entity.queue->group; e->queue && !e->ready; e = &e->queue->group) {
		place(e);
		e->ready = true;
	}
	p = place_of(cfs, t);
	if (t->member)
		tense_ledger_enter(&t->tense, &cfs->ledgers, &p);
}

static void leave(struct cfs *cfs, struct cfs_task *t)
{
	struct cfs_entity *e;

	t->entity.ready = false;
	for (e = &t->entity.queue->group;
	     e->queue && !running(cfs, e->below); e = &e->queue->group)
		e->ready = false;
	if (t->member)
		tense_ledger_leave(&t->tense);
	if (cfs->running == t)
		cfs->running = NULL;
}

/* min_vruntime is soon past the end of its range. */
static struct cfs_queue *add_queue(struct cfs *cfs, struct cfs_queue *above)
{
	struct cfs_queue *q;

	if (cfs->queues == CFS_GROUPS)
		abort();
	q = &cfs->queue[cfs->queues++];
	*q = (struct cfs_queue){
		.min_vruntime = -1000000000ULL,
		.group = {
			.queue = above,
			.below = q,
			.weight = NICE_0,
			.vruntime = above ? above->min_vruntime : 0,
		},
	};
	return q;
}

void cfs_init(struct cfs *cfs, u64 seed, u64 tick)
{
	memset(cfs, 0, sizeof(*cfs));
	cfs->rng.state = seed;
	cfs->tick = tick;
	cfs->next_tick = tick;
	add_queue(cfs, NULL);
}

/* A group, whose own queue it is that is returned. */
struct cfs_queue *cfs_group(struct cfs *cfs, struct cfs_queue *above)
{
	return add_queue(cfs, above);
}

/* As sched_slice(), within one queue. */
static u64 slice(struct cfs *cfs, const struct cfs_queue *q, u64 of)
{
	u64 period = max(CFS_LATENCY, running(cfs, q) * CFS_GRANULE);

	return max(period * of / max(weight(cfs, q), of), CFS_GRANULE);
}

/* A task that goes on at one speed, unless told otherwise. */
struct cfs_task *cfs_add_to(struct cfs *cfs, struct cfs_queue *queue, bool member,
			    double fast)
{
	const struct cfs_task *parent = cfs->running;
	struct cfs_task *t = cfs->task;

	current_cfs = cfs;
	while (t->exists)
		if (++t == cfs->task + CFS_TASKS)
			abort();
	*t = (struct cfs_task){
		.member = member,
		.exists = true,
		.entity.queue = queue,
		.entity.weight = NICE_0,
		/* As the kernel has it: no new turn for who forks instead. */
		.entity.vruntime = queue->min_vruntime +
				   (parent ? slice(cfs, queue, NICE_0) : 0),
		.phase = { fast, CFS_NEVER },
		.until_sleep = CFS_NEVER,
	};
	tense_entity_init(&t->tense, member && parent && parent->member ?
				     &parent->tense : NULL);
	enter(cfs, t);
	return t;
}

struct cfs_task *cfs_add(struct cfs *cfs, bool member, double fast)
{
	return cfs_add_to(cfs, cfs->queue, member, fast);
}

void cfs_end(struct cfs *cfs, struct cfs_task *t)
{
	if (t->entity.ready)
		leave(cfs, t);
	t->exists = false;
}

static void wake(struct cfs *cfs, struct cfs_task *t)
{
	const struct cfs_task *curr = cfs->running;

	place(&t->entity);
	enter(cfs, t);
	if (curr && curr->entity.queue == t->entity.queue &&
	    is_before(t->entity.vruntime + 1000000, curr->entity.vruntime))
		cfs->running = NULL;
}

static u64 next_wake(struct cfs *cfs)
{
	const struct cfs_task *t;
	u64 when = CFS_NEVER;

	for (t = cfs->task; t < cfs->task + CFS_TASKS; t++)
		if (t->exists && !t->entity.ready)
			when = min(when, t->wake);
	return when;
}

static void wake_all(struct cfs *cfs)
{
	struct cfs_task *t;

	for (t = cfs->task; t < cfs->task + CFS_TASKS; t++)
		if (t->exists && !t->entity.ready && t->wake <= cfs->now)
			wake(cfs, t);
}

/* A part of the time that a queue's tasks ran. */
struct part {
	struct cfs *cfs;
	double ns, weight;
};

static void account(struct cfs_entity *e, void *data)
{
	const struct part *of = data;
	struct part part = {
		.cfs = of->cfs,
		.ns = of->ns * (double)e->weight / of->weight,
	};

	e->due += part.ns;
	e->lag = max(e->lag, e->due - e->ran);
	if (!e->below)
		return;
	part.weight = (double)weight(part.cfs, e->below);
	with_each_ready(part.cfs, e->below, account, &part);
}

static u64 share_of(struct cfs *cfs, struct cfs_task *t, u64 delta)
{
	struct tense_place p = place_of(cfs, t);
	u64 charged = (u64)((double)delta / t->phase.fast), share;

	if (!t->member)
		return delta;
	charged = max(charged, 1ULL);
	if (p.running == 1 && p.weight == NICE_0 && tense_ledger_is_alone(&t->tense))
		share = tense_ledger_charge_alone(&t->tense, p.vruntime, charged);
	else
		share = tense_ledger_charge(&t->tense, &p, delta, charged, 0);
	cfs->unpaid += (double)delta - (double)share;
	cfs->most_unpaid = max(cfs->most_unpaid, cfs->unpaid);
	return share;
}

static void run(struct cfs *cfs, struct cfs_entity *e, u64 delta, u64 share)
{
	e->ran += (double)delta;
	e->vruntime += share * NICE_0 / e->weight;
	e->turn += e->below ? delta : share;
	update_min_vruntime(cfs, e->queue);
}

/* Earlier deductions may exceed this charge. */
static u64 group_share(struct cfs_queue *q, u64 delta)
{
	s64 owed = (s64)delta + q->owed;
	s64 share = max_t(s64, min_t(s64, owed, TENSE_SHARE_MAX), 0);

	q->owed = owed - share;
	return share;
}

/* As by tense_settle(), some of it may be charged before its groups are. */
static void charge(struct cfs *cfs, struct cfs_task *t, u64 delta)
{
	struct part all = { .cfs = cfs, .ns = (double)delta };
	u64 before = rng_chance(&cfs->rng, 50) ? delta / 2 : 0;
	struct cfs_entity *e;

	if (before)
		run(cfs, &t->entity, before, share_of(cfs, t, before));
	run(cfs, &t->entity, delta - before, share_of(cfs, t, delta - before));
	for (e = &t->entity.queue->group; e->queue; e = &e->queue->group)
		run(cfs, e, delta, group_share(e->below, delta));
	all.weight = (double)weight(cfs, cfs->queue);
	with_each_ready(cfs, cfs->queue, account, &all);
	cfs->now += delta;
}

/* As check_preempt_tick(). */
static bool is_over(struct cfs *cfs, const struct cfs_entity *e)
{
	const struct cfs_entity *first = leftmost(cfs, e->queue, e);
	u64 ideal = slice(cfs, e->queue, e->weight);

	if (e->turn > ideal)
		return true;
	return e->turn > CFS_GRANULE && first &&
		is_before(first->vruntime + ideal, e->vruntime);
}

static bool any_is_over(struct cfs *cfs, const struct cfs_task *t)
{
	const struct cfs_entity *e;

	for (e = &t->entity; e->queue; e = &e->queue->group)
		if (is_over(cfs, e))
			return true;
	return false;
}

static u64 some(struct cfs *cfs, u64 ns)
{
	return 1 + rng_below(&cfs->rng, 2 * ns);
}

static void go_on(struct cfs *cfs, struct cfs_task *t, u64 ran)
{
	if (t->phase.ns != CFS_NEVER)
		t->phase.ns -= ran;
	if (!t->phase.ns || (t->next && t->phase.ns == CFS_NEVER)) {
		t->phase = t->next(cfs, t);
		t->phases++;
	}
	if (t->runs && t->until_sleep == CFS_NEVER)
		t->until_sleep = some(cfs, t->runs);
	if (t->until_sleep == CFS_NEVER)
		return;
	t->until_sleep -= min(ran, t->until_sleep);
	if (t->until_sleep)
		return;
	t->until_sleep = CFS_NEVER;
	t->wake = cfs->now + some(cfs, t->sleeps);
	leave(cfs, t);
}

/* From the queue that has all groups down. A turn goes on where it is the same. */
static void pick(struct cfs *cfs)
{
	struct cfs_queue *q = cfs->queue;
	struct cfs_entity *e;

	for (; (e = leftmost(cfs, q, NULL)); q = e->below) {
		if (e != q->running || !e->below)
			e->turn = 0;
		q->running = e;
		if (!e->below)
			break;
	}
	cfs->running = (struct cfs_task *)e;	/* the first member of a task */
}

/* To the next tick, or for as long as all do the same. */
static void step(struct cfs *cfs)
{
	struct cfs_task *t = cfs->running;
	u64 ns = min(cfs->next_tick, next_wake(cfs)) - cfs->now;

	if (t) {
		ns = min(ns, min(t->phase.ns, t->until_sleep));
		charge(cfs, t, ns);
	} else {
		cfs->now += ns;
	}
	if (cfs->now == cfs->next_tick) {
		cfs->next_tick += cfs->tick;
		if (t && any_is_over(cfs, t))
			cfs->running = NULL;
	}
	if (t)
		go_on(cfs, t, ns);
}

void cfs_run(struct cfs *cfs, u64 ns)
{
	u64 end = cfs->now + ns;

	current_cfs = cfs;
	while (cfs->now < end) {
		wake_all(cfs);
		if (!cfs->running)
			pick(cfs);
		step(cfs);
	}
}

/* The task's part of the time that the CPU ran. */
double cfs_share(const struct cfs *cfs, const struct cfs_task *t)
{
	return t->entity.ran / (double)cfs->now;
}
