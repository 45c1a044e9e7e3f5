// SPDX-License-Identifier: GPL-2.0
/* Reads recordings, good and bad. */
#include <stdlib.h>
#include <string.h>

#include "fake-recording.h"
#include "tap.h"
#include "base/util.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LAUNCHER = 10, PROGRAM = 11, THREAD = 12, STRANGER = 50 };
enum { OURS = 3, THEIRS = 4 };

static struct event charge(uint64_t time, uint32_t experiment, int32_t pid)
{
	return (struct event){
		.time = time, .kind = EVENT_CHARGE, .experiment = experiment,
		.pid = pid, .cpu = 1, .charge = { 1000, 2000, time, time - 5, 900 },
	};
}

static struct event change(uint64_t time, int32_t from, int32_t to)
{
	return (struct event){
		.time = time, .kind = EVENT_SWITCH, .pid = from,
		.change = { to, true, "from", "to" },
	};
}

/* This event makes the launcher's experiment the one that is looked for. */
static struct event opening(void)
{
	return (struct event){
		.time = 1, .kind = EVENT_PERCENT, .experiment = OURS,
		.pid = LAUNCHER, .percent = { .lvt = 0, .percent = 100 },
	};
}

/* The whole recording, which has to be a good one. */
static struct trace take(struct fake_recording *r)
{
	struct trace t;
	char *error = trace_read(&t, r->data, r->size);

	if (error)
		printf("# %s\n", error);
	ok(!error, "is read");
	free(error);
	fake_free(r);
	return t;
}

static bool same_event(const struct event *a, const struct event *b)
{
	if (a->time != b->time || a->kind != b->kind || a->pid != b->pid ||
	    a->cpu != b->cpu || a->shut != b->shut ||
	    a->experiment != b->experiment)
		return false;
	switch (a->kind) {
	case EVENT_CHARGE:
		return !memcmp(&a->charge, &b->charge, sizeof(a->charge));
	case EVENT_PERCENT:
		return a->percent.lvt == b->percent.lvt &&
		       a->percent.percent == b->percent.percent;
	case EVENT_DEADLINE:
		return !memcmp(&a->deadline, &b->deadline,
			       sizeof(a->deadline));
	case EVENT_GATE:
		return !memcmp(&a->gate, &b->gate, sizeof(a->gate));
	case EVENT_SWITCH:
		return a->change.next == b->change.next &&
		       a->change.blocked == b->change.blocked &&
		       !strcmp(a->change.name, b->change.name) &&
		       !strcmp(a->change.next_name, b->change.next_name);
	case EVENT_MIGRATE:
		return a->migrate.from == b->migrate.from &&
		       a->migrate.to == b->migrate.to;
	case EVENT_FORK:
		return a->fork.child == b->fork.child;
	default:
		return true;
	}
}

static void test_all_kinds(void)
{
	const struct event events[] = {
		opening(),
		charge(10, OURS, PROGRAM),
		{ .time = 20, .kind = EVENT_PERCENT, .experiment = OURS,
		  .pid = PROGRAM, .percent = { 1ULL << 40, 100000 } },
		{ .time = 30, .kind = EVENT_DEADLINE, .experiment = OURS,
		  .pid = 0, .deadline = { 77, 78 } },
		{ .time = 40, .kind = EVENT_GATE, .experiment = OURS,
		  .pid = PROGRAM, .shut = true, .gate = { 5, 4 } },
		{ .time = 50, .kind = EVENT_GATE, .experiment = OURS,
		  .pid = PROGRAM, .shut = false, .gate = { 6, 6 } },
		change(60, PROGRAM, 0),
		{ .time = 70, .kind = EVENT_WAKEUP, .pid = PROGRAM },
		{ .time = 80, .kind = EVENT_MIGRATE, .pid = PROGRAM,
		  .migrate = { 2, 60 } },
		{ .time = 90, .kind = EVENT_FORK, .pid = PROGRAM,
		  .fork = { THREAD } },
		/* A delta that one word cannot hold. */
		{ .time = 90000000000, .kind = EVENT_EXEC, .pid = PROGRAM },
		{ .time = 90000000001, .kind = EVENT_EXIT, .pid = PROGRAM },
	};
	struct fake_recording r = { 0 };
	bool same = true;
	struct trace t;

	fake_begin(&r, LAUNCHER, PROGRAM, 123);
	fake_pages(&r, 0, events, COUNT(events));
	t = take(&r);
	is_i64(t.count, COUNT(events), "all of it");
	for (size_t i = 0; i < COUNT(events) && i < t.count; i++) {
		bool match = same_event(&t.events[i], &events[i]);

		if (!match)
			printf("# event %zu of kind %d\n", i, events[i].kind);
		same = same && match;
	}
	ok(same, "as it was written");
	ok(t.begin.launcher == LAUNCHER && t.begin.program == PROGRAM &&
	   t.begin.time == 123, "who began, and when");
	is_i64(t.lost, 0, "nothing lost");
	trace_free(&t);
}

