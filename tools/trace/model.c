// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct builder {
	struct model *m;
	const struct trace *trace;
	uint64_t start;		/* real, of the program */
	uint64_t origin;	/* virtual */
	uint64_t gvt;		/* as last seen */
	unsigned char *cpus;	/* CPUs that ran a thread */
	size_t *index;		/* 1 + lane of a thread's number; 0: none */
	size_t indexed;
};

/* Makes room for one more at the end of an array. */
static void *grow(void *array, size_t count, size_t size)
{
	/* A power of two: it is full. */
	if (!array || !(count & (count - 1)))
		array = xrealloc(array, (count ? 2 * count : 1) * size);
	memset((char *)array + count * size, 0, size);
	return array;
}

#define ADD(array, count) \
	((array) = grow(array, count, sizeof(*(array))), &(array)[(count)++])

static uint64_t since(uint64_t time, uint64_t start)
{
	return time > start ? time - start : 0;
}

static struct lane *find_lane(struct builder *b, int32_t pid)
{
	if (pid <= 0 || (size_t)pid >= b->indexed || !b->index[pid])
		return NULL;
	return &b->m->lanes[b->index[pid] - 1];
}

/* A number may be used again: it is the last one's. */
static void note_lane(struct builder *b, int32_t pid)
{
	size_t most = b->indexed;

	if (!b->index || (size_t)pid >= most) {
		most = 2 * (size_t)pid + 1;
		b->index = xrealloc(b->index, most * sizeof(*b->index));
		memset(b->index + b->indexed, 0,
		       (most - b->indexed) * sizeof(*b->index));
		b->indexed = most;
	}
	b->index[pid] = b->m->nr_lanes;
}

static struct lane *add_lane(struct builder *b, int32_t pid, uint64_t now)
{
	struct lane *l = ADD(b->m->lanes, b->m->nr_lanes);

	l->pid = l->tgid = pid;
	l->born = l->since = now;
	l->last_cpu = -1;
	l->state = LANE_READY;
	note_lane(b, pid);
	return l;
}

static struct lane *lane_of(struct builder *b, int32_t pid, uint64_t now)
{
	struct lane *l;

	if (pid <= 0 || pid == b->trace->begin.launcher)
		return NULL;
	l = find_lane(b, pid);
	return l ? l : add_lane(b, pid, now);
}

static struct piece *last_piece(struct lane *l)
{
	return l->nr_pieces ? &l->pieces[l->nr_pieces - 1] : NULL;
}

/* The thread's virtual time when it last ran. */
static uint64_t last_virtual(struct lane *l)
{
	return l->nr_pieces ? last_piece(l)->to : l->birth;
}

static enum piece_kind kind_of(enum lane_state state)
{
	switch (state) {
	case LANE_READY:
		return PIECE_READY;
	case LANE_GATED:
		return PIECE_GATED;
	default:
		return PIECE_BLOCKED;
	}
}

/* Ends the thread's current wait. Does nothing if it runs or is gone. */
static void close_wait(struct builder *b, struct lane *l, uint64_t now)
{
	struct piece *p;
	uint64_t from;

	if (l->state == LANE_RUN || l->state == LANE_GONE || now <= l->since)
		return;
	from = last_virtual(l);
	p = ADD(l->pieces, l->nr_pieces);
	p->begin = l->since;
	p->end = now;
	p->from = from;
	/* Until it runs again, all that is known is the others' time. */
	p->to = b->gvt > from ? b->gvt : from;
	p->kind = kind_of(l->state);
	p->cpu = l->last_cpu < 0 ? 0 : l->last_cpu;
}

static void set_state(struct builder *b, struct lane *l, enum lane_state state,
		      uint64_t now)
{
	close_wait(b, l, now);
	l->state = state;
	l->since = now;
	l->apart = true;
}

/*
 * It runs again at a virtual time, which no wait before may be beyond. R9: its
 * own time never runs backwards, though that of its CPU may be behind.
 */
static void end_waits(struct lane *l, uint64_t virtual)
{
	bool first = true;

	if (virtual < l->seen)
		virtual = l->seen;
	for (size_t i = l->nr_pieces; i-- > l->open; first = false) {
		struct piece *p = &l->pieces[i];

		if (p->kind == PIECE_RUN)
			break;
		if (first || p->to > virtual)
			p->to = virtual;
		if (p->from > virtual)
			p->from = virtual;
	}
	l->open = l->nr_pieces;
}

