// SPDX-License-Identifier: GPL-2.0
/*
 * When a program had its CPU: the timer's interval and the interrupts' cost from
 * traces in which they are known, beside what else interrupts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "activity/interval-error.h"
#include "activity/interval.h"
#include "activity/periods.h"
#include "tap.h"

#define NS		0.4	/* one cycle: 2.5 GHz */
#define US		(1e3 / NS)
#define MS		(1e6 / NS)
#define GAPS_MAX	100000

/* Numbers that are the same in each run. */
static uint64_t state;

static double chance(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) / (double)(1ull << 53);
}

static struct gap gaps[GAPS_MAX];

static struct recording begin(double length)
{
	state = 1;
	return (struct recording){ .ns = NS, .length = (uint64_t)length,
				   .gaps = gaps };
}

static void add(struct recording *r, double from, double length, bool switched)
{
	if (from < 0 || from + length >= (double)r->length ||
	    r->count == GAPS_MAX)
		return;
	gaps[r->count++] = (struct gap){
		.begin = (uint64_t)from, .end = (uint64_t)(from + length),
		.switched = switched,
	};
}

/* Late by up to so much, and not seen at some times. */
struct ticks {
	double interval;
	double first;
	double cost;
	double late;
	double missing;
};

static void add_ticks(struct recording *r, struct ticks t)
{
	for (int i = 0; t.first + i * t.interval < (double)r->length; i++) {
		double late = t.late * chance();

		if (chance() >= t.missing)
			add(r, t.first + i * t.interval + late,
			    t.cost * (1 + chance()), false);
	}
}

/* Interrupts at random times. */
static void add_noise(struct recording *r, size_t count, double cost)
{
	for (size_t i = 0; i < count; i++)
		add(r, chance() * (double)r->length, cost * (1 + chance()),
		    false);
}

static int earlier(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* In order, and those that meet are one. */
static void finish(struct recording *r)
{
	size_t kept = 0;

	qsort(gaps, r->count, sizeof(*gaps), earlier);
	for (size_t i = 0; i < r->count; i++) {
		struct gap *last = kept ? &gaps[kept - 1] : NULL;

		if (last && gaps[i].begin <= last->end) {
			last->end = gaps[i].end > last->end ? gaps[i].end :
							      last->end;
			last->switched |= gaps[i].switched;
			continue;
		}
		gaps[kept++] = gaps[i];
	}
	r->count = kept;
	periods_analyse(r);
}

static bool near(double got, double expected, double part)
{
	return fabs(got / expected - 1) <= part;
}

/* Checks the interval, to a part of it, and that its claimed error holds. */
static void is_interval(const struct recording *r, double expected, double part,
			const char *what)
{
	const struct timer *t = &r->timer;

	ok(near(t->interval, expected, part) &&
	   fabs(t->interval - expected) <= 2 * t->error + 1e-6 * expected &&
	   t->error < part * expected,
	   "%s: %.6f +- %.6f ms of %.6f, %zu of %zu", what, t->interval / MS,
	   t->error / MS, expected / MS, t->seen, t->expected);
}

static const struct ticks plain = {
	.interval = 4 * MS, .first = 1.3 * MS, .cost = 5 * US, .late = 2 * US,
};

static void test_plain(void)
{
	static const double rates[] = { 100, 250, 300, 1000 };
	struct recording r = begin(1000 * MS);
	struct share cost;

	add_ticks(&r, plain);
	finish(&r);
	is_interval(&r, 4 * MS, 1e-5, "nothing but ticks");
	/* A slope has this error if times scatter evenly over 2 us. */
	ok(near(r.timer.error, 1.97 * 2 * US / sqrt(12) /
			       sqrt(250.0 * 250 * 250 / 12), 0.2),
	   "its error is that of the times");
	is_i64((int64_t)r.timer.seen, 250, "all of them are seen");
	is_i64((int64_t)r.timer.expected, 250, "which are all");
	cost = periods_interrupt_cost(&r);
	ok(near((double)cost.shortest, 5 * US, 0.01) &&
	   near((double)cost.median, 7.5 * US, 0.1) &&
	   near((double)cost.longest, 10 * US, 0.01),
	   "a tick costs %.2f to %.2f us, mostly %.2f",
	   (double)cost.shortest / US, (double)cost.longest / US,
	   (double)cost.median / US);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct ticks t = plain;
		char name[40];

		t.interval = 1000 * MS / rates[i];
		snprintf(name, sizeof(name), "%.0f per second", rates[i]);
		r = begin(1000 * MS);
		add_ticks(&r, t);
		finish(&r);
		is_interval(&r, t.interval, 3e-5, name);
	}
	/* More ticks than are looked at. */
	r = begin(15000 * MS);
	add_ticks(&r, (struct ticks){ MS, 0.2 * MS, 3 * US, 2 * US, 0 });
	finish(&r);
	is_interval(&r, MS, 1e-5, "for a long time");
	ok(r.timer.seen == r.timer.expected, "of which none is missing");
	is_i64((int64_t)periods_share(&r, CAUSE_TIMER).count, 15000,
	       "also of those that were not looked at it is said");
}

