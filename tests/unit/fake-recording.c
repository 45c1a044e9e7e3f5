// SPDX-License-Identifier: GPL-2.0
#include "fake-recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON \
"format:\n" \
"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
"\n"
#define TENSE \
"\tfield:unsigned int experiment;\toffset:8;\tsize:4;\tsigned:0;\n" \
"\tfield:int pid;\toffset:12;\tsize:4;\tsigned:1;\n"
#define TASK \
"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n" \
"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
#define U64(name, offset) \
"\tfield:u64 " name ";\toffset:" offset ";\tsize:8;\tsigned:0;\n"

/* As User-Mode Linux 6.1 tells them, but for what would be printed. */
static const struct {
	const char *system;
	const char *text;
} formats[] = {
	{ "tense", "name: tense_charge\nID: 277\n" COMMON TENSE
	  "\tfield:int cpu;\toffset:16;\tsize:4;\tsigned:1;\n"
	  U64("real", "24") U64("charged", "32") U64("lvt", "40")
	  U64("gvt", "48") U64("ran", "56")
	  "\nprint fmt: \"experiment=%u\", REC->experiment\n" },
	{ "tense", "name: tense_deadline\nID: 275\n" COMMON TENSE
	  U64("when", "16") U64("gvt", "24")
	  "\nprint fmt: \"experiment=%u\", REC->experiment\n" },
	{ "tense", "name: tense_gate\nID: 274\n" COMMON TENSE
	  "\tfield:bool shut;\toffset:16;\tsize:1;\tsigned:0;\n"
	  U64("lvt", "24") U64("gvt", "32")
	  "\nprint fmt: \"%s\", REC->shut ? \"shut\" : \"open\"\n" },
	{ "tense", "name: tense_percent\nID: 276\n" COMMON TENSE
	  "\tfield:u32 percent;\toffset:16;\tsize:4;\tsigned:0;\n"
	  U64("lvt", "24") "\nprint fmt: \"percent=%u\", REC->percent\n" },
	{ "sched", "name: sched_switch\nID: 54\n" COMMON
	  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
	  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"prev_comm=%s prev_state=%s%s\", REC->prev_comm, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", { 0x00000001, \"S\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n" },
	{ "sched", "name: sched_wakeup\nID: 56\n" COMMON TASK
	  "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"pid=%d\", REC->pid\n" },
	{ "sched", "name: sched_migrate_task\nID: 53\n" COMMON TASK
	  "\tfield:int orig_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
	  "\tfield:int dest_cpu;\toffset:36;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"pid=%d\", REC->pid\n" },
	{ "sched", "name: sched_process_fork\nID: 48\n" COMMON
	  "\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	  "\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:1;\n"
	  "\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"pid=%d\", REC->parent_pid\n" },
	{ "sched", "name: sched_process_exec\nID: 47\n" COMMON
	  "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	  "\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\nprint fmt: \"pid=%d\", REC->pid\n" },
	{ "sched", "name: sched_process_exit\nID: 51\n" COMMON TASK
	  "\nprint fmt: \"pid=%d\", REC->pid\n" },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void add(struct fake_recording *r, const void *data, size_t size)
{
	r->data = realloc(r->data, r->size + size + 1);
	memcpy(r->data + r->size, data, size);
	r->size += size;
}

void fake_part(struct fake_recording *r, enum trace_part_kind kind, uint32_t cpu,
	       uint32_t page, const void *data, size_t size)
{
	struct trace_part part = {
		.kind = kind, .cpu = cpu, .page = page, .size = size,
	};

	add(r, &part, sizeof(part));
	add(r, data, size);
}

void fake_begin(struct fake_recording *r, int32_t launcher, int32_t program,
		uint64_t time)
{
	struct trace_begin begin = { launcher, program, time };
	char text[4096];

	fake_part(r, TRACE_PART_BEGIN, 0, 0, &begin, sizeof(begin));
	for (size_t i = 0; i < NR_FORMATS; i++) {
		size_t system = strlen(formats[i].system) + 1;
		size_t len = strlen(formats[i].text);

		memcpy(text, formats[i].system, system);
		memcpy(text + system, formats[i].text, len);
		fake_part(r, TRACE_PART_FORMAT, 0, 0, text, system + len);
	}
}

void fake_begin_switch(struct fake_recording *r, int32_t launcher, uint32_t offset,
		       uint32_t size)
{
	struct trace_begin begin = { .launcher = launcher };
	char text[2048] = "sched";
	int len = snprintf(text + 6, sizeof(text) - 6,
			   "name: sched_switch\nID: 54\n" COMMON
			   "\tfield:char prev_comm[16];\toffset:%u;\tsize:%u;\tsigned:1;\n"
			   "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			   "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
			   "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
			   "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
			   "\nprint fmt: \"prev_comm=%%s\", REC->prev_comm\n", offset, size);

	fake_part(r, TRACE_PART_BEGIN, 0, 0, &begin, sizeof(begin));
	fake_part(r, TRACE_PART_FORMAT, 0, 0, text, 6 + len);
}

/* A record at the offsets of the formats above; returns its size. */
static size_t encode(const struct event *e, char *record)
{
	static const struct {
		uint16_t id;
		size_t size;
	} kinds[] = {
		[EVENT_CHARGE] = { 277, 64 }, [EVENT_PERCENT] = { 276, 32 },
		[EVENT_DEADLINE] = { 275, 32 }, [EVENT_GATE] = { 274, 40 },
		[EVENT_SWITCH] = { 54, 64 }, [EVENT_WAKEUP] = { 56, 36 },
		[EVENT_MIGRATE] = { 53, 40 }, [EVENT_FORK] = { 48, 48 },
		[EVENT_EXEC] = { 47, 20 }, [EVENT_EXIT] = { 51, 32 },
	};
	uint32_t cpu = e->cpu, from, to;
	/* 0 in a state is "runs", 0x100 that it was made to stop. */
	int64_t state;

	memset(record, 0, 64);
	memcpy(record, &kinds[e->kind].id, 2);
	if (e->kind <= EVENT_GATE) {
		memcpy(record + 8, &e->experiment, 4);
		memcpy(record + 12, &e->pid, 4);
	} else if (e->kind == EVENT_EXEC) {
		memcpy(record + 12, &e->pid, 4);
	} else {
		memcpy(record + 24, &e->pid, 4);
	}
	switch (e->kind) {
	case EVENT_CHARGE:
		memcpy(record + 16, &cpu, 4);
		memcpy(record + 24, &e->charge, sizeof(e->charge));
		break;
	case EVENT_PERCENT:
		memcpy(record + 16, &e->percent.percent, 4);
		memcpy(record + 24, &e->percent.lvt, 8);
		break;
	case EVENT_DEADLINE:
		memcpy(record + 16, &e->deadline, 16);
		break;
	case EVENT_GATE:
		record[16] = e->shut;
		memcpy(record + 24, &e->gate, 16);
		break;
	case EVENT_SWITCH:
		state = e->change.blocked ? 1 : 0x100;
		memcpy(record + 8, e->change.name, 16);
		memcpy(record + 32, &state, 8);
		memcpy(record + 40, e->change.next_name, 16);
		memcpy(record + 56, &e->change.next, 4);
		break;
	case EVENT_MIGRATE:
		from = e->migrate.from;
		to = e->migrate.to;
		memcpy(record + 32, &from, 4);
		memcpy(record + 36, &to, 4);
		break;
	case EVENT_FORK:
		memcpy(record + 44, &e->fork.child, 4);
		break;
	}
	return kinds[e->kind].size;
}

/* Bits of the size of a page's data. */
#define MISSED	(1ULL << 31)
#define HEADER	16

struct page {
	char data[FAKE_PAGE];
	size_t used;
	uint64_t last;		/* time */
};

static void flush(struct fake_recording *r, uint32_t cpu, struct page *p,
		  uint64_t flags)
{
	uint64_t size = (p->used - HEADER) | flags;

	memcpy(p->data + 8, &size, 8);
	fake_part(r, TRACE_PART_PAGES, cpu, FAKE_PAGE, p->data, FAKE_PAGE);
	memset(p, 0, sizeof(*p));
}

static void put_word(struct page *p, uint32_t word)
{
	memcpy(p->data + p->used, &word, 4);
	p->used += 4;
}

static void put_event(struct page *p, const struct event *e)
{
	char record[64];
	size_t size = encode(e, record);
	uint64_t delta;

	if (!p->used) {
		memcpy(p->data, &e->time, 8);
		p->used = HEADER;
		p->last = e->time;
	}
	delta = e->time - p->last;
	if (delta >> 27) {
		put_word(p, 30 | (delta & ((1 << 27) - 1)) << 5);
		put_word(p, delta >> 27);
		delta = 0;
	}
	put_word(p, size / 4 | delta << 5);
	memcpy(p->data + p->used, record, size);
	p->used += size;
	p->last = e->time;
}

static void put_pages(struct fake_recording *r, uint32_t cpu, uint64_t flags,
		      const struct event *events, size_t count)
{
	struct page page = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (page.used > FAKE_PAGE - 80) {
			flush(r, cpu, &page, flags);
			flags = 0;
		}
		put_event(&page, &events[i]);
	}
	if (page.used)
		flush(r, cpu, &page, flags);
}

void fake_pages(struct fake_recording *r, uint32_t cpu,
		const struct event *events, size_t count)
{
	put_pages(r, cpu, 0, events, count);
}

void fake_missed(struct fake_recording *r, uint32_t cpu,
		 const struct event *events, size_t count)
{
	put_pages(r, cpu, MISSED, events, count);
}

void fake_lost(struct fake_recording *r, uint32_t cpu, uint64_t events)
{
	fake_part(r, TRACE_PART_LOST, cpu, 0, &events, sizeof(events));
}

void fake_free(struct fake_recording *r)
{
	free(r->data);
	*r = (struct fake_recording){ 0 };
}
