// SPDX-License-Identifier: GPL-2.0
#include "interval.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>

#include "base/util.h"

/* Bins of distances, each by so much wider than the one before. */
#define BIN_RATIO	(1 + INTERVAL_TOLERANCE / 2)
#define PEAKS		24
#define PARTS_MAX	64
#define ANCHORS		50
#define AFTER_NS	50e3
#define FITS		3
/* A slice may end this many tolerances late: a context switch takes time. */
#define END_LATE	4
/* A longer interval wins if it scores at least this part of the best score. */
#define AS_GOOD		0.9
/* A slice may last up to this many timer intervals. */
#define DIVISORS	4

struct comb;

/* Inactive periods that may begin at even times. */
struct events {
	double *times;		/* in order */
	size_t count;
	const struct gap *gaps;
	size_t nr_gaps;
	double length;
	double visible;		/* the loop had the CPU so long */
	double ns;
	/* How these are looked at. */
	size_t most;
	double furthest_ns;	/* distances that are counted */
	int parts;		/* into so many they are divided */
	double (*judge)(const struct events *e, struct comb *c);
};

/* Even times, and which event is at which of them: -1 at none. */
struct comb {
	double first;
	double interval;
	double tolerance;
	double error;
	long *number;		/* the tooth that each event is at */
	size_t hits;
	size_t expected;
	double share;		/* slices that hit, beyond chance */
	double score;
};

static bool is_slice(const struct events *e, const struct gap *gap)
{
	return gap->switched &&
	       (double)(gap->end - gap->begin) * e->ns >= INTERVAL_SLICE_NS;
}

/* Ignores an event soon after another one, which probably caused it. */
static void add(struct events *e, double time)
{
	if (e->count && time - e->times[e->count - 1] < AFTER_NS / e->ns)
		return;
	if (e->count < e->most)
		e->times[e->count++] = time;
}

struct bin {
	size_t count;
	double total;
	double weight;
};

static double bins_of(double ratio)
{
	return log(ratio) / log(BIN_RATIO);
}

static void count_distances(const struct events *e, struct bin *bins)
{
	double min = INTERVAL_MIN_NS / e->ns, max = e->furthest_ns / e->ns;

	for (size_t i = 0; i < e->count; i++) {
		for (size_t j = i + 1; j < e->count; j++) {
			double distance = e->times[j] - e->times[i];
			struct bin *bin;

			if (distance >= max)
				break;
			if (distance < min)
				continue;
			bin = &bins[(size_t)bins_of(distance / min)];
			bin->count++;
			bin->total += distance;
		}
	}
}

/* A bin with its neighbours, on whose border the distance may be. */
static struct bin around(const struct bin *bins, size_t i)
{
	return (struct bin){
		.count = bins[i - 1].count + bins[i].count + bins[i + 1].count,
		.total = bins[i - 1].total + bins[i].total + bins[i + 1].total,
	};
}

/* How far a bin stands out, where wide ones have more by chance. */
static void weigh(const struct events *e, struct bin *bins, size_t nr_bins)
{
	double all = 0;

	for (size_t i = 0; i < nr_bins; i++)
		all += (double)bins[i].count;
	for (size_t i = 0; i < nr_bins; i++) {
		double by_chance = all * (pow(BIN_RATIO, (double)i + 1) -
					  pow(BIN_RATIO, (double)i)) /
				   (e->furthest_ns / INTERVAL_MIN_NS - 1);

		bins[i].weight = ((double)bins[i].count - by_chance) /
				 sqrt(by_chance + 1);
	}
}

static bool is_peak(const struct bin *bins, size_t i)
{
	return bins[i].count && bins[i].weight >= bins[i - 1].weight &&
	       bins[i].weight >= bins[i + 1].weight;
}

static int heaviest_first(const void *left, const void *right)
{
	const struct bin *a = left, *b = right;

	return (a->weight < b->weight) - (a->weight > b->weight);
}

