// SPDX-License-Identifier: GPL-2.0
#include "agenda.h"
#include "memory.h"
#include "oracle.h"

enum state {
	UNBORN,
	COMING,			/* wants its CPU at a time */
	QUEUED,
	RUNNING,		/* until a time */
	WAITING,
	WAITING_UNTIL,
	SLEEPING,
	OUTSIDE,
	GONE,
};

struct oracle {
	struct play play;
	struct results *results;
	struct agenda agenda;	/* times of tasks */
	enum state *state;
	int *next;		/* on a CPU's queue */
	struct waiters *cpu;	/* the first one runs */
	unsigned int alive;
};

void results_init(struct results *r, const struct program *p)
{
	r->ops = 0;
	r->first = zalloc(p->tasks + 1, sizeof(*r->first));
	for (unsigned int t = 0; t < p->tasks; t++) {
		r->first[t] = r->ops;
		r->ops += p->task[t].ops;
	}
	r->of = zalloc(r->ops + 1, sizeof(*r->of));
}

void results_free(struct results *r)
{
	free(r->of);
	free(r->first);
}

static void done(struct play *p, int task)
{
	struct oracle *o = p->driver;
	const struct player *t = &p->player[task];

	result_of(o->results, task, t->at)->span = t->span;
}

static void plan(struct oracle *o, int task, enum state state, fixed_t at)
{
	o->state[task] = state;
	agenda_set(&o->agenda, (unsigned int)task, at);
}

static void wake(struct play *p, int task, int by)
{
	struct oracle *o = p->driver;

	(void)by;
	if (o->state[task] == UNBORN)
		o->alive++;
	plan(o, task, COMING, p->player[task].span.exact);
}

static void run(struct oracle *o, int task);

static void start_next(struct oracle *o, unsigned int cpu)
{
	int task = o->cpu[cpu].first;

	if (task == NONE)
		return;
	play_starts(&o->play, task);
	run(o, task);
}

static void enqueue(struct oracle *o, int task)
{
	unsigned int cpu = o->play.player[task].cpu;
	struct waiters *w = &o->cpu[cpu];

	plan(o, task, QUEUED, AGENDA_NEVER);
	o->next[task] = NONE;
	if (w->first != NONE) {
		o->next[w->last] = task;
		w->last = task;
		return;
	}
	w->first = w->last = task;
	start_next(o, cpu);
}

/* @task, which ran on @cpu, is not ready there any more. */
static void give_up(struct oracle *o, int task, unsigned int cpu)
{
	struct waiters *w = &o->cpu[cpu];

	w->first = o->next[task];
	start_next(o, cpu);
}

/* @task runs, until it takes time. */
static void run(struct oracle *o, int task)
{
	struct player *t = &o->play.player[task];
	unsigned int cpu = t->cpu;
	uint64_t amount;
	enum need need;

	do {
		need = play_next(&o->play, task, fixed_ns(t->span.exact),
				 &amount);
	} while (need == NEED_NOTHING);

	if (need == NEED_CPU || need == NEED_KERNEL) {
		plan(o, task, RUNNING, t->span.exact +
		     model_virtual(amount, t->percent * 1000));
		return;
	}
	if (need != NEED_MOVE)
		play_stops(&o->play, task);
	if (need == NEED_WAKING)
		plan(o, task, WAITING, AGENDA_NEVER);
	else if (need == NEED_WAKING_IN)
		plan(o, task, WAITING_UNTIL, t->span.exact +
		     fixed_from(t->script->op[t->at].amount));
	else if (need == NEED_TIME)
		plan(o, task, SLEEPING, t->script->op[t->at].kind == OP_SLEEP ?
		     t->span.exact + fixed_from(t->script->op[t->at].amount) :
		     fixed_from(amount));
	else if (need == NEED_OUTSIDE)
		plan(o, task, OUTSIDE, t->span.exact + fixed_from(amount));
	else if (need == NEED_MOVE)
		plan(o, task, COMING, t->span.exact);
	else
		plan(o, task, GONE, AGENDA_NEVER);
	o->alive -= need == NEED_END;
	give_up(o, task, cpu);
}

/* The time has come for what @task waits for. */
static void handle(struct oracle *o, int task)
{
	switch (o->state[task]) {
	case COMING:
		enqueue(o, task);
		return;
	case RUNNING:
		play_ran(&o->play, task);
		run(o, task);
		return;
	case WAITING_UNTIL:
		play_timeout(&o->play, task);
		break;
	case SLEEPING:
		play_slept(&o->play, task);
		break;
	default:
		play_returned(&o->play, task);
	}
	enqueue(o, task);
}

static void oracle_init(struct oracle *o, const struct program *p)
{
	play_init(&o->play, p);
	o->play.driver = o;
	o->play.wake = wake;
	o->play.done = done;
	agenda_init(&o->agenda, p->tasks);
	o->state = zalloc(p->tasks, sizeof(*o->state));
	o->next = zalloc(p->tasks, sizeof(*o->next));
	o->cpu = zalloc(p->setup.cpus, sizeof(*o->cpu));
	for (uint32_t k = 0; k < p->setup.cpus; k++)
		o->cpu[k].first = NONE;
	for (unsigned int t = 0; t < p->tasks; t++) {
		if (p->task[t].forked)
			continue;
		o->alive++;
		plan(o, (int)t, COMING, 0);
	}
}

static void oracle_free(struct oracle *o)
{
	play_free(&o->play);
	agenda_free(&o->agenda);
	free(o->state);
	free(o->next);
	free(o->cpu);
}

bool oracle_run(const struct program *p, struct results *r, bool *determinate)
{
	struct oracle o = { .results = r };
	unsigned int task;
	bool ended;
	fixed_t at;

	oracle_init(&o, p);
	while (agenda_first(&o.agenda, &task, &at)) {
		agenda_set(&o.agenda, task, AGENDA_NEVER);
		handle(&o, (int)task);
	}
	ended = !o.alive;
	*determinate = o.play.determinate;
	oracle_free(&o);
	return ended;
}