static void test_disturbed(void)
{
	struct recording r = begin(1000 * MS);
	struct ticks t = plain;

	t.late = 30 * US;
	t.missing = 0.3;
	add_ticks(&r, t);
	finish(&r);
	is_interval(&r, 4 * MS, 2e-4, "late ones, and a third is missing");
	ok(r.timer.expected == 250 && near((double)r.timer.seen, 175, 0.1),
	   "which is told");

	r = begin(1000 * MS);
	add_ticks(&r, plain);
	add_noise(&r, 750, 2 * US);
	finish(&r);
	is_interval(&r, 4 * MS, 5e-5, "among three times as many others");
	ok(near((double)periods_share(&r, CAUSE_OTHER).count, 750, 0.1),
	   "which are others");

	/* Short ones, of which some come at the very time of a tick. */
	r = begin(1000 * MS);
	add_ticks(&r, plain);
	add_noise(&r, 5000, 0.5 * US);
	finish(&r);
	is_i64((int64_t)periods_share(&r, CAUSE_TIMER).count, 250,
	       "one interrupt of a tick's is the timer's");
	ok((double)periods_interrupt_cost(&r).shortest >= 5 * US,
	   "so that short ones are not its cost: %.2f us",
	   (double)periods_interrupt_cost(&r).shortest / US);
	ok(near(r.least_ns, 5 * US * NS, 0.05), "%.2f us at least",
	   r.least_ns / 1e3);

	/* As a softirq that a tick wakes: it comes as evenly. */
	r = begin(1000 * MS);
	add_ticks(&r, plain);
	t = plain;
	t.first += 0.31 * MS;
	add_ticks(&r, t);
	finish(&r);
	is_interval(&r, 4 * MS, 5e-5, "each with another one soon after");

	/* As what is cold after it. */
	r = begin(1000 * MS);
	add_ticks(&r, plain);
	t.first = plain.first + 20 * US;
	t.cost = 2 * US;
	add_ticks(&r, t);
	finish(&r);
	is_interval(&r, 4 * MS, 1e-5, "each in two parts");
	is_i64((int64_t)r.timer.seen, 250, "that are one");
}

