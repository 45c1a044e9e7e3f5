// SPDX-License-Identifier: GPL-2.0
/* Builds a model from events: who did what, when, in both times. */
#include <stdlib.h>
#include <string.h>

#include "fake-story.h"
#include "tap.h"

enum { A = STORY_PROGRAM, B = 12, C = 13 };

static struct model build(struct story *s)
{
	struct model m;

	model_build(&m, &s->trace, NULL);
	story_free(s);
	return m;
}

static const struct lane *lane(const struct model *m, int32_t pid)
{
	static const struct lane none;

	for (size_t i = 0; i < m->nr_lanes; i++)
		if (m->lanes[i].pid == pid)
			return &m->lanes[i];
	return &none;
}

static bool has_percent(const struct lane *l, const char *text)
{
	char *percent = lane_percent(l);
	bool same = !strcmp(percent, text);

	if (!same)
		printf("# '%s', not '%s'\n", percent, text);
	free(percent);
	return same;
}

/* Real time that a thread spent in pieces of a kind. */
static uint64_t spent(const struct lane *l, enum piece_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->nr_pieces; i++)
		if (l->pieces[i].kind == kind)
			sum += l->pieces[i].end - l->pieces[i].begin;
	return sum;
}

static const struct piece *first_piece(const struct lane *l,
				       enum piece_kind kind)
{
	static const struct piece none;

	for (size_t i = 0; i < l->nr_pieces; i++)
		if (l->pieces[i].kind == kind)
			return &l->pieces[i];
	return &none;
}

/* Two threads at 100 and 50 by turns of 4 and 2 ms, as a fair CPU has them. */
static void share_a_cpu(struct story *s)
{
	story_begin(s, 1);
	story_fork(s, A, B);
	for (int i = 0; i < 10; i++) {
		for (int ms = 0; ms < 4; ms++) {
			s->now += 1000000;
			story_charge(s, A, 0, 1000000, 100);
		}
		story_switch(s, 0, B, false);
		s->now += 2000000;
		story_charge(s, B, 0, 2000000, 50);
		story_switch(s, 0, A, false);
	}
}

static void test_one_cpu(void)
{
	struct story s;
	struct model m;
	const struct lane *a, *b;

	share_a_cpu(&s);
	m = build(&s);
	a = lane(&m, A);
	b = lane(&m, B);
	is_i64(m.nr_lanes, 2, "the program's threads, without the launcher");
	is_i64(m.cpus, 1, "one CPU");
	is_i64(a->charged, 40000000, "what each was charged");
	is_i64(b->charged, 40000000, "half as fast, half as long, the same");
	is_i64(b->ran, 20000000, "and what it ran");
	ok(has_percent(a, "100 %"), "the percent of one");
	ok(has_percent(b, "50 %"), "and of the other");
	is_i64(spent(b, PIECE_RUN), 20000000, "one runs");
	is_i64(spent(b, PIECE_READY), 40000000, "while the other waits");
	is_i64(spent(b, PIECE_GATED) + spent(b, PIECE_BLOCKED), 0,
	       "and does nothing else");
	is_i64(a->nr_pieces, 20, "charges in a row are one piece");
	is_i64(a->born, 0, "real time begins with the program");
	is_i64(a->birth, 0, "and so does virtual time");
	is_i64(m.end, 60000100, "real time ends with it");
	is_i64(m.virtual_end, 80000000, "virtual time is what was charged");
	is_i64(a->gated + b->gated + a->migrations, 0, "no gate, one CPU");
	ok(!strcmp(a->name, "thread 11"), "a name");
	model_free(&m);
}

/* In step: the one at 50 runs a window, and waits at the gate as long. */
static void test_gates(void)
{
	struct story s;
	struct model m;
	const struct lane *b;

	story_begin(&s, 2);
	story_fork(&s, A, B);
	story_switch(&s, 1, B, false);
	for (int i = 0; i < 5; i++) {
		s.now += 500000;
		story_charge(&s, B, 1, 500000, 50);
		story_charge(&s, A, 0, 500000, 100);
		story_gate(&s, B, 1, true);
		story_switch(&s, 1, 0, true);
		s.now += 500000;
		story_charge(&s, A, 0, 500000, 100);
		story_wake(&s, B);
		s.now += 10;
		story_switch(&s, 1, B, false);
		story_gate(&s, B, 1, false);
	}
	m = build(&s);
	b = lane(&m, B);
	is_i64(m.cpus, 2, "two CPUs");
	is_i64(b->gated, 5 * 500010, "as long as the gate was shut");
	is_i64(spent(b, PIECE_GATED), 5 * 500000, "and as long as it held");
	ok(first_piece(b, PIECE_GATED)->from == 1000000 &&
	   first_piece(b, PIECE_GATED)->to == 1000000,
	   "while no virtual time passes to it");
	is_i64(b->leads[0].ns, 1000000, "how far its CPU was ahead");
	is_i64(m.nr_gvt && m.gvt[m.nr_gvt - 1].ns == 5000000, 1,
	       "how far all have come");
	is_i64(lane(&m, A)->gated, 0, "the slower one is never gated");
	model_free(&m);
}

