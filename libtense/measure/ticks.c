// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ticks.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/*
 * A step of the watch takes so much time with the CPU, or so much in all. Steps end
 * when the shortest ticks agree, as by K-best.
 */
#define STEP_NS		100000000.0
#define STEP_MOST_NS	400000000.0
#define STEPS		12
#define AGREE		3
#define EPSILON		0.03
#define GAPS		16384
/* A watch around a tick begins and ends so long before and after it. */
#define BEFORE_NS	300000.0
#define AFTER_NS	100000.0
/* Longer than two undisturbed readings of a clock take. */
#define GAP_NS		500.0
/* A tick begins as exactly as the CPU's timer, which a host may delay. */
#define TOLERANCE_NS	10000.0
/* Fewer may be a chance. */
#define LEAST_TICKS	5
/*
 * The shortest of few ticks is longer than the shortest of many. To subtract more
 * than a tick took would be an error that nobody sees.
 */
#define CAUTION		0.87

/* " CPU0 CPU2": the CPUs that are online. */
int ticks_column(char *line, int cpu)
{
	char *rest, *word = strtok_r(line, " \n", &rest), name[20];

	snprintf(name, sizeof(name), "CPU%d", cpu);
	for (int i = 0; word; i++, word = strtok_r(NULL, " \n", &rest))
		if (!strcmp(word, name))
			return i;
	return -1;
}

/* "LOC:   123   456   Local timer interrupts", a number in each column. */
uint64_t ticks_read(FILE *f, int cpu)
{
	char *line = NULL, *at, *end;
	uint64_t value = UINT64_MAX;
	size_t size = 0;
	int column = getline(&line, &size, f) > 0 ? ticks_column(line, cpu) : -1;

	while (column >= 0 && getline(&line, &size, f) > 0) {
		at = line + strspn(line, " ");
		if (strncmp(at, "LOC:", 4) != 0)
			continue;
		at += 4;
		for (int i = 0; i <= column; i++, at = end) {
			value = strtoull(at, &end, 10);
			if (end == at) {
				value = UINT64_MAX;
				break;
			}
		}
		break;
	}
	free(line);
	return value;
}

uint64_t ticks_now(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t value;

	if (!f)
		return UINT64_MAX;
	value = ticks_read(f, cpu);
	fclose(f);
	return value;
}

/* Caches are cold after a switch: the program itself takes longer for a while. */
static bool follows_switch(const struct ticks_gap *gaps, unsigned int i,
			   double tolerance)
{
	return i && gaps[i - 1].switched &&
	       (double)(gaps[i].begin - gaps[i - 1].end) < tolerance;
}

/* A gap, by the part of the interval at which it begins. */
struct place {
	double phase;		/* from 0 to the interval, or a little more */
	unsigned int tick;	/* whole intervals before it */
};

static int by_phase(const void *left, const void *right)
{
	double a = ((const struct place *)left)->phase;
	double b = ((const struct place *)right)->phase;

	return (a > b) - (a < b);
}

/*
 * Sorts gaps by phase. A gap that begins just after the interval does is there
 * twice: a window may reach over the end of the interval.
 */
static unsigned int place_gaps(const struct ticks_gap *gaps, unsigned int count,
			       const struct ticks_comb *comb,
			       struct place *places)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++) {
		double begin = (double)gaps[i].begin;
		unsigned int tick = (unsigned int)(begin / comb->interval);
		struct place p = { begin - tick * comb->interval, tick };

		if (follows_switch(gaps, i, comb->tolerance))
			continue;
		places[n++] = p;
		if (p.phase >= comb->tolerance || !p.tick)
			continue;
		p.phase += comb->interval;
		p.tick--;
		places[n++] = p;
	}
	qsort(places, n, sizeof(*places), by_phase);
	return n;
}

