// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "play.h"

/* --- what is wished for first --- */

/* True if the two happen in this order on any machine with that much slack. */
static bool certain(const struct play *p, fixed_t earlier, fixed_t later)
{
	return earlier + p->slack.order < later;
}

static void wish(struct play *p, struct wish *w, int task, int cpu)
{
	const struct span *span = &p->player[task].span;

	if (w->task != NONE && w->task != task &&
	    (cpu < 0 || w->cpu != cpu) &&
	    !certain(p, w->span.high, span->low))
		p->determinate = false;
	*w = (struct wish) { *span, task, cpu };
}

/*
 * Whether @task has to wait for a token decides whether others that share its
 * CPU run before it does.
 */
static void wish_to_stay(struct play *p, int task, fixed_t low, fixed_t high)
{
	const struct player *t = &p->player[task];

	if (p->shared[t->cpu] && !certain(p, high, t->span.low) &&
	    !certain(p, t->span.high, low))
		p->determinate = false;
}

/* --- waiting --- */

static void queue(struct play *p, struct waiters *w, int task)
{
	p->player[task].next = NONE;
	if (w->first == NONE)
		w->first = task;
	else
		p->player[w->last].next = task;
	w->last = task;
}

static int dequeue(struct play *p, struct waiters *w)
{
	int task = w->first;

	if (task != NONE)
		w->first = p->player[task].next;
	return task;
}

static void unqueue(struct play *p, struct waiters *w, int task)
{
	struct waiters rest = { NONE, NONE };
	int t;

	while ((t = dequeue(p, w)) != NONE)
		if (t != task)
			queue(p, &rest, t);
	*w = rest;
}

/* @task comes to know what @token says. */
static void receive(struct play *p, int task, const struct token *token)
{
	struct player *t = &p->player[task];
	struct span span = token->span;

	if (token->cpu == NONE)
		return;
	if (token->cpu != (int)t->cpu) {
		wish_to_stay(p, task, span.low, span.high);
		span.hops++;
		span.low = fixed_less(span.low, p->slack.skew);
		span.high += p->slack.wake;
	}
	t->span = span_join(t->span, span);
}

static struct token token_of(const struct play *p, int task)
{
	return (struct token) {
		.span = p->player[task].span,
		.cpu = (int)p->player[task].cpu,
	};
}

static struct token token_join(struct token a, struct token b)
{
	if (a.cpu == NONE)
		return b;
	a.span = span_join(a.span, b.span);
	if (a.cpu != b.cpu)
		a.cpu = MANY;
	return a;
}

/*
 * @task waits no more and wants its CPU, because of an event on @cpu. An event
 * of another CPU may overtake.
 */
static void ready(struct play *p, int task, int cpu)
{
	struct player *t = &p->player[task];

	t->pending = true;
	if (cpu != (int)t->cpu && p->program->setup.latency)
		cpu = NONE;
	wish(p, &p->arrival[t->cpu], task, cpu);
}

static void wake(struct play *p, int task, int by, const struct token *token)
{
	receive(p, task, token);
	ready(p, task, (int)p->player[by].cpu);
	p->wake(p, task, by);
}

/* --- semaphores, which mutexes and pipes are made of --- */

static bool is_timed(const struct play *p, int task)
{
	const struct player *t = &p->player[task];

	return t->script->op[t->at].kind == OP_TIMED;
}

static void put_token(struct semaphore *s, struct token token)
{
	if (s->tokens == s->room) {
		s->room = s->room ? 2 * s->room : 4;
		s->token = again(s->token, s->room, sizeof(*s->token));
	}
	s->token[s->tokens++] = token;
}

static struct token take_token(struct semaphore *s)
{
	struct token token = s->token[0];

	memmove(s->token, s->token + 1, --s->tokens * sizeof(*s->token));
	return token;
}

static void post(struct play *p, struct semaphore *s, int task)
{
	struct token token = token_of(p, task);
	int waiter;

	if (!s->mutex)
		wish(p, &s->posts, task, token.cpu);
	if (s->expired && !certain(p, s->expired, token.span.low))
		p->determinate = false;
	waiter = dequeue(p, &s->waiters);
	if (waiter == NONE) {
		put_token(s, token);
		return;
	}
	if (is_timed(p, waiter) &&
	    !certain(p, token.span.high, p->player[waiter].timeout))
		p->determinate = false;
	wake(p, waiter, task, &token);
}

static enum need wait_for(struct play *p, struct semaphore *s, int task)
{
	struct token token;

	wish(p, &s->waits, task, (int)p->player[task].cpu);
	if (!s->tokens) {
		queue(p, &s->waiters, task);
		return NEED_WAKING;
	}
	token = take_token(s);
	if (is_timed(p, task) && token.cpu != (int)p->player[task].cpu &&
	    !certain(p, token.span.high, p->player[task].timeout))
		p->determinate = false;
	receive(p, task, &token);
	return NEED_NOTHING;
}