static void note_gvt(struct builder *b, uint64_t now, uint64_t gvt)
{
	struct model *m = b->m;
	struct gvt *g;

	gvt = since(gvt, b->origin);
	if (m->nr_gvt && gvt <= b->gvt)
		return;
	b->gvt = gvt;
	g = ADD(m->gvt, m->nr_gvt);
	g->time = now;
	g->ns = gvt;
}

/* Is it charged at the percent of the piece, as far as whole ns tell? */
static bool same_rate(const struct piece *p, int64_t real, uint64_t charged)
{
	double expected;

	if (!p->charged || !charged)
		return p->charged == charged;
	expected = (double)real * p->charged / ((int64_t)p->ran - p->own);
	return expected - charged < 3 + charged / 500.0 &&
	       charged - expected < 3 + charged / 500.0;
}

/*
 * The cost of Tense's calls in this charge, which the kernel does not count as
 * the program's. It is negative if a refund was too large. The count of a
 * thread begins at 0 when it enters the experiment anew.
 */
static int64_t own_part(struct lane *l, const struct event *e)
{
	uint64_t before = l->program_ran;

	/* A refund that it has not used up yet is of a later charge. */
	if (!e->charge.charged)
		return e->charge.real;
	l->program_ran = e->charge.ran;
	if (l->nr_leads == 1 || e->charge.ran < before)
		return 0;
	return e->charge.real - (e->charge.ran - before);
}

/* It ran since it was charged last, or began to run. */
static void add_run(struct lane *l, uint64_t now, const struct event *e,
		    uint64_t virtual)
{
	struct piece *p = last_piece(l);
	int64_t own = own_part(l, e);

	if (!p || l->apart || p->kind != PIECE_RUN || p->cpu != e->cpu ||
	    !same_rate(p, e->charge.real - own, e->charge.charged)) {
		p = ADD(l->pieces, l->nr_pieces);
		p->kind = PIECE_RUN;
		p->cpu = e->cpu;
		p->begin = l->since;
		p->lvt_from = since(virtual, e->charge.charged);
		p->from = p->lvt_from > l->seen ? p->lvt_from : l->seen;
	}
	p->end = now;
	p->to = virtual > p->from ? virtual : p->from;
	l->seen = p->to;
	p->lvt_to = virtual;
	p->ran += e->charge.real;
	p->own += own;
	p->charged += e->charge.charged;
	l->apart = false;
	l->since = now;
}

/* Corrects the birth of a thread with an unknown parent, once it has run. */
static void set_birth(struct lane *l, uint64_t virtual)
{
	l->birth = virtual;
	for (size_t i = 0; i < l->nr_pieces; i++)
		l->pieces[i].from = l->pieces[i].to = virtual;
}

static void on_charge(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l = lane_of(b, e->pid, since(now, e->charge.real));
	uint64_t virtual = since(e->charge.lvt, b->origin);
	uint64_t begin = since(now, e->charge.real);
	struct lead *lead;

	note_gvt(b, now, e->charge.gvt);
	if (!l)
		return;
	if (virtual > b->m->virtual_end)
		b->m->virtual_end = virtual;
	if (!l->nr_leads && !l->parented)
		set_birth(l, since(virtual, e->charge.charged));
	l->ran += e->charge.real;
	l->charged += e->charge.charged;
	b->cpus[e->cpu] = 1;
	lead = ADD(l->leads, l->nr_leads);
	lead->time = now;
	lead->virtual = virtual;
	lead->cpu = e->cpu;
	lead->ns = since(e->charge.lvt, e->charge.gvt);

	if (l->state != LANE_RUN)
		set_state(b, l, LANE_RUN, begin > l->since ? begin : l->since);
	end_waits(l, since(virtual, e->charge.charged));
	add_run(l, now, e, virtual);
	l->last_cpu = e->cpu;
}

static void add_mark(struct lane *l, enum mark_kind kind, uint64_t now,
		     uint64_t virtual, int64_t value)
{
	struct mark *mark = ADD(l->marks, l->nr_marks);
	uint64_t last = last_virtual(l);

	mark->kind = kind;
	mark->time = now;
	mark->virtual = virtual > last ? virtual : last;
	mark->value = value;
	mark->cpu = l->last_cpu < 0 ? 0 : l->last_cpu;
}