/* Nothing that comes at even times. */
static void test_none(void)
{
	struct recording r;
	int found = 0;

	for (int seed = 0; seed < 40; seed++) {
		r = begin(1000 * MS);
		state = (uint64_t)seed * 7919 + 5;
		add_noise(&r, (size_t)20 << seed % 7, 3 * US);
		finish(&r);
		found += r.timer.interval > 0;
	}
	is_i64(found, 0, "interrupts at random, 20 to 1280 a second, are no timer");
	ok(!periods_share(&r, CAUSE_TIMER).count &&
	   periods_interrupt_cost(&r).count == r.count &&
	   near((double)periods_interrupt_cost(&r).shortest, 3 * US, 0.05),
	   "of which the cost is told all the same");

	r = begin(1000 * MS);
	finish(&r);
	ok(r.timer.interval == 0 && !periods_interrupt_cost(&r).count,
	   "nothing at all is no timer, and costs nothing");
	r = begin(10000 * MS);
	add_ticks(&r, (struct ticks){ 1000 * MS, 3 * MS, 5 * US, 2 * US, 0 });
	finish(&r);
	ok(r.count == 10 && r.timer.interval == 0,
	   "one a second is left where there are no ticks");
	r = begin(20 * MS);
	add_ticks(&r, plain);
	finish(&r);
	ok(r.count == 5 && r.timer.interval == 0, "five ticks are too few");
	r = begin(24 * MS);
	add_ticks(&r, plain);
	finish(&r);
	ok(r.count == 6 && r.timer.interval == 0, "six are, too");
}

/* Seven interrupts, as in the chapter's figure, with others of I/O between. */
static void test_seven(void)
{
	static const double rates[] = { 100, 250, 1000 };
	struct recording r;
	int found = 0;

	for (int i = 0; i < 3; i++) {
		struct ticks t = plain;
		char name[40];

		t.interval = 1000 * MS / rates[i];
		t.first = 0.33 * t.interval;
		r = begin((uint64_t)(7 * t.interval));
		add_ticks(&r, t);
		finish(&r);
		snprintf(name, sizeof(name), "seven ticks of %g Hz", rates[i]);
		is_interval(&r, t.interval, 1e-3, name);
		ok(r.timer.seen == 7 && r.timer.expected == 7,
		   "all seven are seen");
	}
	/* The chapter's ticks: every 10 ms, 0.46 ms each. */
	for (int seed = 0; seed < 20; seed++) {
		r = begin(75 * MS);
		state = (uint64_t)seed * 6151 + 1;
		add_ticks(&r, (struct ticks){ 10 * MS, 6.8 * MS, 400 * US,
					      5 * US, 0 });
		add_noise(&r, 4, 14 * US);
		finish(&r);
		found += near(r.timer.interval, 10 * MS, 1e-3) &&
			 r.timer.seen >= 6;
	}
	ok(found >= 18, "seven long ones, and four others: %d of 20", found);
	found = 0;
	for (int seed = 0; seed < 400; seed++) {
		r = begin(75 * MS);
		state = (uint64_t)seed * 7919 + 11;
		add_noise(&r, 7 + (size_t)seed % 8, 14 * US);
		finish(&r);
		found += r.timer.interval > 0;
	}
	is_i64(found, 0, "seven to fourteen at random are no timer");
}

/*
 * Others that take the CPU at a tick and give it back at one, so many in turn,
 * for a tick each: no tick is seen by itself.
 */
static struct recording in_turn(int others)
{
	struct recording r = begin(3000 * MS);

	for (int i = 0; i < 3000 / 4 / (others + 1); i++)
		add(&r, plain.first + i * (others + 1) * 4 * MS +
			chance() * 2 * US,
		    others * 4 * MS + (3 + 2 * chance()) * US, true);
	finish(&r);
	return r;
}

