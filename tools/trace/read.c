// SPDX-License-Identifier: GPL-2.0
#include "read.h"

#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>

#include "page.h"
#include "base/util.h"

#define FIELDS_MAX	8
#define FIELD_MAX	65536	/* bytes; far beyond any event */
#define THREAD_MAX	4194304	/* PID_MAX_LIMIT; all numbers of threads are below */

/* The fields that the reader takes of each event, in the order of take(). */
static const struct shape {
	const char *name;
	enum event_kind kind;
	const char *fields[FIELDS_MAX];
} shapes[] = {
	{ "tense_charge", EVENT_CHARGE,
	  { "experiment", "pid", "cpu", "real", "charged", "lvt", "gvt",
	    "ran" } },
	{ "tense_percent", EVENT_PERCENT,
	  { "experiment", "pid", "percent", "lvt" } },
	{ "tense_deadline", EVENT_DEADLINE,
	  { "experiment", "pid", "when", "gvt" } },
	{ "tense_gate", EVENT_GATE,
	  { "experiment", "pid", "shut", "lvt", "gvt" } },
	{ "sched_switch", EVENT_SWITCH,
	  { "prev_pid", "prev_state", "next_pid", "prev_comm", "next_comm" } },
	{ "sched_wakeup", EVENT_WAKEUP, { "pid" } },
	{ "sched_wakeup_new", EVENT_WAKEUP, { "pid" } },
	{ "sched_migrate_task", EVENT_MIGRATE,
	  { "pid", "orig_cpu", "dest_cpu" } },
	{ "sched_process_fork", EVENT_FORK, { "parent_pid", "child_pid" } },
	{ "sched_process_exec", EVENT_EXEC, { "pid" } },
	{ "sched_process_exit", EVENT_EXIT, { "pid" } },
};

#define NR_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* The bits of prev_state that say that a thread waits, or is no more. */
#define BLOCKED_STATES	0xff

/* An event as this kernel writes it. */
struct source {
	const struct shape *shape;
	int id;
	size_t size;		/* bytes that hold all fields */
	struct tep_format_field *fields[FIELDS_MAX];
};

struct reader {
	struct trace *trace;
	size_t room;
	struct tep_handle *tep;
	struct tep_format_field *id;	/* the field that all events share */
	struct source sources[NR_SHAPES];
	size_t nr_sources;
	struct kbuffer *pages;
	/* A buffer has all events until its last one, if it lost any. */
	bool lossy;		/* the one that is being read */
	uint32_t lossy_cpu;
	uint64_t last;		/* event of it */
	uint64_t complete;	/* until when all buffers are */
	char *error;
};

static void fail(struct reader *r, const char *what)
{
	if (!r->error)
		r->error = xprintf("the recording cannot be read: %s", what);
}

/* Where a field ends in its record; 0 if no kernel has such a field. */
static size_t end_of(const struct tep_format_field *field)
{
	if (field->offset < 0 || field->offset > FIELD_MAX || field->size <= 0 ||
	    field->size > FIELD_MAX)
		return 0;
	return (size_t)field->offset + field->size;
}

static void add_source(struct reader *r, const struct shape *shape,
		       struct tep_event *event)
{
	struct source *s = &r->sources[r->nr_sources++];

	s->shape = shape;
	s->id = event->id;
	for (int i = 0; i < FIELDS_MAX && shape->fields[i]; i++) {
		s->fields[i] = tep_find_field(event, shape->fields[i]);
		if (!s->fields[i] || !end_of(s->fields[i]))
			fail(r, "an event lacks a field, or has it at an impossible place");
		else if (s->size < end_of(s->fields[i]))
			s->size = end_of(s->fields[i]);
	}
	if (!r->id)
		r->id = tep_find_common_field(event, "common_type");
	if (!r->id || !end_of(r->id))
		fail(r, "events without a type");
}

static void read_format(struct reader *r, const char *data, size_t size)
{
	size_t system = strnlen(data, size) + 1;
	struct tep_event *event;

	if (system >= size ||
	    tep_parse_event(r->tep, data + system, size - system, data)) {
		fail(r, "an event's format is not known");
		return;
	}
	for (size_t i = 0; i < NR_SHAPES; i++) {
		event = tep_find_event_by_name(r->tep, data, shapes[i].name);
		for (size_t j = 0; event && j < r->nr_sources; j++)
			if (r->sources[j].id == event->id)
				event = NULL;
		if (event && r->nr_sources < NR_SHAPES)
			add_source(r, &shapes[i], event);
	}
}

static uint64_t number(const struct source *s, int field, const void *record)
{
	unsigned long long value = 0;

	tep_read_number_field(s->fields[field], record, &value);
	return value;
}