static void on_deadline(struct builder *b, const struct event *e, uint64_t now)
{
	uint64_t when = since(e->deadline.when, b->origin);
	struct lane *l = lane_of(b, e->pid, now);
	struct mark *mark;

	note_gvt(b, now, e->deadline.gvt);
	if (l) {
		add_mark(l, MARK_DEADLINE, now, when, when);
		return;
	}
	mark = ADD(b->m->marks, b->m->nr_marks);
	*mark = (struct mark){
		.time = now, .virtual = when, .value = when, .cpu = e->cpu,
		.kind = MARK_DEADLINE,
	};
}

static void on_gate(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l = lane_of(b, e->pid, now);

	note_gvt(b, now, e->gate.gvt);
	if (!l)
		return;
	if (e->shut)
		l->shut = now;
	else if (l->at_gate)
		l->gated += now - l->shut;
	l->at_gate = e->shut;
}

static void end_lane(struct builder *b, struct lane *l, uint64_t now)
{
	set_state(b, l, LANE_GONE, now);
	l->died = now;
}

static void switch_from(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l = find_lane(b, e->pid);

	if (!l)
		return;
	memcpy(l->name, e->change.name, sizeof(l->name));
	if (l->state == LANE_GONE)
		return;
	if (e->change.blocked && l->exits)
		end_lane(b, l, now);
	else
		set_state(b, l, !e->change.blocked ? LANE_READY :
				l->at_gate ? LANE_GATED : LANE_BLOCKED, now);
}

static void switch_to(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l = find_lane(b, e->change.next);

	if (!l)
		return;
	memcpy(l->name, e->change.next_name, sizeof(l->name));
	if (l->last_cpu >= 0 && l->last_cpu != e->cpu)
		l->migrations++;
	l->last_cpu = e->cpu;
	if (l->state != LANE_GONE)
		set_state(b, l, LANE_RUN, now);
}

static void on_wakeup(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l = find_lane(b, e->pid);

	if (l && (l->state == LANE_BLOCKED || l->state == LANE_GATED))
		set_state(b, l, LANE_READY, now);
}

static void on_fork(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *parent = find_lane(b, e->pid);
	struct lane *child = find_lane(b, e->fork.child);
	bool known = parent;
	uint64_t birth;

	if (parent)
		add_mark(parent, MARK_FORK, now, 0, e->fork.child);
	if (e->fork.child <= 0 || (child && !child->exits))
		return;
	/* add_lane() may move the others in memory. */
	birth = known ? last_virtual(parent) : 0;
	child = add_lane(b, e->fork.child, now);
	child->birth = birth;
	child->parented = known;
}

static void on_event(struct builder *b, const struct event *e, uint64_t now)
{
	struct lane *l;

	switch (e->kind) {
	case EVENT_CHARGE:
		on_charge(b, e, now);
		break;
	case EVENT_PERCENT:
		l = lane_of(b, e->pid, now);
		if (l)
			add_mark(l, MARK_PERCENT, now,
				 since(e->percent.lvt, b->origin),
				 e->percent.percent);
		break;
	case EVENT_DEADLINE:
		on_deadline(b, e, now);
		break;
	case EVENT_GATE:
		on_gate(b, e, now);
		break;
	case EVENT_SWITCH:
		switch_from(b, e, now);
		switch_to(b, e, now);
		break;
	case EVENT_WAKEUP:
		on_wakeup(b, e, now);
		break;
	case EVENT_MIGRATE:
		l = find_lane(b, e->pid);
		if (l)
			add_mark(l, MARK_MIGRATE, now, 0, e->migrate.to);
		break;
	case EVENT_FORK:
		on_fork(b, e, now);
		break;
	case EVENT_EXEC:
		l = find_lane(b, e->pid);
		if (!l)
			break;
		add_mark(l, MARK_EXEC, now, 0, 0);
		/* It has the number of one that it took the place of. */
		l->exits = false;
		break;
	case EVENT_EXIT:
		l = find_lane(b, e->pid);
		if (!l)
			break;
		add_mark(l, MARK_EXIT, now, 0, 0);
		/* It runs for a little while yet. */
		l->exits = true;
		break;
	}
}

/*
 * The first event of the program: its process asked for its virtual time as the
 * last thing before it became the program, and was charged until then.
 */
static size_t find_start(struct builder *b)
{
	const struct trace_begin *begin = &b->trace->begin;
	size_t first = 0;

	for (size_t i = 0; i < b->trace->count; i++) {
		const struct event *e = &b->trace->events[i];

		if (e->pid != begin->program)
			continue;
		if (e->kind == EVENT_CHARGE && e->charge.lvt > begin->time &&
		    begin->time)
			break;
		if (e->kind == EVENT_CHARGE) {
			first = i + 1;
			b->start = e->time;
			b->origin = e->charge.lvt;
		}
		if (e->kind == EVENT_EXEC)
			break;
	}
	if (!first && b->trace->count)
		b->start = b->trace->events[0].time;
	if (begin->time)
		b->origin = begin->time;
	return first;
}