static void test_sleep(void)
{
	struct story s;
	struct model m;
	const struct lane *a;
	const struct piece *p;
	const struct mark *mark = NULL;

	story_begin(&s, 1);
	s.now = 1000000;
	story_charge(&s, A, 0, 1000000, 100);
	story_switch(&s, 0, 0, true);
	s.now = 5000000;
	s.lvt[0] = STORY_VIRTUAL + 5000000;
	story_deadline(&s, A, 5000000);
	story_wake(&s, A);
	s.now = 6000000;
	story_switch(&s, 0, A, false);
	s.now = 7000000;
	story_charge(&s, A, 0, 1000000, 100);
	story_exit(&s, A);
	s.now = 7100000;
	story_charge(&s, A, 0, 100000, 100);
	story_switch(&s, 0, 0, true);
	/* Others go on, which is not the program's. */
	s.now = 9000000;
	story_charge(&s, STORY_LAUNCHER, 0, 100000, 100);
	m = build(&s);
	a = lane(&m, A);
	p = first_piece(a, PIECE_BLOCKED);
	is_i64(p->begin, 1000000, "it sleeps from");
	is_i64(p->end, 5000000, "until it is woken");
	is_i64(p->to, 5000000, "at the deadline, in virtual time");
	is_i64(spent(a, PIECE_READY), 1000000, "then waits for the CPU");
	for (size_t i = 0; i < a->nr_marks; i++)
		if (a->marks[i].kind == MARK_DEADLINE)
			mark = &a->marks[i];
	ok(mark && mark->value == 5000000 && mark->time == 5000000,
	   "the deadline is marked");
	is_i64(a->died, 7100000, "it ends when it leaves the CPU");
	is_i64(a->charged, 2100000, "and is charged to the end");
	is_i64(m.end, 7100000, "which is the end of it all");
	model_free(&m);
}

static void test_percents(void)
{
	struct story s;
	struct model m;
	const struct lane *a;

	story_begin(&s, 1);
	for (int i = 0; i < 3; i++) {
		s.now += 1000000;
		story_charge(&s, A, 0, 1000000, i == 1 ? 50 : 100);
		/* Tense's own work costs nothing. */
		s.now += 2000;
		story_charge_call(&s, A, 0, 2000, 2000, 100);
	}
	m = build(&s);
	a = lane(&m, A);
	is_i64(a->nr_pieces, 6, "a piece for each percent");
	is_i64(piece_percent(&a->pieces[0]), 100000, "at the one");
	is_i64(piece_percent(&a->pieces[1]), 0, "at none");
	is_i64(piece_percent(&a->pieces[2]), 50000, "and the other");
	ok(has_percent(a, "100 and 50 %") || has_percent(a, "50 and 100 %"),
	   "both are told");
	model_free(&m);

	story_begin(&s, 1);
	for (int i = 0; i < 50; i++) {
		s.now += 1000000;
		story_charge(&s, A, 0, 1000000, 20 + 20 * i);
	}
	m = build(&s);
	ok(!lane(&m, A)->nr_percents, "of many, none");
	is_i64(lane(&m, A)->mean_percent / 1000, 222, "but their mean");
	model_free(&m);
}

static void test_migration(void)
{
	struct story s;
	struct model m;
	const struct lane *a;

	story_begin(&s, 2);
	s.lvt[1] = STORY_VIRTUAL + 400000;
	s.now = 1000000;
	story_charge(&s, A, 0, 1000000, 100);
	story_switch(&s, 0, 0, false);
	story_migrate(&s, A, 0, 1);
	s.now = 1100000;
	story_switch(&s, 1, A, false);
	s.now = 1300000;
	story_charge(&s, A, 1, 200000, 100);
	m = build(&s);
	a = lane(&m, A);
	is_i64(a->migrations, 1, "a migration");
	is_i64(m.cpus, 2, "to a second CPU");
	is_i64(a->pieces[a->nr_pieces - 1].from, 1000000,
	       "R9: its time does not run backwards");
	is_i64(a->pieces[a->nr_pieces - 1].lvt_from, 400000,
	       "though that of its CPU is behind");
	model_free(&m);
}

