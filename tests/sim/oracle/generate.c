// SPDX-License-Identifier: GPL-2.0
/*
 * A program is made by executing it: a task or two at a time do something
 * that they can do there and then, and it is appended to what they do. So
 * there is one order in which all of it can happen, and no deadlock.
 */
#include <stdlib.h>

#include "../rng.h"
#include "generate.h"
#include "memory.h"

/* More tasks than that talk to their neighbours only. */
#define PAIRS_MAX	64
#define MUTEXES		3
#define SEMAPHORES	4	/* for all to post and to wait for */

struct maker {
	struct program *p;
	struct rng rng;
	enum style style;
	unsigned int tasks;	/* begin by themselves */
	unsigned int *signals;	/* per task: signals of its condition */
	unsigned int tokens[SEMAPHORES];	/* posted, without a waiter */
	unsigned int *child;	/* not joined yet */
	unsigned int children;
	unsigned int semaphores;	/* in use */
	uint32_t unused_cpu;	/* from here on */
	uint64_t longest;	/* ns of one operation */
	uint64_t cursor, gap;	/* virtual; of spaced programs */
};

const char *const style_name[STYLES] = { "flow", "spaced", "crowd" };

static uint64_t some_ns(struct maker *m)
{
	if (rng_chance(&m->rng, 50))
		return 1 + rng_below(&m->rng, m->longest);
	return rng_scale(&m->rng, m->longest);
}

static unsigned int some_task(struct maker *m)
{
	unsigned int t = (unsigned int)rng_below(&m->rng,
						 m->tasks + m->children);

	return t < m->tasks ? t : m->child[t - m->tasks];
}

/* One that @t may talk to. */
static unsigned int peer_of(struct maker *m, unsigned int t)
{
	unsigned int peer;

	if (m->tasks > PAIRS_MAX)
		return (t + 1) % m->tasks;
	peer = (unsigned int)rng_below(&m->rng, m->tasks - 1);
	return peer < t ? peer : peer + 1;
}

/* A number for each pair that may talk to each other. */
static uint32_t pair(const struct maker *m, unsigned int from, unsigned int to)
{
	if (m->tasks > PAIRS_MAX)
		return from;
	return from * m->tasks + to;
}

/* In spaced programs, what follows happens when nothing else does. */
static void space(struct maker *m, unsigned int t)
{
	if (m->style != STYLE_SPACED)
		return;
	m->cursor += m->gap;
	program_op(m->p, t, OP_UNTIL, 0, m->cursor);
}

static void add(struct maker *m, unsigned int t, enum op_kind kind,
		uint32_t object, uint64_t amount)
{
	program_op(m->p, t, kind, object, amount);
}

static void do_compute(struct maker *m)
{
	unsigned int t = some_task(m);

	space(m, t);
	add(m, t, rng_chance(&m->rng, 90) ? OP_COMPUTE : OP_KERNEL, 0,
	    some_ns(m));
}

static uint32_t some_percent(struct maker *m)
{
	static const uint32_t percents[] = {
		20, 50, 80, 100, 101, 125, 200, 333, 1000
	};

	return percents[rng_below(&m->rng, 9)];
}

static void do_percent(struct maker *m)
{
	add(m, some_task(m), OP_PERCENT, 0, some_percent(m));
}

static void do_sleep(struct maker *m)
{
	unsigned int t = some_task(m);

	space(m, t);
	if (rng_chance(&m->rng, 70))
		add(m, t, OP_SLEEP, 0, some_ns(m));
	else
		add(m, t, OP_UNTIL, 0, m->cursor + some_ns(m));
}

static void do_io(struct maker *m)
{
	unsigned int t = some_task(m);

	space(m, t);
	add(m, t, OP_IO, 0, some_ns(m));
}

static void do_hand_over(struct maker *m)
{
	unsigned int t = (unsigned int)rng_below(&m->rng, m->tasks);
	unsigned int to;

	if (m->tasks < 2)
		return;
	to = peer_of(m, t);
	space(m, t);
	add(m, t, OP_POST, SEMAPHORES + pair(m, t, to), 0);
	space(m, to);
	add(m, to, OP_WAIT, SEMAPHORES + pair(m, t, to), 0);
}

static void do_pipe(struct maker *m)
{
	unsigned int t = (unsigned int)rng_below(&m->rng, m->tasks);
	uint32_t pipe;
	uint64_t room, n;
	unsigned int to;

	if (m->tasks < 2)
		return;
	to = peer_of(m, t);
	pipe = pair(m, t, to);
	room = 1 + pipe % 3;
	for (n = 1 + rng_below(&m->rng, room); n; n--) {
		space(m, t);
		add(m, t, OP_PUT, pipe, room);
		space(m, to);
		add(m, to, OP_GET, pipe, 0);
		add(m, to, OP_COMPUTE, 0, some_ns(m));
	}
}