static bool in_order(const struct trace *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->events[i].time < t->events[i - 1].time)
			return false;
	return true;
}

static void test_many(void)
{
	enum { MANY = 1000 };
	static struct event even[MANY], odd[MANY];
	struct fake_recording r = { 0 };
	struct event first = opening();
	struct trace t;

	for (int i = 0; i < MANY; i++) {
		even[i] = charge(10 + 2 * i, OURS, PROGRAM);
		odd[i] = charge(11 + 2 * i, OURS, THREAD);
	}
	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 1, odd, MANY);
	fake_pages(&r, 0, &first, 1);
	fake_pages(&r, 0, even, MANY);
	t = take(&r);
	is_i64(t.count, 2 * MANY + 1, "many pages of two CPUs");
	ok(in_order(&t), "in the order of time");
	trace_free(&t);
}

static void test_others(void)
{
	const struct event events[] = {
		charge(1, THEIRS, STRANGER),
		opening(),
		charge(20, OURS, PROGRAM),
		charge(30, THEIRS, STRANGER),
		change(40, STRANGER, STRANGER + 1),
		change(50, STRANGER, PROGRAM),
		{ .time = 60, .kind = EVENT_WAKEUP, .pid = STRANGER },
		{ .time = 70, .kind = EVENT_DEADLINE, .experiment = THEIRS },
	};
	struct fake_recording r = { 0 };
	struct trace t;

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, events, COUNT(events));
	t = take(&r);
	is_i64(t.count, 3, "what is of others is left out");
	is_i64(t.count == 3 ? t.events[2].time : 0, 50,
	       "but not who ran before the program");
	trace_free(&t);
}

static void test_lost(void)
{
	struct event first = opening();
	const struct event here[] = {
		charge(10, OURS, PROGRAM), charge(100, OURS, PROGRAM),
	};
	const struct event there[] = {
		charge(11, OURS, THREAD), charge(50, OURS, THREAD),
		charge(99, OURS, THREAD), charge(120, OURS, THREAD),
	};
	struct fake_recording r = { 0 };
	struct trace t;

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 2, &first, 1);
	fake_lost(&r, 0, 7);
	fake_pages(&r, 0, here, COUNT(here));
	fake_pages(&r, 1, there, COUNT(there));
	fake_lost(&r, 3, 5);
	t = take(&r);
	is_i64(t.lost, 12, "what was lost is counted");
	is_i64(t.count, 0, "a buffer without any event makes all of it doubtful");
	trace_free(&t);

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 2, &first, 1);
	fake_lost(&r, 0, 7);
	fake_pages(&r, 0, here, COUNT(here));
	fake_pages(&r, 1, there, COUNT(there));
	t = take(&r);
	is_i64(t.count, 6, "nothing is told of when others may be missing");
	is_i64(t.count ? t.events[t.count - 1].time : 0, 100,
	       "up to the last event of the full buffer");
	trace_free(&t);

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 2, &first, 1);
	fake_missed(&r, 0, here, COUNT(here));
	t = take(&r);
	is_i64(t.lost, 1, "a page that misses some is seen");
	trace_free(&t);
}

/* Checks that the error of trace_read() contains the text. */
static bool says(struct fake_recording *r, const char *text)
{
	struct trace t;
	char *error = trace_read(&t, r->data, r->size);
	bool said = error && strstr(error, text);

	if (!said)
		printf("# it said: %s\n", error ? error : "nothing");
	free(error);
	trace_free(&t);
	fake_free(r);
	return said;
}

static void test_bad(void)
{
	struct event stranger = charge(10, THEIRS, STRANGER);
	struct fake_recording r = { 0 };
	char junk[FAKE_PAGE];

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, &stranger, 1);
	ok(says(&r, "no experiment is in it"), "no event of the launcher's");

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_lost(&r, 0, 1);
	fake_pages(&r, 0, &stranger, 1);
	ok(says(&r, "use --buffer"), "which may have been lost");

	fake_pages(&r, 0, &stranger, 1);
	ok(says(&r, "cannot be read"), "pages without formats");

	memset(junk, 0xff, sizeof(junk));
	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_part(&r, TRACE_PART_PAGES, 0, FAKE_PAGE, junk, 100);
	ok(says(&r, "cannot be read"), "a part of a page");

	fake_part(&r, TRACE_PART_FORMAT, 0, 0, junk, sizeof(junk));
	ok(says(&r, "cannot be read"), "a format that is none");
}

