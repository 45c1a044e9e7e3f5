// SPDX-License-Identifier: GPL-2.0
#include "fake-story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define EXPERIMENT	1
#define THREADS_MAX	32

static struct event *add(struct story *s, enum event_kind kind, int32_t pid)
{
	struct event *e;

	if (s->trace.count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->trace.events = xrealloc(s->trace.events, s->room *
					   sizeof(*s->trace.events));
	}
	e = &s->trace.events[s->trace.count];
	memset(e, 0, sizeof(*e));
	e->order = s->trace.count++;
	e->time = STORY_REAL + s->now;
	e->kind = kind;
	e->pid = pid;
	e->experiment = EXPERIMENT;
	return e;
}

static void put_name(int32_t pid, char *name)
{
	snprintf(name, TRACE_NAME, "thread %d", pid);
}

uint64_t story_gvt(const struct story *s)
{
	uint64_t gvt = s->lvt[0];

	for (unsigned int i = 1; i < s->cpus; i++)
		if (s->lvt[i] < gvt)
			gvt = s->lvt[i];
	return gvt;
}

void story_charge_call(struct story *s, int32_t pid, unsigned int cpu,
		       uint64_t real, uint64_t own, unsigned int percent)
{
	struct event *e = add(s, EVENT_CHARGE, pid);

	s->ran[pid % STORY_PIDS] += real - own;
	s->lvt[cpu] += (real - own) * 100 / percent;
	e->cpu = cpu;
	e->charge.real = real;
	e->charge.charged = (real - own) * 100 / percent;
	e->charge.ran = s->ran[pid % STORY_PIDS];
	e->charge.lvt = s->lvt[cpu];
	e->charge.gvt = story_gvt(s);
}

void story_charge(struct story *s, int32_t pid, unsigned int cpu, uint64_t real,
		  unsigned int percent)
{
	story_charge_call(s, pid, cpu, real, 0, percent);
}

void story_switch(struct story *s, unsigned int cpu, int32_t to, bool blocked)
{
	struct event *e = add(s, EVENT_SWITCH, s->on[cpu]);

	e->cpu = cpu;
	e->change.next = to;
	e->change.blocked = blocked;
	put_name(e->pid, e->change.name);
	put_name(to, e->change.next_name);
	s->on[cpu] = to;
}

void story_wake(struct story *s, int32_t pid)
{
	add(s, EVENT_WAKEUP, pid);
}

void story_fork(struct story *s, int32_t parent, int32_t child)
{
	add(s, EVENT_FORK, parent)->fork.child = child;
}

void story_exit(struct story *s, int32_t pid)
{
	add(s, EVENT_EXIT, pid);
}

void story_gate(struct story *s, int32_t pid, unsigned int cpu, bool shut)
{
	struct event *e = add(s, EVENT_GATE, pid);

	e->cpu = cpu;
	e->shut = shut;
	e->gate.lvt = s->lvt[cpu];
	e->gate.gvt = story_gvt(s);
}

void story_percent(struct story *s, int32_t pid, unsigned int cpu,
		   unsigned int percent)
{
	struct event *e = add(s, EVENT_PERCENT, pid);

	e->cpu = cpu;
	e->percent.percent = percent;
	e->percent.lvt = s->lvt[cpu];
}

void story_deadline(struct story *s, int32_t pid, uint64_t when)
{
	struct event *e = add(s, EVENT_DEADLINE, pid);

	e->deadline.when = STORY_VIRTUAL + when;
	e->deadline.gvt = story_gvt(s);
}

void story_migrate(struct story *s, int32_t pid, unsigned int from,
		   unsigned int to)
{
	struct event *e = add(s, EVENT_MIGRATE, pid);

	e->migrate.from = from;
	e->migrate.to = to;
}

void story_begin(struct story *s, unsigned int cpus)
{
	*s = (struct story){ .cpus = cpus };
	s->trace.begin = (struct trace_begin){
		STORY_LAUNCHER, STORY_PROGRAM, STORY_VIRTUAL,
	};
	for (unsigned int i = 0; i < STORY_CPUS; i++)
		s->lvt[i] = STORY_VIRTUAL - 3000;
	/* Times before the program's own. */
	s->now = -9000;
	story_percent(s, STORY_LAUNCHER, 0, 100);
	story_charge(s, STORY_LAUNCHER, 0, 1000, 100);
	story_fork(s, STORY_LAUNCHER, STORY_PROGRAM);
	s->on[0] = STORY_LAUNCHER;
	s->now = -5000;
	story_switch(s, 0, STORY_PROGRAM, true);
	s->now = 0;
	story_charge(s, STORY_PROGRAM, 0, 2000, 100);
	s->now = 100;
	add(s, EVENT_EXEC, STORY_PROGRAM);
	for (unsigned int i = 0; i < STORY_CPUS; i++)
		s->lvt[i] = STORY_VIRTUAL;
}