static void do_signal(struct maker *m)
{
	unsigned int t = (unsigned int)rng_below(&m->rng, m->tasks);
	unsigned int waits = some_task(m);

	if (rng_chance(&m->rng, 60)) {
		unsigned int by = m->style == STYLE_FLOW ? t : some_task(m);

		space(m, by);
		add(m, by, OP_SIGNAL, t, 0);
		m->signals[t]++;
	}
	if (!m->signals[t])
		return;
	space(m, waits);
	add(m, waits, OP_AWAIT, t, 1 + rng_below(&m->rng, m->signals[t]));
}

/* For what all do: often enough among few tasks, now and then among many. */
static bool too_often(struct maker *m)
{
	return rng_below(&m->rng, m->tasks) >= 8;
}

static void do_barrier(struct maker *m)
{
	if (too_often(m))
		return;
	for (unsigned int t = 0; t < m->tasks; t++) {
		space(m, t);
		add(m, t, OP_BARRIER, 0, 0);
	}
}

/* All at once, as a parallel loop does. */
static void do_round(struct maker *m)
{
	if (too_often(m))
		return;
	for (unsigned int t = 0; t < m->tasks; t++) {
		space(m, t);
		add(m, t, OP_COMPUTE, 0, some_ns(m));
	}
	if (m->tasks < 2)
		return;
	for (unsigned int t = 0; t < m->tasks; t++) {
		unsigned int to = (t + 1) % m->tasks;

		space(m, t);
		add(m, t, OP_POST, SEMAPHORES + pair(m, t, to), 0);
		space(m, to);
		add(m, to, OP_WAIT, SEMAPHORES + pair(m, t, to), 0);
	}
}

static void do_fork(struct maker *m)
{
	unsigned int t = some_task(m), child;
	uint32_t cpu;

	if (m->p->tasks >= 3 * m->tasks + 3)
		return;
	cpu = (uint32_t)rng_below(&m->rng, m->p->setup.cpus);
	if (m->style == STYLE_FLOW) {
		if (m->unused_cpu == m->p->setup.cpus)
			return;
		cpu = m->unused_cpu++;
	}
	child = program_task(m->p, cpu, 100);
	m->p->task[child].forked = true;
	space(m, t);
	add(m, t, OP_FORK, child, 0);
	add(m, child, OP_COMPUTE, 0, some_ns(m));
	m->child = again(m->child, m->children + 1, sizeof(*m->child));
	m->child[m->children++] = child;
}

static void do_join(struct maker *m)
{
	unsigned int t = (unsigned int)rng_below(&m->rng, m->tasks), which;

	if (!m->children)
		return;
	which = (unsigned int)rng_below(&m->rng, m->children);
	space(m, t);
	add(m, t, OP_JOIN, m->child[which], 0);
	m->child[which] = m->child[--m->children];
}

static void do_migrate(struct maker *m)
{
	unsigned int t = some_task(m);
	uint32_t cpu = (uint32_t)rng_below(&m->rng, m->p->setup.cpus);

	if (m->style == STYLE_FLOW) {
		if (m->unused_cpu == m->p->setup.cpus)
			return;
		cpu = m->unused_cpu++;
	}
	space(m, t);
	add(m, t, OP_MIGRATE, cpu, 0);
}

/* From here on what may come in another order, and matters then. */
static void do_lock(struct maker *m)
{
	unsigned int t = some_task(m);
	uint32_t mutex = (uint32_t)rng_below(&m->rng, MUTEXES);

	space(m, t);
	add(m, t, OP_LOCK, mutex, 0);
	add(m, t, OP_COMPUTE, 0, some_ns(m));
	if (rng_chance(&m->rng, 20))
		add(m, t, OP_SLEEP, 0, some_ns(m));
	add(m, t, OP_UNLOCK, mutex, 0);
}

static void do_post(struct maker *m)
{
	uint32_t s = (uint32_t)rng_below(&m->rng, SEMAPHORES);
	unsigned int t = some_task(m);

	space(m, t);
	add(m, t, OP_POST, s, 0);
	m->tokens[s]++;
}

/*
 * Waits for the remaining tokens come last. An earlier wait might take a token
 * from a task that cannot go on without it.
 */
static void take_posts(struct maker *m)
{
	for (uint32_t s = 0; s < SEMAPHORES; s++) {
		while (m->tokens[s]--) {
			unsigned int t = (unsigned int)rng_below(&m->rng,
								 m->tasks);

			space(m, t);
			add(m, t, OP_WAIT, s, 0);
		}
	}
}

