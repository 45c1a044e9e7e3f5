// SPDX-License-Identifier: GPL-2.0
/*
 * The Trace Event Format, as the JSON object that chrome://tracing and Perfetto
 * read: each line one event, written as it is made, for there may be millions.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "output.h"
#include "base/util.h"

/* The number of the tracks of CPUs: no process of Linux has one so high. */
#define CPUS_PID	4194305

struct chrome {
	FILE *f;
	const struct model *m;
	bool virtual;		/* the axis */
	bool any;		/* an event was written */
};

static const char *const piece_names[PIECE_KINDS] = {
	[PIECE_RUN] = "running",
	[PIECE_READY] = "waits for a CPU",
	[PIECE_GATED] = "gated",
	[PIECE_BLOCKED] = "blocked",
};

static const char *const mark_names[] = {
	[MARK_PERCENT] = "percent",
	[MARK_DEADLINE] = "deadline",
	[MARK_FORK] = "fork",
	[MARK_EXEC] = "exec",
	[MARK_EXIT] = "exit",
	[MARK_MIGRATE] = "migrate",
};

static void put_string(FILE *f, const char *text)
{
	json_t *json = json_text(text, strlen(text));
	char *dump = json_dumps(json, JSON_ENCODE_ANY);

	if (!dump)
		die(STATUS_FAILED, "out of memory");
	fputs(dump, f);
	free(dump);
	json_decref(json);
}

/* The format's unit is the microsecond. */
static void put_us(FILE *f, const char *name, uint64_t ns)
{
	fprintf(f, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000,
		(unsigned int)(ns % 1000));
}

static void begin_event(struct chrome *c, const char *phase, int64_t pid,
			int64_t tid, const char *name)
{
	fputs(c->any ? ",\n{" : "\n{", c->f);
	c->any = true;
	fprintf(c->f, "\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
		",\"name\":", phase, pid, tid);
	put_string(c->f, name);
}

static void put_piece_args(FILE *f, const struct piece *p)
{
	unsigned int percent = piece_percent(p);

	fprintf(f, ",\"args\":{\"virtual_from_ns\":%" PRIu64
		",\"virtual_to_ns\":%" PRIu64 ",\"real_from_ns\":%" PRIu64
		",\"real_to_ns\":%" PRIu64, p->from, p->to, p->begin, p->end);
	if (p->kind == PIECE_RUN) {
		fprintf(f, ",\"ran_ns\":%" PRIu64 ",\"own_ns\":%" PRId64
			",\"charged_ns\":%" PRIu64 ",\"cpu\":%u",
			p->ran, p->own, p->charged, p->cpu);
		if (percent)
			fprintf(f, ",\"percent\":%.3f",
				(double)percent / TENSE_FINE);
	}
	fputs("}}", f);
}

/* Time that stands still on the axis makes an instant of a slice. */
static void begin_slice(struct chrome *c, uint64_t begin, uint64_t end,
			int64_t pid, int64_t tid, const char *name)
{
	begin_event(c, end > begin ? "X" : "i", pid, tid, name);
	put_us(c->f, "ts", begin);
	if (end > begin)
		put_us(c->f, "dur", end - begin);
	else
		fputs(",\"s\":\"t\"", c->f);
}

/* Names the thread that ran on a CPU. The thread's track has the details. */
static void put_turn(struct chrome *c, const struct piece *p, const char *name)
{
	begin_slice(c, c->virtual ? p->lvt_from : p->begin,
		    c->virtual ? p->lvt_to : p->end, CPUS_PID, p->cpu, name);
	fputs("}", c->f);
}

static void put_piece(struct chrome *c, const struct lane *l,
		      const struct piece *p)
{
	begin_slice(c, c->virtual ? p->from : p->begin,
		    c->virtual ? p->to : p->end, l->tgid, l->pid,
		    piece_names[p->kind]);
	put_piece_args(c->f, p);
}