/* Finds the peaks, and the intervals of which they may be multiples. */
static size_t find_candidates(const struct events *e, double *candidates)
{
	/* An empty one at each end. */
	size_t nr_bins = (size_t)bins_of(e->furthest_ns / INTERVAL_MIN_NS) + 3;
	struct bin *bins = xmalloc(nr_bins * sizeof(*bins));
	struct bin *peaks = xmalloc(nr_bins * sizeof(*peaks));
	size_t nr_peaks = 0, count = 0;

	count_distances(e, bins + 1);
	weigh(e, bins + 1, nr_bins - 2);
	for (size_t i = 1; i + 1 < nr_bins; i++) {
		if (!is_peak(bins, i))
			continue;
		peaks[nr_peaks] = around(bins, i);
		peaks[nr_peaks++].weight = bins[i].weight;
	}
	qsort(peaks, nr_peaks, sizeof(*peaks), heaviest_first);
	for (size_t i = 0; i < nr_peaks && i < PEAKS; i++) {
		double distance = peaks[i].total / (double)peaks[i].count;

		for (int part = 1; part <= e->parts; part++) {
			double ns = distance / part * e->ns;

			if (ns >= INTERVAL_MIN_NS && ns < INTERVAL_MAX_NS)
				candidates[count++] = distance / part;
		}
	}
	free(bins);
	free(peaks);
	return count;
}

/* From hit to hit, so that an interval that is not exact yet is followed. */
static size_t follow(const struct events *e, struct comb *c, size_t anchor)
{
	double last = e->times[anchor];
	long number = 0;
	size_t hits = 1;

	for (size_t i = 0; i < e->count; i++)
		c->number[i] = -1;
	c->number[anchor] = 0;
	for (size_t i = anchor + 1; i < e->count; i++) {
		double steps = (e->times[i] - last) / c->interval;
		double whole = round(steps);

		if (whole < 1 ||
		    fabs(steps - whole) * c->interval > c->tolerance)
			continue;
		number += (long)whole;
		c->number[i] = number;
		last = e->times[i];
		hits++;
	}
	return hits;
}

static bool fit(const struct events *e, struct comb *c)
{
	double *x = xmalloc(e->count * sizeof(*x));
	double *y = xmalloc(e->count * sizeof(*y));
	double covariances[3], squares;
	size_t n = 0;

	for (size_t i = 0; i < e->count; i++) {
		if (c->number[i] < 0)
			continue;
		x[n] = (double)c->number[i];
		y[n++] = e->times[i];
	}
	c->hits = n;
	if (n >= INTERVAL_LEAST) {
		gsl_fit_linear(x, 1, y, 1, n, &c->first, &c->interval,
			       &covariances[0], &covariances[1],
			       &covariances[2], &squares);
		c->error = sqrt(covariances[2]) *
			   gsl_cdf_tdist_Pinv(0.975, (double)n - 2);
	}
	free(x);
	free(y);
	return n >= INTERVAL_LEAST;
}

/* Makes the number of the first time at or after 0 be 0. */
static void shift(struct comb *c)
{
	c->first -= floor(c->first / c->interval) * c->interval;
}

/* Each event to the time that it hits; of several, the first one. */
static void assign(const struct events *e, struct comb *c)
{
	long last = -1;

	shift(c);
	for (size_t i = 0; i < e->count; i++) {
		double steps = (e->times[i] - c->first) / c->interval;
		double whole = round(steps);

		c->number[i] = -1;
		if (fabs(steps - whole) * c->interval > c->tolerance ||
		    whole <= last)
			continue;
		last = (long)whole;
		c->number[i] = last;
	}
}

/* Is the loop without the CPU at a time, or was it just now? */
static bool is_hidden(const struct events *e, size_t *next, double time,
		      double tolerance)
{
	while (*next < e->nr_gaps && (!e->gaps[*next].switched ||
	       (double)e->gaps[*next].end + tolerance < time))
		++*next;
	return *next < e->nr_gaps &&
	       (double)e->gaps[*next].begin - tolerance <= time;
}

/*
 * Counts times of the comb that were hit, and those that were or would have been
 * seen; multiples of more than 1 are left out.
 */
static void count_hits(const struct events *e, struct comb *c, long multiples)
{
	double time = c->first;
	size_t event = 0, gap = 0;

	c->hits = 0;
	c->expected = 0;
	for (long i = 0; time <= e->length + c->tolerance; i++) {
		bool counts = multiples == 1 || i % multiples, hit;

		while (event < e->count && c->number[event] < i)
			event++;
		hit = event < e->count && c->number[event] == i;
		c->hits += counts && hit;
		c->expected += counts &&
			       (hit || !is_hidden(e, &gap, time, c->tolerance));
		time = c->first + (double)(i + 1) * c->interval;
	}
}