/* A semaphore of its own, so that nobody waits for what was not taken. */
static void do_timed(struct maker *m)
{
	unsigned int t = some_task(m), by = some_task(m);
	uint32_t s = m->semaphores++;

	if (by != t && rng_chance(&m->rng, 70)) {
		space(m, by);
		add(m, by, OP_POST, s, 0);
	}
	space(m, t);
	add(m, t, OP_TIMED, s, some_ns(m));
}

typedef void (*do_fn)(struct maker *m);

/* A flow leaves out the last ones. */
static const do_fn doing[] = {
	do_compute, do_compute, do_compute, do_compute, do_percent, do_sleep,
	do_io, do_hand_over, do_hand_over, do_pipe, do_pipe, do_signal,
	do_signal, do_barrier, do_round, do_fork, do_join, do_migrate,
	do_lock, do_lock, do_post, do_post, do_timed,
};

#define DOING		(sizeof(doing) / sizeof(doing[0]))
#define DOING_FLOW	(DOING - 5)

static void set_up(struct maker *m, uint32_t cpus)
{
	static const uint64_t windows[] = { 20000, 100000, 500000, 2000000 };
	struct setup *s = &m->p->setup;

	s->cpus = cpus;
	s->seed = rng_next(&m->rng);
	s->window = windows[rng_below(&m->rng, 4)];
	s->tick = s->window / 4 << 2 * rng_below(&m->rng, 3);
	s->skip = rng_chance(&m->rng, 20);
	/* CPUs that are not alike, so that some get ahead. */
	if (rng_chance(&m->rng, 70))
		s->slow = (uint32_t)rng_below(&m->rng, 600);
	if (rng_chance(&m->rng, 50)) {
		s->noise = (uint32_t)rng_scale(&m->rng, 80);
		s->noise_ns = s->window / 8 +
			rng_scale(&m->rng, 4 * s->window);
	}
	/* Half of the machines react at once: there the bounds are tight. */
	if (rng_chance(&m->rng, 50)) {
		s->lateness = rng_scale(&m->rng, s->window / 4);
		s->latency = rng_scale(&m->rng, s->window / 8);
		s->apart = rng_below(&m->rng, 200);
	}
}

/* More than slack_of() will say, whatever comes: percents are at least 20. */
static uint64_t gap_of(const struct maker *m)
{
	const struct setup *s = &m->p->setup;

	return 8 * (s->window + 5 * (3 * (s->lateness + s->apart) +
				     2 * s->latency + s->tick + m->longest +
				     1000));
}

static void add_tasks(struct maker *m)
{
	bool varied = rng_chance(&m->rng, 50);
	uint32_t cpus = m->p->setup.cpus;

	if (m->style != STYLE_FLOW) {
		m->tasks = 1 + (unsigned int)rng_below(&m->rng,
						       cpus > 8 ? cpus : 3 * cpus);
	} else {
		/* Some CPUs are kept for those that are forked or migrate. */
		m->tasks = cpus - (uint32_t)rng_below(&m->rng, (cpus + 2) / 3);
		m->unused_cpu = m->tasks;
	}
	for (unsigned int t = 0; t < m->tasks; t++)
		program_task(m->p, m->style == STYLE_FLOW ? t :
			     (uint32_t)rng_below(&m->rng, cpus),
			     varied ? some_percent(m) : 100);
}

void generate(struct program *p, uint64_t seed, enum style style, uint32_t cpus)
{
	struct maker m = {
		.p = p, .rng = { seed }, .style = style,
	};
	unsigned int kinds = style == STYLE_FLOW ? DOING_FLOW : DOING;
	unsigned int mix, rounds;

	*p = (struct program) { 0 };
	set_up(&m, cpus);
	add_tasks(&m);
	m.signals = zalloc(m.tasks, sizeof(*m.signals));
	m.semaphores = SEMAPHORES + (m.tasks > PAIRS_MAX ? m.tasks :
				     m.tasks * m.tasks);
	m.longest = p->setup.window >> 3 << rng_below(&m.rng, 8);
	m.gap = gap_of(&m);
	/* Half of them are pure: a few actions, many times. */
	mix = (unsigned int)rng_next(&m.rng);
	if (rng_chance(&m.rng, 50))
		mix &= (unsigned int)rng_next(&m.rng);
	rounds = 10 + (unsigned int)rng_below(&m.rng, 60 + 4 * m.tasks);
	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int which = (unsigned int)rng_below(&m.rng, kinds);

		doing[mix & 1U << which ? which : 0](&m);
	}
	take_posts(&m);
	free(m.signals);
	free(m.child);
}