/* In how many intervals does a gap begin in the window from place i on? */
static unsigned int count_intervals(const struct place *places, unsigned int n,
				    unsigned int i, double tolerance,
				    unsigned int *seen)
{
	unsigned int hits = 0;

	for (unsigned int j = i; j < n; j++) {
		if (places[j].phase > places[i].phase + tolerance)
			break;
		/* It holds the last window that the interval was counted in. */
		hits += seen[places[j].tick] != i + 1;
		seen[places[j].tick] = i + 1;
	}
	return hits;
}

double ticks_phase(const struct ticks_gap *gaps, unsigned int count,
		   const struct ticks_comb *comb)
{
	size_t intervals = (size_t)((double)comb->length / comb->interval) + 1;
	struct place *places = malloc((2 * (size_t)count + 1) * sizeof(*places));
	unsigned int *seen = calloc(intervals, sizeof(*seen)), n, most = 0;
	double phase = 0;

	n = places && seen ? place_gaps(gaps, count, comb, places) : 0;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int hits = count_intervals(places, n, i,
						    comb->tolerance, seen);

		if (hits > most) {
			most = hits;
			phase = places[i].phase;
		}
	}
	free(places);
	free(seen);
	return most >= LEAST_TICKS ? phase : -1;
}

/* A tick may begin in it: the phase is known to a part of the tolerance. */
struct window {
	double from;
	double to;
};

/*
 * Looks at one tick: *next is the first gap that may reach its window. Returns -1
 * if a switch, or a gap that began before the window, hides the tick. Else returns
 * the longest gap that begins in the window: other interrupts are shorter or later.
 */
static double look_at_tick(const struct ticks_gap *gaps, unsigned int count,
			   unsigned int *next, const struct window *w)
{
	double longest = 0;

	while (*next < count && (double)gaps[*next].end <= w->from)
		++*next;
	for (unsigned int i = *next; i < count; i++) {
		double length = (double)(gaps[i].end - gaps[i].begin);

		if ((double)gaps[i].begin >= w->to)
			break;
		if (gaps[i].switched || (double)gaps[i].begin < w->from)
			return -1;
		longest = length > longest ? length : longest;
	}
	return longest;
}