/* How many of all were hit, of those that chance would not hit: up to 1. */
static double beyond(size_t hits, size_t all, double by_chance)
{
	return ((double)hits / (double)all - by_chance) / (1 - by_chance);
}

/* How likely chance hits as many. */
static double luck(size_t hits, size_t all, double by_chance)
{
	/* A comb goes through any two. */
	if (hits < 3)
		return 1;
	return gsl_cdf_binomial_Q((unsigned int)hits - 3, by_chance,
				  (unsigned int)all - 2);
}

static bool is_regular(size_t hits, size_t all, double by_chance)
{
	return hits >= INTERVAL_LEAST &&
	       beyond(hits, all, by_chance) >= INTERVAL_SEEN &&
	       luck(hits, all, by_chance) <= INTERVAL_CHANCE;
}

/* The share of the expected times that events at random times would hit. */
static double chance(const struct events *e, const struct comb *c)
{
	return 1 - exp(-(double)e->count / e->visible * 2 * c->tolerance);
}

static bool hits_regularly(const struct events *e, struct comb *c)
{
	count_hits(e, c, 1);
	return is_regular(c->hits, c->expected, chance(e, c));
}

/* The same with a narrow tolerance. Leaves the comb as it was. */
static bool hits_closely(const struct events *e, struct comb *c)
{
	struct comb narrow = *c;
	bool closely;

	narrow.tolerance *= INTERVAL_NARROW;
	narrow.number = xmalloc(e->count * sizeof(*narrow.number));
	assign(e, &narrow);
	closely = hits_regularly(e, &narrow);
	free(narrow.number);
	return closely;
}

/* Interrupts are to be at all of the times, and the more often the better. */
static double judge_interrupts(const struct events *e, struct comb *c)
{
	double share;

	if (!hits_regularly(e, c) && !hits_closely(e, c))
		return 0;
	share = beyond(c->hits, c->expected, chance(e, c));
	return share * share * (double)c->expected;
}

/* All that begin among the events, and those of them that end at a time. */
static size_t count_ends(const struct events *e, const struct comb *c,
			 size_t *all)
{
	size_t hits = 0;

	*all = 0;
	for (size_t i = 0; i < e->nr_gaps; i++) {
		double end = (double)e->gaps[i].end - c->first + c->tolerance;

		if (!is_slice(e, &e->gaps[i]) ||
		    (double)e->gaps[i].begin > e->length)
			continue;
		++*all;
		hits += fmod(end, c->interval) <= (2 + END_LATE) * c->tolerance;
	}
	return hits;
}

/* Slices are to begin at some of the times, and to end at some. */
static double judge_slices(const struct events *e, struct comb *c)
{
	double by_chance = 2 * c->tolerance / c->interval;
	double end_chance = by_chance * (2 + END_LATE) / 2;
	size_t ends, all;

	c->share = beyond(c->hits, e->count, by_chance);
	if (c->hits < INTERVAL_LEAST ||
	    luck(c->hits, e->count, by_chance) > INTERVAL_CHANCE)
		return 0;
	ends = count_ends(e, c, &all);
	if (beyond(ends, all, end_chance) < INTERVAL_ENDED ||
	    luck(ends, all, end_chance) > INTERVAL_END_CHANCE)
		return 0;
	return c->share + beyond(ends, all, end_chance);
}

static void try_candidate(const struct events *e, struct comb *c)
{
	double interval = c->interval;
	size_t best = 0, most = 0;

	for (size_t i = 0; i < e->count && i < ANCHORS; i++) {
		size_t hits = follow(e, c, i);

		if (hits > most) {
			most = hits;
			best = i;
		}
	}
	follow(e, c, best);
	for (int i = 0; i < FITS; i++) {
		if (!fit(e, c))
			return;
		assign(e, c);
	}
	if (fit(e, c) && fabs(c->interval / interval - 1) < 0.1) {
		shift(c);
		c->score = e->judge(e, c);
	}
}