static void test_processes(void)
{
	struct recording r = in_turn(1);
	int found;

	is_interval(&r, 4 * MS, 5e-5, "two take turns");
	is_i64((int64_t)periods_share(&r, CAUSE_PROCESS).count,
	       (int64_t)r.count, "it is the other one that interrupts");
	is_i64((int64_t)periods_interrupt_cost(&r).count, 0,
	       "what an interrupt costs is not seen");
	r = in_turn(10);
	is_interval(&r, 4 * MS, 1e-4, "eleven take turns");

	/* One that wakes at even times of its own, four times as often. */
	r = begin(1000 * MS);
	add_ticks(&r, plain);
	for (int i = 0; i < 1000; i++)
		add(&r, (0.37 + i) * MS, (20 + 300 * chance()) * US, true);
	finish(&r);
	is_interval(&r, 4 * MS, 5e-5, "beside one that wakes at even times");

	/* Ticks are behind them for half of the time. */
	for (int even = 0; even < 2; even++) {
		r = begin(2000 * MS);
		add_ticks(&r, plain);
		for (int i = 0; i < 49; i++)
			add(&r, (2.9 + i * 40.7 + !even * 7 * chance()) * MS,
			    (15 + 10 * chance()) * MS, true);
		finish(&r);
		is_interval(&r, 4 * MS, 5e-5, even ?
			    "beside long ones that begin at even times" :
			    "beside long ones");
		ok(r.timer.seen >= r.timer.expected - 2 &&
		   r.timer.expected < 330,
		   "only ticks that can be seen are expected");
	}

	/* Slices of three ticks, and ticks between. */
	r = begin(2000 * MS);
	for (int i = 0; i < 83; i++) {
		double time = plain.first + i * 24 * MS;

		add(&r, time, 12 * MS + 90 * US, true);
		add(&r, time + 16 * MS, plain.cost, false);
		add(&r, time + 20 * MS, plain.cost, false);
	}
	finish(&r);
	is_interval(&r, 4 * MS, 5e-5, "slices of three ticks each");

	/* No timer: they run when they like, and interrupts come. */
	found = 0;
	for (int seed = 0; seed < 40; seed++) {
		r = begin(1000 * MS);
		state = (uint64_t)seed * 104729 + 3;
		for (int i = 0; i < 10 + 5 * seed; i++)
			add(&r, chance() * 1000 * MS, (1 + 5 * chance()) * MS,
			    true);
		add_noise(&r, (size_t)10 << seed % 7, 3 * US);
		finish(&r);
		found += r.timer.interval > 0;
	}
	is_i64(found, 0, "long ones at random are no timer");
}

static void test_periods(void)
{
	struct recording r = begin(1000);
	struct period last = { 0 };
	uint64_t active = 0, inactive = 0;
	bool ordered = true;

	add(&r, 100, 50, false);
	add(&r, 150, 30, true);
	add(&r, 700, 299, false);
	periods_analyse(&r);
	is_i64((int64_t)periods_count(&r), 7, "three gaps are seven periods");
	for (size_t i = 0; i < periods_count(&r); i++) {
		struct period p = periods_at(&r, i);

		ordered = ordered && p.begin == last.end && p.end >= p.begin &&
			  !p.gap == !(i % 2) && p.index == i / 2;
		*(p.gap ? &inactive : &active) += p.end - p.begin;
		last = p;
	}
	ok(ordered && last.end == 1000, "in order, and no time between");
	is_i64((int64_t)inactive, 379, "inactive ones are the gaps");
	is_i64((int64_t)active, 621, "the others are active");
	ok(periods_at(&r, 2).begin == 150 && periods_at(&r, 2).end == 150,
	   "also of no length between two gaps");
	is_i64((int64_t)periods_inactive(&r).total, 379, "as in the sum");
	is_i64((int64_t)periods_inactive(&r).median, 50, "the median");
	is_i64((int64_t)periods_inactive(&r).shortest, 30, "the shortest");
	is_i64((int64_t)periods_inactive(&r).longest, 299, "the longest");
	is_i64((int64_t)periods_share(&r, CAUSE_PROCESS).total, 30,
	       "of a process");
	is_i64((int64_t)periods_share(&r, CAUSE_OTHER).count, 2, "of others");
	r.count = 0;
	ok(periods_count(&r) == 1 && periods_at(&r, 0).end == 1000,
	   "without a gap it is one period");
}

static struct interrupts interrupts_of(const char *text, int cpu)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	struct interrupts all;

	interrupts_read(&all, f, cpu);
	fclose(f);
	return all;
}