static void put_mark(struct chrome *c, const struct mark *mark, int64_t pid,
		     int64_t tid)
{
	char name[40];

	snprintf(name, sizeof(name), mark->kind == MARK_PERCENT ? "%s %" PRId64 :
		 mark->kind == MARK_MIGRATE ? "%s to CPU %" PRId64 : "%s",
		 mark_names[mark->kind], mark->value);
	begin_event(c, "i", pid, tid, name);
	put_us(c->f, "ts", c->virtual ? mark->virtual : mark->time);
	fprintf(c->f, ",\"s\":\"t\",\"args\":{\"value\":%" PRId64
		",\"virtual_ns\":%" PRIu64 ",\"real_ns\":%" PRIu64 "}}",
		mark->value, mark->virtual, mark->time);
}

/* "name 123 (50 %)" */
static char *lane_title(const struct lane *l)
{
	char *percent = lane_percent(l);
	char *title = xprintf("%s %d (%s)", l->name, l->pid, percent);

	free(percent);
	return title;
}

static void put_name(struct chrome *c, const char *what, int64_t pid,
		     int64_t tid, const char *name)
{
	begin_event(c, "M", pid, tid, what);
	fputs(",\"args\":{\"name\":", c->f);
	put_string(c->f, name);
	fputs("}}", c->f);
}

static void put_order(struct chrome *c, const char *what, int64_t pid,
		      int64_t tid, int64_t order)
{
	begin_event(c, "M", pid, tid, what);
	fprintf(c->f, ",\"args\":{\"sort_index\":%" PRId64 "}}", order);
}

static void put_tracks(struct chrome *c)
{
	put_name(c, "process_name", CPUS_PID, 0, "CPUs");
	put_order(c, "process_sort_index", CPUS_PID, 0, -1);
	for (unsigned int cpu = 0; cpu <= c->m->last_cpu; cpu++) {
		char *name = xprintf("CPU %u", cpu);

		put_name(c, "thread_name", CPUS_PID, cpu, name);
		put_order(c, "thread_sort_index", CPUS_PID, cpu, cpu);
		free(name);
	}
	for (size_t i = 0; i < c->m->nr_lanes; i++) {
		const struct lane *l = &c->m->lanes[i];
		char *title = lane_title(l);

		if (l->pid == l->tgid)
			put_name(c, "process_name", l->tgid, l->pid, l->name);
		put_name(c, "thread_name", l->tgid, l->pid, title);
		put_order(c, "thread_sort_index", l->tgid, l->pid, i);
		free(title);
	}
}

static void put_lane(struct chrome *c, const struct lane *l)
{
	char *title = lane_title(l);

	for (size_t i = 0; i < l->nr_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		put_piece(c, l, p);
		if (p->kind == PIECE_RUN)
			put_turn(c, p, title);
	}
	for (size_t i = 0; i < l->nr_marks; i++)
		put_mark(c, &l->marks[i], l->tgid, l->pid);
	free(title);
}

/* How far a CPU is ahead, in microseconds; where there is one, it is nothing. */
static void put_leads(struct chrome *c, const struct lane *l)
{
	for (size_t i = 0; i < l->nr_leads; i++) {
		const struct lead *lead = &l->leads[i];
		char *name = xprintf("CPU %u ahead, us", lead->cpu);

		begin_event(c, "C", CPUS_PID, 0, name);
		put_us(c->f, "ts", c->virtual ? lead->virtual : lead->time);
		fputs(",\"args\":{\"us\":", c->f);
		fprintf(c->f, "%.3f}}", lead->ns / 1e3);
		free(name);
	}
}

void trace_chrome(FILE *f, const struct model *m,
		  const struct trace_about *about)
{
	struct chrome c = { .f = f, .m = m, .virtual = about->virtual_axis };

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
	put_tracks(&c);
	for (size_t i = 0; i < m->nr_lanes; i++) {
		put_lane(&c, &m->lanes[i]);
		if (m->cpus > 1)
			put_leads(&c, &m->lanes[i]);
	}
	for (size_t i = 0; i < m->nr_marks; i++)
		put_mark(&c, &m->marks[i], CPUS_PID, m->marks[i].cpu);
	fprintf(f, "\n],\"otherData\":{\"axis\":\"%s time\",\"window_ns\":\"%" PRIu64
		"\",\"lost_events\":\"%" PRIu64 "\"}}\n",
		about->virtual_axis ? "virtual" : "real", m->window, m->lost);
}