static int shortest_first(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double ticks_agreed(double *times, unsigned int count)
{
	if (count)
		qsort(times, count, sizeof(*times), shortest_first);
	for (unsigned int i = 0; i + AGREE <= count; i++)
		if (times[i + AGREE - 1] <= times[i] * (1 + EPSILON))
			return times[i];
	return 0;
}

int ticks_count(const struct ticks_gap *gaps, unsigned int count,
		const struct ticks_comb *comb, double phase,
		struct ticks_seen *seen)
{
	size_t intervals = (size_t)((double)comb->length / comb->interval) + 1;
	double *times = malloc(intervals * sizeof(*times));
	unsigned int next = 0;

	*seen = (struct ticks_seen){ 0 };
	for (size_t i = 0; i < intervals && times; i++) {
		double tick = (double)i * comb->interval + phase, took;
		struct window w = { tick - comb->tolerance / 4,
				    tick + comb->tolerance * 5 / 4 };

		if (w.to > (double)comb->length)
			break;
		took = look_at_tick(gaps, count, &next, &w);
		seen->visible += took >= 0;
		if (took > 0)
			times[seen->seen++] = took;
	}
	if (seen->seen >= LEAST_TICKS && 2 * seen->seen >= seen->visible)
		seen->least = ticks_agreed(times, seen->seen);
	free(times);
	return seen->least > 0 ? 0 : -1;
}

long ticks_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

struct watch {
	const struct counter *counter;
	struct ticks_gap *gaps;
	unsigned int count;
	uint64_t began;
	uint64_t last;
	uint64_t away;		/* for other threads */
	long switches;
};

static void begin_watch(struct watch *w)
{
	w->began = counter_read(w->counter);
	w->last = w->began;
	w->switches = ticks_switches();
}

static void note_gap(struct watch *w, uint64_t now)
{
	long after = ticks_switches();

	w->gaps[w->count++] = (struct ticks_gap){
		.begin = w->last - w->began, .end = now - w->began,
		.switched = after != w->switches,
	};
	w->away += after != w->switches ? now - w->last : 0;
	w->switches = after;
}

/* Until it had the CPU for so long, or for such a time in all. */
static void watch(struct watch *w, double active_ns, double most_ns)
{
	const struct counter *c = w->counter;
	uint64_t gap = (uint64_t)(GAP_NS / c->ns);
	uint64_t active = (uint64_t)(active_ns / c->ns);
	uint64_t most = (uint64_t)(most_ns / c->ns), from = w->last, now;
	uint64_t away = w->away;

	do {
		now = counter_read(c);
		if (now - w->last > gap) {
			note_gap(w, now);
			now = counter_read(c);
		}
		w->last = now;
	} while (now - from - (w->away - away) < active && now - from < most &&
		 w->count < GAPS);
}

double ticks_interval_ns(void)
{
	struct timespec ts;

	/* Ticks advance the coarse clocks. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &ts))
		return 0;
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void sleep_ns(double ns)
{
	const struct timespec ts = { .tv_nsec = (long)ns };

	nanosleep(&ts, NULL);
}

/* The time until the next tick, in ns. */
static double until_tick(const struct watch *w, const struct ticks_comb *comb,
			 double phase)
{
	double since = (double)(counter_read(w->counter) - w->began) - phase;
	double ticks = since / comb->interval;

	return ((double)(uint64_t)(ticks + 1) - ticks) * comb->interval *
	       w->counter->ns;
}

/*
 * Sleeps, and runs only around each tick. A thread that has just begun its slice
 * keeps the CPU at a tick.
 */
static void watch_around_ticks(struct watch *w, const struct ticks_comb *comb,
			       double phase)
{
	double interval = comb->interval * w->counter->ns;
	uint64_t began = counter_read(w->counter);

	while ((double)(counter_read(w->counter) - began) * w->counter->ns <
	       STEP_NS && w->count + 1 < GAPS) {
		double left = until_tick(w, comb, phase);

		if (left > 2 * BEFORE_NS)
			sleep_ns(left - BEFORE_NS);
		/* The sleep is no gap, but it hides what is in it. */
		note_gap(w, counter_read(w->counter));
		w->gaps[w->count - 1].switched = 1;
		w->last = counter_read(w->counter);
		left = until_tick(w, comb, phase);
		if (left < interval / 2)
			watch(w, left + AFTER_NS, left + AFTER_NS);
	}
}

/* Until the shortest ticks agree. Returns their time; 0 if they never do. */
static double see_ticks(struct watch *w, struct ticks_comb *comb)
{
	struct ticks_seen seen;
	double phase = -1;

	for (int i = 0; i < STEPS && w->count + 1 < GAPS; i++) {
		/* Every tick may be the end of a slice, and come with a switch. */
		bool around = i > 0 && phase >= 0;

		if (around)
			watch_around_ticks(w, comb, phase);
		else
			watch(w, STEP_NS, STEP_MOST_NS);
		comb->length = w->last - w->began;
		if (!around)
			phase = ticks_phase(w->gaps, w->count, comb);
		if (phase >= 0 && !ticks_count(w->gaps, w->count, comb, phase,
					       &seen))
			return seen.least;
	}
	return 0;
}

double ticks_least(const struct counter *c)
{
	struct ticks_comb comb = { .interval = ticks_interval_ns() / c->ns,
				   .tolerance = TOLERANCE_NS / c->ns };
	struct watch w = { .counter = c,
			   .gaps = malloc(GAPS * sizeof(*w.gaps)) };
	int cpu = sched_getcpu();
	double least = 0;

	if (w.gaps && comb.interval > comb.tolerance) {
		begin_watch(&w);
		least = see_ticks(&w, &comb);
	}
	free(w.gaps);
	return sched_getcpu() == cpu ? least * c->ns : 0;
}

double ticks_cost(const struct counter *c)
{
	return CAUTION * ticks_least(c);
}