/* Is a comb better than the best one so far? */
static bool is_better(const struct events *e, const struct comb *c,
		      const struct comb *best)
{
	if (e->judge == judge_interrupts || !best->score || !c->score)
		return c->score > best->score;
	return c->interval > best->interval ?
	       c->score >= AS_GOOD * best->score :
	       c->score * AS_GOOD > best->score;
}

/* False if there is none. */
static bool find_best(const struct events *e, struct comb *best)
{
	double candidates[PEAKS * PARTS_MAX];
	size_t count = find_candidates(e, candidates);
	struct comb c = { .number = xmalloc(e->count * sizeof(*c.number)) };

	*best = (struct comb){ 0 };
	for (size_t i = 0; i < count; i++) {
		c.interval = candidates[i];
		c.tolerance = fmin(INTERVAL_TOLERANCE * c.interval,
				   INTERVAL_TOLERANCE_NS / e->ns);
		c.score = 0;
		try_candidate(e, &c);
		if (is_better(e, &c, best))
			*best = c;
	}
	best->number = NULL;
	free(c.number);
	return best->score > 0;
}

/* Slices of several ticks each: are there interrupts between? */
static void divide(const struct events *interrupts, struct comb *c)
{
	struct comb finer = *c;

	finer.number = xmalloc(interrupts->count * sizeof(*finer.number));
	for (int i = DIVISORS; i > 1; i--) {
		finer.interval = c->interval / i;
		finer.first = c->first;
		assign(interrupts, &finer);
		finer.first = c->first;
		count_hits(interrupts, &finer, i);
		if (!is_regular(finer.hits, finer.expected,
				chance(interrupts, &finer)))
			continue;
		c->interval /= i;
		c->error /= i;
		break;
	}
	free(finer.number);
}

static double visible(const struct events *e)
{
	double time = e->length;

	for (size_t i = 0; i < e->nr_gaps; i++)
		if (e->gaps[i].switched && (double)e->gaps[i].end <= e->length)
			time -= (double)(e->gaps[i].end - e->gaps[i].begin);
	return time;
}

static void collect(struct events *e, bool slices)
{
	e->times = xmalloc(e->most * sizeof(*e->times));
	for (size_t i = 0; i < e->nr_gaps; i++) {
		const struct gap *gap = &e->gaps[i];

		if (slices ? is_slice(e, gap) : !gap->switched)
			add(e, (double)gap->begin);
	}
	if (e->count == e->most)
		e->length = e->times[e->count - 1];
	e->visible = visible(e);
}

/* Counts the interrupts that the loop saw and those that it could have seen. */
static void count_seen(struct timer *t, const struct events *e, struct comb *c)
{
	c->number = xmalloc(e->count * sizeof(*c->number));
	assign(e, c);
	count_hits(e, c, 1);
	free(c->number);
	*t = (struct timer){
		.interval = c->interval, .error = c->error,
		.tolerance = c->tolerance, .first = c->first,
		.seen = c->hits, .expected = c->expected,
	};
}

void interval_infer(struct timer *t, const struct gap *gaps, size_t count,
		    uint64_t length, double ns)
{
	struct events interrupts = {
		.gaps = gaps, .nr_gaps = count, .length = (double)length,
		.ns = ns, .most = 10000, .furthest_ns = INTERVAL_MAX_NS,
		.parts = 3, .judge = judge_interrupts,
	};
	struct events slices = interrupts;
	struct comb best;

	slices.most = 1000;
	slices.furthest_ns = INTERVAL_SLICES_NS;
	slices.parts = PARTS_MAX;
	slices.judge = judge_slices;
	collect(&interrupts, false);
	collect(&slices, true);
	*t = (struct timer){ 0 };
	/* Half of an interval may explain enough where it does not itself. */
	if (slices.count >= INTERVAL_LEAST && find_best(&slices, &best) &&
	    best.share >= INTERVAL_SEEN) {
		divide(&interrupts, &best);
		count_seen(t, &slices, &best);
	} else if (interrupts.count >= INTERVAL_LEAST &&
		   find_best(&interrupts, &best)) {
		count_seen(t, &interrupts, &best);
	}
	free(interrupts.times);
	free(slices.times);
}

bool interval_hits(const struct timer *t, double time)
{
	double steps;

	if (t->interval <= 0)
		return false;
	steps = (time - t->first) / t->interval;
	return fabs(steps - round(steps)) * t->interval <= t->tolerance;
}