static void take_name(const struct source *s, int field, const char *record,
		      char *name)
{
	size_t size = s->fields[field]->size;

	if (size > TRACE_NAME)
		size = TRACE_NAME;
	memcpy(name, record + s->fields[field]->offset, size);
	name[TRACE_NAME - 1] = '\0';
	mask_controls(name);
}

static void take_tense(struct event *e, const struct source *s,
		       const void *record)
{
	e->experiment = number(s, 0, record);
	e->pid = number(s, 1, record);
	switch (e->kind) {
	case EVENT_CHARGE:
		e->cpu = number(s, 2, record);
		e->charge.real = number(s, 3, record);
		e->charge.charged = number(s, 4, record);
		e->charge.lvt = number(s, 5, record);
		e->charge.gvt = number(s, 6, record);
		e->charge.ran = number(s, 7, record);
		break;
	case EVENT_PERCENT:
		e->percent.percent = number(s, 2, record);
		e->percent.lvt = number(s, 3, record);
		break;
	case EVENT_DEADLINE:
		e->deadline.when = number(s, 2, record);
		e->deadline.gvt = number(s, 3, record);
		break;
	case EVENT_GATE:
		e->shut = number(s, 2, record);
		e->gate.lvt = number(s, 3, record);
		e->gate.gvt = number(s, 4, record);
		break;
	}
}

static void take_sched(struct event *e, const struct source *s,
		       const void *record)
{
	e->pid = number(s, 0, record);
	switch (e->kind) {
	case EVENT_SWITCH:
		e->change.blocked = number(s, 1, record) & BLOCKED_STATES;
		e->change.next = number(s, 2, record);
		take_name(s, 3, record, e->change.name);
		take_name(s, 4, record, e->change.next_name);
		break;
	case EVENT_MIGRATE:
		e->migrate.from = number(s, 1, record);
		e->migrate.to = number(s, 2, record);
		break;
	case EVENT_FORK:
		e->fork.child = number(s, 1, record);
		break;
	}
}

static struct event *new_event(struct reader *r)
{
	struct trace *t = r->trace;
	struct event *e;

	if (t->count == r->room) {
		r->room = r->room ? 2 * r->room : 4096;
		t->events = xrealloc(t->events, r->room * sizeof(*t->events));
	}
	e = &t->events[t->count];
	memset(e, 0, sizeof(*e));
	e->order = t->count++;
	return e;
}

static void read_record(struct reader *r, unsigned int cpu, uint64_t time,
			const void *record, size_t size)
{
	const struct source *s = NULL;
	unsigned long long id = 0;
	struct event *e;

	if (size >= end_of(r->id))
		tep_read_number_field(r->id, record, &id);
	for (size_t i = 0; i < r->nr_sources && !s; i++)
		if (r->sources[i].id == (int)id)
			s = &r->sources[i];
	if (!s)
		return;
	if (size < s->size) {
		fail(r, "an event of it is cut short");
		return;
	}
	r->last = time;
	e = new_event(r);
	e->time = time;
	e->cpu = cpu;
	e->kind = s->shape->kind;
	if (e->kind <= EVENT_GATE)
		take_tense(e, s, record);
	else
		take_sched(e, s, record);
	if (e->pid > THREAD_MAX || (e->kind == EVENT_FORK && e->fork.child > THREAD_MAX))
		fail(r, "the number of a thread is above 4194304");
}

static void read_page(struct reader *r, unsigned int cpu, void *page,
		      size_t size)
{
	unsigned long long time;
	void *record;
	int missed;

	if (!trace_page_is_whole(page, size) ||
	    kbuffer_load_subbuffer(r->pages, page) < 0) {
		fail(r, "a page of it is damaged");
		return;
	}
	missed = kbuffer_missed_events(r->pages);
	/* -1: nobody knows how many. */
	if (missed)
		r->trace->lost += missed > 0 ? missed : 1;
	for (record = kbuffer_read_event(r->pages, &time); record;
	     record = kbuffer_next_event(r->pages, &time))
		read_record(r, cpu, time, record,
			    kbuffer_event_size(r->pages));
}

static void read_pages(struct reader *r, const struct trace_part *part,
		       const char *data)
{
	void *page;

	if (!r->id || !part->page || part->page > part->size || part->size % part->page) {
		fail(r, "its pages have an impossible size, or their events are not known");
		return;
	}
	/* Aligns numbers in memory. */
	page = xmalloc(part->page);
	for (size_t at = 0; at < part->size && !r->error; at += part->page) {
		memcpy(page, data + at, part->page);
		read_page(r, part->cpu, page, part->page);
	}
	free(page);
}

/* The rest of a buffer that lost some is behind it. */
static void begin_lossy(struct reader *r, uint32_t cpu, const char *data)
{
	uint64_t lost;

	memcpy(&lost, data, sizeof(lost));
	r->trace->lost += lost;
	r->lossy = true;
	r->lossy_cpu = cpu;
	r->last = 0;
}