/* With sanitizers: none of these may read what is not there. */
static void test_cut_short(void)
{
	const struct event events[] = {
		opening(), charge(10, OURS, PROGRAM), change(20, PROGRAM, 0),
	};
	struct fake_recording r = { 0 };
	size_t bad = 0;

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, events, COUNT(events));
	for (size_t size = 0; size < r.size; size += 3) {
		/*
		 * A block of exactly this size, so that a byte more is noticed.
		 */
		char *copy = malloc(size + !size);
		struct trace t;
		char *error;

		memcpy(copy, r.data, size);
		error = trace_read(&t, copy, size);
		bad += error != NULL;
		free(error);
		free(copy);
		trace_free(&t);
	}
	is_i64(bad, (r.size + 2) / 3, "one that is cut short is said to be bad");
	fake_free(&r);
}

/* A page of two events, changed at a place; true if that is told. */
static bool damaged(size_t at, uint32_t word)
{
	const struct event events[] = { opening(), charge(10, OURS, PROGRAM) };
	struct fake_recording r = { 0 };

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, events, COUNT(events));
	memcpy(r.data + r.size - FAKE_PAGE + at, &word, sizeof(word));
	return says(&r, "cannot be read");
}

/* Where the two events' parts are: 16 bytes, and a word before each. */
static void test_damaged_pages(void)
{
	enum { LENGTH = 8, FIRST = 16, FIRST_SIZE = 32, SECOND = 52,
	       ALL = 36 + 68, STORED = 1 << 30, PADDING = 29 };

	ok(!damaged(LENGTH, ALL), "a page that is not damaged");
	ok(damaged(LENGTH, FAKE_PAGE - FIRST + 4), "more than the page has");
	ok(damaged(LENGTH, ALL - 4), "less than its events");
	ok(damaged(LENGTH, ALL + 4), "more than its events");
	ok(damaged(LENGTH, STORED | (FAKE_PAGE - FIRST)),
	   "no room for how many were lost");
	ok(damaged(FIRST, FIRST_SIZE / 4 + 1), "an event that is too long");
	ok(damaged(SECOND, 20), "the last one, beyond the page's end");
	ok(damaged(SECOND, 0), "one whose length is its type, and 277");
	ok(damaged(SECOND, PADDING), "padding that is longer than the page");
}

/* As padding that takes the first event's place, so that all adds up. */
static void test_short_event(void)
{
	struct event first = opening();
	struct fake_recording r = { 0 };
	uint32_t word = 1, rest[] = { 29, 24 };
	char *page;

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, &first, 1);
	page = r.data + r.size - FAKE_PAGE;
	/* Its id alone, and padding. */
	memcpy(page + 16, &word, sizeof(word));
	memcpy(page + 24, rest, sizeof(rest));
	ok(says(&r, "cut short"), "an event without its fields");
}

/* Root in a guest may change where the kernel says that fields are. */
static void test_bad_format(void)
{
	static const struct {
		uint32_t offset, size;
	} bad[] = {
		/* The ends of these overflow to 16 and 8. */
		{ 3221225472, 1073741840 }, { 4294967288, 16 },
		{ 8, 4294967280 }, { 8, 0 }, { 65537, 16 }, { 8, 65537 },
	};
	const struct event event = change(20, PROGRAM, 0);
	struct fake_recording r = { 0 };

	fake_begin_switch(&r, LAUNCHER, 8, 16);
	fake_pages(&r, 0, &event, 1);
	ok(says(&r, "no experiment"), "a field where it is");
	for (size_t i = 0; i < COUNT(bad); i++) {
		fake_begin_switch(&r, LAUNCHER, bad[i].offset, bad[i].size);
		fake_pages(&r, 0, &event, 1);
		ok(says(&r, "lacks a field"), "a field at %u of %u bytes", bad[i].offset,
		   bad[i].size);
	}
}

static void test_numbers(void)
{
	const struct event events[] = { opening(), charge(10, OURS, 4194305) };
	const struct event fork = {
		.time = 10, .kind = EVENT_FORK, .pid = PROGRAM, .fork = { 0x7fffffff },
	};
	struct fake_recording r = { 0 };

	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, events, COUNT(events));
	ok(says(&r, "above 4194304"), "a thread's number that no kernel gives");
	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_pages(&r, 0, &fork, 1);
	ok(says(&r, "above 4194304"), "a child's");
	for (int i = 0; i < 2; i++) {
		fake_begin(&r, LAUNCHER, i ? -1 : 0x7fffffff, 0);
		fake_pages(&r, 0, events, 1);
		ok(says(&r, "above 4194304"), "the program's");
	}
	fake_begin(&r, LAUNCHER, PROGRAM, 0);
	fake_part(&r, TRACE_PART_PAGES, 0, UINT32_MAX, "", 0);
	ok(says(&r, "an impossible size"), "a page longer than its part");
}

int main(void)
{
	test_all_kinds();
	test_many();
	test_others();
	test_lost();
	test_bad();
	test_damaged_pages();
	test_short_event();
	test_bad_format();
	test_numbers();
	test_cut_short();
	return done();
}