static const char before_text[] = "           CPU0       CPU2\n"
	"  0:         10         20   IO-APIC   2-edge      timer\n"
	" 36:          0          7   PCI-MSIX-0000:00:02.0   1-edge  disk\n"
	"LOC:       1000       5000   Local timer interrupts\n"
	"RES:          3          4   Rescheduling interrupts\n"
	"ERR:          9\n";
static const char after_text[] = "           CPU0       CPU2\n"
	"  0:         10         20   IO-APIC   2-edge      timer\n"
	" 36:          0         12   PCI-MSIX-0000:00:02.0   1-edge  disk\n"
	" 40:          0          2   new\n"
	"LOC:       1300       5250   Local timer interrupts\n"
	"RES:          3          4   Rescheduling interrupts\n"
	"ERR:         99\n";

static void test_interrupts(void)
{
	struct interrupts before = interrupts_of(before_text, 2);
	struct interrupts after = interrupts_of(after_text, 2);

	is_i64((int64_t)before.count, 4, "interrupts that have a column");
	interrupts_since(&after, &before);
	is_i64((int64_t)after.count, 3, "those that came meanwhile");
	ok(!strcmp(after.list[0].name, "LOC") && after.list[0].count == 250 &&
	   !strcmp(after.list[0].what, "Local timer interrupts"),
	   "the most frequent first, of this CPU");
	ok(!strcmp(after.list[1].name, "36") && after.list[1].count == 5 &&
	   !strcmp(after.list[1].what, "PCI-MSIX-0000:00:02.0 1-edge disk"),
	   "a device's");
	ok(!strcmp(after.list[2].name, "40") && after.list[2].count == 2,
	   "one that was not there before");
	interrupts_free(&before);
	interrupts_free(&after);
	before = interrupts_of(before_text, 1);
	is_i64((int64_t)before.count, 0, "none of a CPU that is not online");
	interrupts_free(&before);
}

static void test_errors(void)
{
	struct error_sample list[] = {
		{ 0, 1e6, { 0, 4e6, 1.1e6, 1e6 } },
		{ 0, 1e6, { 1e7, 0, 1.3e6, 1e6 } },
		{ 0, 5e6, { 1e7, 4e6, 5e6, 6e6 } },
		{ 3, 1e6, { 0, 0, 1e6, 8e6 } },
	};
	struct error_samples all = { list, 4 };
	struct error_row *rows;
	double lengths[5];

	is_i64((int64_t)error_rows(&all, &rows), 3,
	       "a row for each length and load");
	ok(rows[0].load == 0 && rows[0].expected_ns == 1e6 &&
	   rows[0].samples == 2 && rows[1].expected_ns == 5e6 &&
	   rows[2].load == 3 && rows[2].samples == 1, "in their order");
	ok(rows[0].mean_ns[BY_TICKS] == 4e6 &&
	   rows[0].worst_ns[BY_TICKS] == 9e6, "a tick of 10 ms for 1 ms");
	ok(rows[0].mean_ns[BY_USER] == 1e6 && rows[0].worst_ns[BY_USER] == 3e6,
	   "one of 4 ms");
	ok(near(rows[0].mean_ns[BY_PROCESS], 2e5, 1e-9), "an exact one");
	ok(rows[1].mean_ns[BY_USER] == -1e6 && rows[1].worst_ns[BY_USER] == -1e6,
	   "too little is negative");
	ok(rows[2].mean_ns[BY_COUNTER] == 7e6, "with what others took");
	free(rows);
	is_i64((int64_t)error_lengths(19, lengths, 5), 4, "lengths up to 19 ms");
	ok(lengths[0] == 1 && lengths[1] == 2 && lengths[2] == 5 &&
	   lengths[3] == 10, "are 1, 2, 5, 10");
	is_i64((int64_t)error_lengths(20, lengths, 5), 5, "20 is up to 20");
	is_i64((int64_t)error_lengths(1e9, lengths, 5), 5, "and at most so many");
}

int main(void)
{
	test_plain();
	test_disturbed();
	test_none();
	test_seven();
	test_processes();
	test_periods();
	test_interrupts();
	test_errors();
	return done();
}