static enum need wait_until(struct play *p, struct semaphore *s, int task,
			    uint64_t ns)
{
	struct player *t = &p->player[task];

	t->timeout = t->span.low + fixed_from(ns);
	t->timeout_high = t->span.high + fixed_from(ns) + p->slack.deadline;
	return wait_for(p, s, task) == NEED_WAKING ? NEED_WAKING_IN :
						     NEED_NOTHING;
}

/* --- conditions and barriers --- */

static void give_signal(struct play *p, struct condition *c, int task)
{
	struct token token = token_of(p, task);
	struct waiters waiters = c->waiters;
	int waiter;

	wish(p, &c->wish, task, token.cpu);
	if (c->signals)
		token = token_join(c->reached[c->signals - 1], token);
	if (c->signals == c->room) {
		c->room = c->room ? 2 * c->room : 4;
		c->reached = again(c->reached, c->room, sizeof(*c->reached));
	}
	c->reached[c->signals++] = token;

	c->waiters = (struct waiters) { NONE, NONE };
	while ((waiter = dequeue(p, &waiters)) != NONE) {
		const struct player *w = &p->player[waiter];

		if (w->script->op[w->at].amount > c->signals)
			queue(p, &c->waiters, waiter);
		else
			wake(p, waiter, task, &token);
	}
}

static enum need await(struct play *p, struct condition *c, int task,
		       uint64_t signals)
{
	if (signals > c->signals) {
		queue(p, &c->waiters, task);
		return NEED_WAKING;
	}
	receive(p, task, &c->reached[signals - 1]);
	return NEED_NOTHING;
}

static enum need meet(struct play *p, struct barrier *b, int task)
{
	struct waiters waiters = b->waiters;
	struct token token;
	int waiter;

	b->token = token_join(b->token, token_of(p, task));
	if (++b->arrived < b->parties) {
		queue(p, &b->waiters, task);
		return NEED_WAKING;
	}
	token = b->token;
	b->arrived = 0;
	b->token.cpu = NONE;
	b->waiters = (struct waiters) { NONE, NONE };
	while ((waiter = dequeue(p, &waiters)) != NONE)
		wake(p, waiter, task, &token);
	receive(p, task, &token);
	return NEED_NOTHING;
}

/* --- tasks --- */

static void fork_task(struct play *p, int child, int task)
{
	struct token token = token_of(p, task);

	p->player[child].percent = p->player[task].percent;
	wake(p, child, task, &token);
	/* It is at no operation that could be over. */
	p->player[child].pending = false;
}

static enum need join_task(struct play *p, int child, int task)
{
	struct player *c = &p->player[child];

	if (!c->ended) {
		queue(p, &c->joiners, task);
		return NEED_WAKING;
	}
	receive(p, task, &c->end);
	return NEED_NOTHING;
}

static enum need end_task(struct play *p, int task)
{
	struct player *t = &p->player[task];
	int waiter;

	t->ended = true;
	t->end = token_of(p, task);
	while ((waiter = dequeue(p, &t->joiners)) != NONE)
		wake(p, waiter, task, &t->end);
	return NEED_END;
}

static enum need migrate(struct play *p, int task, uint32_t to)
{
	struct player *t = &p->player[task];
	int from = (int)t->cpu;

	if (t->cpu == to)
		return NEED_NOTHING;
	play_stops(p, task);
	t->cpu = to;
	t->span.hops++;
	/* An active CPU may be behind; its time holds. */
	t->span.low = fixed_less(t->span.low, p->slack.skew);
	ready(p, task, from);
	return NEED_MOVE;
}

static enum need sleep_until(struct play *p, int task, uint64_t now,
			     uint64_t when)
{
	const struct span *span = &p->player[task].span;
	fixed_t then = fixed_from(when);

	if (p->shared[p->player[task].cpu] && span->low < then + p->slack.order &&
	    then < span->high + p->slack.order)
		p->determinate = false;
	return when > now ? NEED_TIME : NEED_NOTHING;
}

/* --- operations --- */

/* Does the rest of an operation whose wait is over. */
static void finish(struct play *p, int task)
{
	struct player *t = &p->player[task];
	const struct op *op = &t->script->op[t->at];

	if (op->kind == OP_PUT)
		post(p, &p->items[op->object], task);
	else if (op->kind == OP_GET)
		post(p, &p->space[op->object], task);
	p->done(p, task);
	t->at++;
}

static void open_pipe(struct play *p, const struct op *op)
{
	struct semaphore *space = &p->space[op->object];

	/* Its size is known when something is put into it. */
	for (uint64_t n = 0; !space->opened && n < op->amount; n++)
		put_token(space, (struct token) { .cpu = NONE });
	space->opened = true;
}