void story_free(struct story *s)
{
	free(s->trace.events);
	*s = (struct story){ 0 };
}

/* A thread of a random story. */
struct actor {
	enum { READY, RUNS, SLEEPS, GATED } state;
	unsigned int percent;
	unsigned int cpu;	/* last */
	uint64_t charged_at;
};

static unsigned int dice(unsigned int *seed, unsigned int sides)
{
	return rand_r(seed) % sides;
}

static int pick(const struct actor *actors, unsigned int n, int state,
		unsigned int *seed)
{
	unsigned int first = dice(seed, n);

	for (unsigned int i = 0; i < n; i++)
		if ((int)actors[(first + i) % n].state == state)
			return (first + i) % n;
	return -1;
}

static void charge_actor(struct story *s, struct actor *a, int32_t pid)
{
	story_charge(s, pid, a->cpu, s->now - a->charged_at, a->percent);
	a->charged_at = s->now;
}

/* Whoever runs there leaves, and another comes if there is one. */
static void take_turns(struct story *s, struct actor *actors, unsigned int n,
		       unsigned int cpu, int leave_to, unsigned int *seed)
{
	int next = pick(actors, n, READY, seed);

	if (s->on[cpu])
		actors[s->on[cpu] - STORY_PROGRAM].state = leave_to;
	story_switch(s, cpu, next < 0 ? 0 : STORY_PROGRAM + next,
		     leave_to != READY);
	if (next < 0)
		return;
	actors[next].state = RUNS;
	actors[next].cpu = cpu;
	actors[next].charged_at = s->now;
}

static void run_step(struct story *s, struct actor *actors, unsigned int n,
		     unsigned int cpu, unsigned int *seed)
{
	static const unsigned int percents[] = { 50, 100, 200 };
	int32_t pid = s->on[cpu];
	struct actor *a = &actors[pid - STORY_PROGRAM];

	charge_actor(s, a, pid);
	switch (dice(seed, 8)) {
	case 0:
		take_turns(s, actors, n, cpu, SLEEPS, seed);
		break;
	case 1:
		take_turns(s, actors, n, cpu, READY, seed);
		break;
	case 2:
		story_gate(s, pid, cpu, true);
		take_turns(s, actors, n, cpu, GATED, seed);
		break;
	case 3:
		a->percent = percents[dice(seed, 3)];
		story_percent(s, pid, cpu, a->percent);
		break;
	}
}

static void wake_one(struct story *s, struct actor *actors, unsigned int n,
		     unsigned int *seed)
{
	int who = pick(actors, n, SLEEPS, seed);

	if (who < 0)
		who = pick(actors, n, GATED, seed);
	if (who < 0)
		return;
	if (actors[who].state == GATED)
		story_gate(s, STORY_PROGRAM + who, actors[who].cpu, false);
	else
		story_deadline(s, STORY_PROGRAM + who,
			       story_gvt(s) - STORY_VIRTUAL);
	story_wake(s, STORY_PROGRAM + who);
	actors[who].state = READY;
}

void story_random(struct story *s, unsigned int cpus, unsigned int threads,
		  unsigned int steps, unsigned int seed)
{
	struct actor actors[THREADS_MAX] = { 0 };

	story_begin(s, cpus);
	for (unsigned int i = 0; i < THREADS_MAX; i++)
		actors[i].percent = 100;
	for (unsigned int i = 1; i < threads; i++)
		story_fork(s, STORY_PROGRAM, STORY_PROGRAM + i);
	actors[0].state = RUNS;
	actors[0].charged_at = s->now;
	for (unsigned int i = 0; i < steps; i++) {
		unsigned int cpu = dice(&seed, cpus);

		s->now += 1000 + dice(&seed, 200000);
		if (s->on[cpu])
			run_step(s, actors, threads, cpu, &seed);
		else
			take_turns(s, actors, threads, cpu, READY, &seed);
		if (!dice(&seed, 3))
			wake_one(s, actors, threads, &seed);
	}
}