static void test_numbers(void)
{
	struct {
		struct tense_stats s;
		struct tense_thread t[3];
	} stats = {
		.s = { .size = sizeof(stats.s), .threads = 3,
		       .thread_size = sizeof(stats.t[0]), .window = 77 },
		.t = {
			{ .pid = A, .tgid = A, .comm = "main", .charged = 1 },
			{ .pid = B, .tgid = A, .comm = "fir\x1bt", .charged = 2,
			  .flags = TENSE_THREAD_EXITED },
			{ .pid = B, .tgid = B, .comm = "second", .charged = 3,
			  .flags = TENSE_THREAD_EXITED },
		},
	};
	struct story s;
	struct model m;

	story_begin(&s, 1);
	for (int i = 0; i < 2; i++) {
		story_fork(&s, A, B);
		story_switch(&s, 0, B, true);
		s.now += 1000000;
		story_charge(&s, B, 0, 1000000, 100);
		story_exit(&s, B);
		story_switch(&s, 0, A, true);
	}
	s.now += 1000000;
	story_charge(&s, A, 0, 1000000, 100);
	model_build(&m, &s.trace, &stats);
	story_free(&s);
	is_i64(m.nr_lanes, 3, "a number that is used again is another thread");
	ok(m.nr_lanes == 3 && !strcmp(m.lanes[1].name, "fir?t") &&
	   !strcmp(m.lanes[2].name, "second"), "each with its own account, and no name with a control character");
	is_i64(lane_charged(&m.lanes[0]), 1, "of the kernel's");
	is_i64(m.window, 77, "and the window");
	model_free(&m);
}

/* Most charges contain a call, as on a machine that steals time. */
static void test_calls(void)
{
	struct story s;
	struct model m;
	const struct lane *l;

	story_begin(&s, 1);
	for (int i = 0; i < 100; i++) {
		s.now += 100000;
		story_charge_call(&s, A, 0, 100000, i % 10 ? 15000 : 0, 50);
	}
	m = build(&s);
	l = lane(&m, A);
	ok(has_percent(l, "50 %"), "calls do not change the percent");
	is_i64(first_piece(l, PIECE_RUN)->ran, 10000000, "one piece");
	is_i64(first_piece(l, PIECE_RUN)->own, 90 * 15000, "calls took a part");
	is_i64(l->charged, 2 * (100 * 100000 - 90 * 15000), "not charged");
	model_free(&m);
}

/* One that sees its own child before it was told of it. */
static void test_unknown(void)
{
	struct story s;
	struct model m;

	story_begin(&s, 1);
	s.now = 1000000;
	s.on[0] = C;
	story_charge(&s, C, 0, 600000, 100);
	m = build(&s);
	is_i64(lane(&m, C)->charged, 600000, "a thread without a beginning");
	is_i64(lane(&m, C)->born, 400000, "began when it ran");
	model_free(&m);
}

static bool pieces_fit(const struct lane *l)
{
	uint64_t charged = 0, end = l->born, to = 0;

	for (size_t i = 0; i < l->nr_pieces; i++) {
		const struct piece *p = &l->pieces[i];

		if (p->begin < end || p->end < p->begin || p->from < to ||
		    p->to < p->from)
			return false;
		end = p->end;
		to = p->to;
		charged += p->charged;
	}
	return charged == l->charged && end <= l->died;
}

static bool is_about(unsigned int percent, unsigned int whole)
{
	return abs((int)percent - (int)whole * TENSE_FINE) <= 10;
}

/* Every ns of a piece is charged at its percent; each charge is in whole ns. */
static bool rates_fit(const struct lane *l)
{
	for (size_t i = 0; i < l->nr_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		unsigned int percent = piece_percent(p);

		if (p->kind == PIECE_RUN && p->ran > 100000 &&
		    !is_about(percent, 50) && !is_about(percent, 100) &&
		    !is_about(percent, 200))
			return false;
	}
	return true;
}

static void test_random(void)
{
	size_t pieces = 0, bad = 0, rates = 0, gated = 0;

	for (unsigned int seed = 0; seed < 100; seed++) {
		struct story s;
		struct model m;

		story_random(&s, 1 + seed % STORY_CPUS, 2 + seed % 9, 400,
			     seed);
		m = build(&s);
		for (size_t i = 0; i < m.nr_lanes; i++) {
			bad += !pieces_fit(&m.lanes[i]);
			rates += !rates_fit(&m.lanes[i]);
			pieces += m.lanes[i].nr_pieces;
			gated += spent(&m.lanes[i], PIECE_GATED) > 0;
		}
		model_free(&m);
	}
	ok(pieces > 10000 && gated > 100, "random stories: %zu pieces, %zu threads gated",
	   pieces, gated);
	is_i64(bad, 0, "in order, in both times, and charged in full");
	is_i64(rates, 0, "each at one percent");
}

int main(void)
{
	test_one_cpu();
	test_gates();
	test_sleep();
	test_percents();
	test_migration();
	test_numbers();
	test_calls();
	test_unknown();
	test_random();
	return done();
}