static enum need begin(struct play *p, int task, const struct op *op,
		       uint64_t now)
{
	struct player *t = &p->player[task];

	switch (op->kind) {
	case OP_COMPUTE:
		return NEED_CPU;
	case OP_KERNEL:
		return NEED_KERNEL;
	case OP_SLEEP:
		return NEED_TIME;
	case OP_UNTIL:
		return sleep_until(p, task, now, op->amount);
	case OP_IO:
		return NEED_OUTSIDE;
	case OP_PERCENT:
		t->percent = (uint32_t)op->amount;
		return NEED_NOTHING;
	case OP_MIGRATE:
		return migrate(p, task, op->object);
	case OP_LOCK:
		return wait_for(p, &p->mutex[op->object], task);
	case OP_UNLOCK:
		post(p, &p->mutex[op->object], task);
		return NEED_NOTHING;
	case OP_POST:
		post(p, &p->semaphore[op->object], task);
		return NEED_NOTHING;
	case OP_WAIT:
		return wait_for(p, &p->semaphore[op->object], task);
	case OP_TIMED:
		return wait_until(p, &p->semaphore[op->object], task,
				  op->amount);
	case OP_PUT:
		open_pipe(p, op);
		return wait_for(p, &p->space[op->object], task);
	case OP_GET:
		return wait_for(p, &p->items[op->object], task);
	case OP_SIGNAL:
		give_signal(p, &p->condition[op->object], task);
		return NEED_NOTHING;
	case OP_AWAIT:
		return await(p, &p->condition[op->object], task, op->amount);
	case OP_BARRIER:
		return meet(p, &p->barrier[op->object], task);
	case OP_FORK:
		fork_task(p, (int)op->object, task);
		return NEED_NOTHING;
	default:
		return join_task(p, (int)op->object, task);
	}
}

enum need play_next(struct play *p, int task, uint64_t now, uint64_t *amount)
{
	struct player *t = &p->player[task];
	const struct op *op = &t->script->op[t->at];
	enum need need;

	if (t->at == t->script->ops)
		return end_task(p, task);
	*amount = op->amount;
	if (op->kind == OP_SLEEP || op->kind == OP_TIMED)
		*amount += now;
	need = begin(p, task, op, now);
	if (need == NEED_NOTHING) {
		if (op->kind == OP_UNTIL)
			t->span = span_join(t->span, (struct span) {
				.low = fixed_from(op->amount),
				.exact = fixed_from(op->amount),
			});
		finish(p, task);
	}
	return need;
}

void play_ran(struct play *p, int task)
{
	struct player *t = &p->player[task];
	fixed_t v = model_virtual(t->script->op[t->at].amount,
				  t->percent * 1000);

	t->span = span_add(t->span, v);
	/* Each charge of a part drops up to 2^-32 ns. */
	t->span.low = fixed_less(t->span.low, 1 << 16);
	finish(p, task);
}

void play_slept(struct play *p, int task)
{
	struct player *t = &p->player[task];
	const struct op *op = &t->script->op[t->at];
	struct span wake = { .low = 0 };

	if (op->kind == OP_SLEEP)
		wake = span_add(t->span, fixed_from(op->amount));
	else
		wake.low = wake.exact = wake.high = fixed_from(op->amount);
	wake.hops = t->span.hops;
	t->span = span_join(t->span, wake);
	t->span.high += p->slack.deadline;
	ready(p, task, NONE);
}

void play_returned(struct play *p, int task)
{
	struct player *t = &p->player[task];
	uint64_t ns = t->script->op[t->at].amount;
	uint64_t apart = p->program->setup.apart;

	t->span = span_add(t->span, fixed_from(ns));
	t->span.low = fixed_less(t->span.low, fixed_from(apart));
	t->span.high += p->slack.skew + p->slack.deadline +
			fixed_from((ns + p->slack.lateness) * p->slack.rate - ns);
	t->span.outside |= p->slack.rate > 1;
	ready(p, task, NONE);
}

void play_timeout(struct play *p, int task)
{
	struct player *t = &p->player[task];
	const struct op *op = &t->script->op[t->at];
	struct semaphore *s = &p->semaphore[op->object];

	unqueue(p, &s->waiters, task);
	s->expired = fixed_max(s->expired, t->timeout_high);
	t->span = span_add(t->span, fixed_from(op->amount));
	t->span.high += p->slack.deadline;
	ready(p, task, NONE);
}

void play_stops(struct play *p, int task)
{
	const struct player *t = &p->player[task];

	p->cpu[t->cpu] = token_of(p, task);
}