/* A thread that was never charged was not in the experiment. */
static void drop_unused(struct model *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nr_lanes; i++) {
		struct lane *l = &m->lanes[i];

		if (l->nr_leads) {
			m->lanes[kept++] = *l;
			continue;
		}
		free(l->pieces);
		free(l->marks);
	}
	m->nr_lanes = kept;
}

static void finish_lane(struct builder *b, struct lane *l)
{
	if (l->at_gate)
		l->gated += since(b->m->end, l->shut);
	if (l->state != LANE_GONE)
		end_lane(b, l, b->m->end);
	lane_find_percents(l);
}

static void take_account(struct model *m, const struct tense_thread *t)
{
	/* Several threads may have had the number: take the last one left. */
	for (size_t i = m->nr_lanes; i-- > 0;) {
		struct lane *l = &m->lanes[i];

		if (l->pid != t->pid || l->account)
			continue;
		l->account = t;
		l->tgid = t->tgid;
		memcpy(l->name, t->comm, sizeof(l->name));
		l->name[sizeof(l->name) - 1] = '\0';
		mask_controls(l->name);
		return;
	}
}

/* The kernel tells of those alive first, then of the others as they left. */
static void take_accounts(struct model *m)
{
	const struct tense_stats *s = m->stats;
	const struct tense_thread *t = (const void *)((const char *)s + s->size);

	for (uint32_t i = 0; i < s->threads; i++)
		if (!(t[i].flags & TENSE_THREAD_EXITED))
			take_account(m, &t[i]);
	for (uint32_t i = s->threads; i-- > 0;)
		if (t[i].flags & TENSE_THREAD_EXITED)
			take_account(m, &t[i]);
	m->window = s->window;
}

static void count_cpus(struct builder *b)
{
	for (unsigned int i = 0; i <= UINT16_MAX; i++) {
		if (!b->cpus[i])
			continue;
		b->m->cpus++;
		b->m->last_cpu = i;
	}
}

static bool is_about(struct builder *b, const struct event *e)
{
	const struct lane *l = find_lane(b, e->pid);

	if (l && l->state != LANE_GONE)
		return true;
	if (e->kind == EVENT_SWITCH)
		l = find_lane(b, e->change.next);
	return l && (l->state != LANE_GONE || e->kind == EVENT_EXIT);
}

void model_build(struct model *m, const struct trace *t, const void *stats)
{
	struct builder b = { .m = m, .trace = t };
	struct lane *program;

	*m = (struct model){ .stats = stats, .lost = t->lost };
	b.cpus = xmalloc(UINT16_MAX + 1);
	for (size_t i = find_start(&b); i < t->count; i++) {
		const struct event *e = &t->events[i];

		if (!m->nr_lanes) {
			program = add_lane(&b, t->begin.program, 0);
			program->state = LANE_RUN;
			program->parented = true;
		}
		on_event(&b, e, since(e->time, b.start));
		/* The launcher's events after the program do not count. */
		if (is_about(&b, e))
			m->end = since(e->time, b.start);
	}
	drop_unused(m);
	for (size_t i = 0; i < m->nr_lanes; i++)
		finish_lane(&b, &m->lanes[i]);
	if (stats)
		take_accounts(m);
	count_cpus(&b);
	/* Nobody is to divide by nothing. */
	if (!m->end)
		m->end = 1;
	free(b.cpus);
	free(b.index);
}

void model_free(struct model *m)
{
	for (size_t i = 0; i < m->nr_lanes; i++) {
		free(m->lanes[i].pieces);
		free(m->lanes[i].marks);
		free(m->lanes[i].leads);
	}
	free(m->lanes);
	free(m->gvt);
	free(m->marks);
	*m = (struct model){ 0 };
}

uint64_t lane_ran(const struct lane *lane)
{
	return lane->account ? lane->account->ran : lane->ran;
}

uint64_t lane_charged(const struct lane *lane)
{
	return lane->account ? lane->account->charged : lane->charged;
}

uint64_t lane_gated(const struct lane *lane)
{
	return lane->account ? lane->account->gated : lane->gated;
}