static void end_lossy(struct reader *r)
{
	if (r->lossy && r->last < r->complete)
		r->complete = r->last;
	r->lossy = false;
}

static void read_part(struct reader *r, const struct trace_part *part,
		      const char *data)
{
	if (part->kind != TRACE_PART_PAGES || part->cpu != r->lossy_cpu)
		end_lossy(r);
	switch (part->kind) {
	case TRACE_PART_BEGIN:
		if (part->size == sizeof(r->trace->begin))
			memcpy(&r->trace->begin, data, part->size);
		if (r->trace->begin.program < 0 || r->trace->begin.program > THREAD_MAX)
			fail(r, "the number of a thread is above 4194304");
		break;
	case TRACE_PART_FORMAT:
		read_format(r, data, part->size);
		break;
	case TRACE_PART_PAGES:
		read_pages(r, part, data);
		break;
	case TRACE_PART_LOST:
		if (part->size == sizeof(uint64_t))
			begin_lossy(r, part->cpu, data);
		break;
	}
}

static void read_parts(struct reader *r, const char *data, size_t size)
{
	struct trace_part part;

	while (size && !r->error) {
		if (size < sizeof(part)) {
			fail(r, "it is cut short");
			return;
		}
		memcpy(&part, data, sizeof(part));
		data += sizeof(part);
		size -= sizeof(part);
		if (part.size > size) {
			fail(r, "it is cut short");
			return;
		}
		read_part(r, &part, data);
		data += part.size;
		size -= part.size;
	}
	end_lossy(r);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_number(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

struct pids {
	int32_t *list;
	size_t count;
};

static bool has_pid(const struct pids *p, int32_t pid)
{
	return bsearch(&pid, p->list, p->count, sizeof(pid), by_number);
}

static bool is_tense(const struct event *e)
{
	return e->kind <= EVENT_GATE;
}

/* All threads that the experiment charged, once each. */
static struct pids members(const struct trace *t, uint32_t experiment)
{
	struct pids p = { .list = xmalloc((t->count + 1) * sizeof(*p.list)) };
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct event *e = &t->events[i];

		if (is_tense(e) && e->experiment == experiment && e->pid)
			p.list[p.count++] = e->pid;
	}
	qsort(p.list, p.count, sizeof(*p.list), by_number);
	for (size_t i = 0; i < p.count; i++)
		if (!kept || p.list[kept - 1] != p.list[i])
			p.list[kept++] = p.list[i];
	p.count = kept;
	return p;
}

static bool belongs(const struct event *e, uint32_t experiment,
		    const struct pids *p)
{
	if (is_tense(e))
		return e->experiment == experiment;
	return has_pid(p, e->pid) ||
	       (e->kind == EVENT_SWITCH && has_pid(p, e->change.next)) ||
	       (e->kind == EVENT_FORK && has_pid(p, e->fork.child));
}

/*
 * Drops the events of other experiments or of no experiment, and the events
 * after the first loss.
 */
static void select_experiment(struct reader *r)
{
	struct trace *t = r->trace;
	const struct event *first = NULL;
	uint32_t experiment;
	struct pids p;
	size_t kept = 0;

	for (size_t i = 0; i < t->count && !first; i++)
		if (is_tense(&t->events[i]) &&
		    t->events[i].pid == t->begin.launcher)
			first = &t->events[i];
	if (!first) {
		fail(r, t->lost ? "there was no room for its beginning: use --buffer" :
				  "no experiment is in it");
		return;
	}
	experiment = first->experiment;
	p = members(t, experiment);
	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].time <= r->complete &&
		    belongs(&t->events[i], experiment, &p))
			t->events[kept++] = t->events[i];
	t->count = kept;
	free(p.list);
}

char *trace_read(struct trace *t, const void *data, size_t size)
{
	struct reader r = {
		.trace = t, .tep = tep_alloc(), .complete = UINT64_MAX,
	};

	*t = (struct trace){ 0 };
	r.pages = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST,
				KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!r.tep || !r.pages)
		die(STATUS_FAILED, "out of memory");
	/* How events would be printed is nothing to warn of. */
	tep_set_loglevel(TEP_LOG_NONE);
	read_parts(&r, data, size);
	if (!r.error && t->count)
		qsort(t->events, t->count, sizeof(*t->events), by_time);
	if (!r.error)
		select_experiment(&r);
	kbuffer_free(r.pages);
	tep_free(r.tep);
	if (r.error)
		trace_free(t);
	return r.error;
}

void trace_free(struct trace *t)
{
	free(t->events);
	*t = (struct trace){ 0 };
}