void play_starts(struct play *p, int task)
{
	struct player *t = &p->player[task];

	if (p->cpu[t->cpu].cpu != NONE)
		t->span = span_join(t->span, p->cpu[t->cpu].span);
	if (t->pending) {
		t->pending = false;
		finish(p, task);
	}
}

/* --- beginning and end --- */

static void find_shared(struct play *p)
{
	const struct program *program = p->program;
	int *user = zalloc(program->setup.cpus, sizeof(*user));

	for (unsigned int t = 0; t < program->tasks; t++) {
		const struct script *s = &program->task[t];

		if (user[s->cpu] && user[s->cpu] != (int)t + 1)
			p->shared[s->cpu] = true;
		user[s->cpu] = (int)t + 1;
		for (unsigned int i = 0; i < s->ops; i++) {
			uint32_t cpu = s->op[i].object;

			if (s->op[i].kind != OP_MIGRATE)
				continue;
			if (user[cpu] && user[cpu] != (int)t + 1)
				p->shared[cpu] = true;
			user[cpu] = (int)t + 1;
		}
	}
	free(user);
}

static void count_parties(struct play *p)
{
	const struct program *program = p->program;
	int *last = zalloc(p->objects[CLASS_BARRIER] + 1, sizeof(*last));

	for (unsigned int t = 0; t < program->tasks; t++)
		for (unsigned int i = 0; i < program->task[t].ops; i++) {
			const struct op *op = &program->task[t].op[i];

			if (op->kind != OP_BARRIER ||
			    last[op->object] == (int)t + 1)
				continue;
			last[op->object] = (int)t + 1;
			p->barrier[op->object].parties++;
		}
	free(last);
}

static struct semaphore *semaphores(unsigned int n, bool mutex)
{
	struct semaphore *s = zalloc(n + 1, sizeof(*s));

	for (unsigned int i = 0; i < n; i++) {
		s[i].mutex = mutex;
		s[i].waiters.first = NONE;
		s[i].posts.task = s[i].waits.task = NONE;
		if (mutex)
			put_token(&s[i], (struct token) { .cpu = NONE });
	}
	return s;
}

static void free_semaphores(struct semaphore *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(s[i].token);
	free(s);
}

static void init_objects(struct play *p)
{
	unsigned int *n = p->objects;

	for (int class = CLASS_MUTEX; class < CLASSES; class++)
		n[class] = program_objects(p->program, class);
	p->mutex = semaphores(n[CLASS_MUTEX], true);
	p->semaphore = semaphores(n[CLASS_SEMAPHORE], false);
	p->items = semaphores(n[CLASS_PIPE], false);
	p->space = semaphores(n[CLASS_PIPE], false);
	p->condition = zalloc(n[CLASS_CONDITION] + 1, sizeof(*p->condition));
	for (unsigned int i = 0; i < n[CLASS_CONDITION]; i++) {
		p->condition[i].waiters.first = NONE;
		p->condition[i].wish.task = NONE;
	}
	p->barrier = zalloc(n[CLASS_BARRIER] + 1, sizeof(*p->barrier));
	for (unsigned int i = 0; i < n[CLASS_BARRIER]; i++) {
		p->barrier[i].waiters.first = NONE;
		p->barrier[i].token.cpu = NONE;
	}
}

void play_init(struct play *p, const struct program *program)
{
	uint32_t cpus = program->setup.cpus;

	*p = (struct play) {
		.program = program,
		.slack = slack_of(program),
		.determinate = true,
		.player = zalloc(program->tasks, sizeof(*p->player)),
		.cpu = zalloc(cpus, sizeof(*p->cpu)),
		.arrival = zalloc(cpus, sizeof(*p->arrival)),
		.shared = zalloc(cpus, sizeof(*p->shared)),
	};
	for (unsigned int t = 0; t < program->tasks; t++)
		p->player[t] = (struct player) {
			.script = &program->task[t],
			.cpu = program->task[t].cpu,
			.percent = program->task[t].percent,
			.joiners.first = NONE,
		};
	for (uint32_t k = 0; k < cpus; k++) {
		p->cpu[k].cpu = NONE;
		p->arrival[k].task = NONE;
	}
	init_objects(p);
	find_shared(p);
	count_parties(p);
}

void play_free(struct play *p)
{
	free_semaphores(p->mutex, p->objects[CLASS_MUTEX]);
	free_semaphores(p->semaphore, p->objects[CLASS_SEMAPHORE]);
	free_semaphores(p->items, p->objects[CLASS_PIPE]);
	free_semaphores(p->space, p->objects[CLASS_PIPE]);
	for (unsigned int i = 0; i < p->objects[CLASS_CONDITION]; i++)
		free(p->condition[i].reached);
	free(p->condition);
	free(p->barrier);
	free(p->player);
	free(p->cpu);
	free(p->arrival);
	free(p->shared);
}
