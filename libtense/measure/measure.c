// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tense-measure.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "cache.h"
#include "counter.h"
#include "kbest.h"
#include "ticks.h"

#define PUBLIC __attribute__((visibility("default")))

#define DEFAULT_K		3
#define DEFAULT_MAX_SAMPLES	30
#define DEFAULT_EPSILON		0.001

struct run {
	void (*function)(void *arg);
	void *arg;
	struct counter counter;
	struct cache cache;	/* has no memory if the cache stays warm */
	double tick_ns;
	unsigned int ticks;
	unsigned int samples;
	struct kbest best;	/* of the samples in which no other thread ran here */
	double interrupted_ns;	/* the shortest of the others */
};

static double latency(const struct run *r)
{
	return r->counter.clock == TENSE_CLOCK_COUNTER ?
	       r->counter.counter.latency_ns : r->counter.gettime.latency_ns;
}

/*
 * Returns a run's time without the time that reading the clock takes. *alone:
 * no other thread took the CPU during the run.
 */
static double time_once(struct run *r, bool *alone)
{
	uint64_t from, to, before, after;
	long switched;
	int cpu;
	unsigned int ticks = 0;
	double ns;

	if (r->cache.memory)
		cache_flush(&r->cache);
	cpu = sched_getcpu();
	before = r->tick_ns > 0 ? ticks_now(cpu) : UINT64_MAX;
	switched = ticks_switches();
	from = counter_read(&r->counter);
	r->function(r->arg);
	to = counter_read(&r->counter);
	*alone = ticks_switches() == switched;
	after = r->tick_ns > 0 ? ticks_now(cpu) : UINT64_MAX;
	/* The run moved to another CPU: it is not known which ticks it had. */
	if (before != UINT64_MAX && after != UINT64_MAX && after > before &&
	    sched_getcpu() == cpu)
		ticks = (unsigned int)(after - before);
	ns = (double)(to - from) * r->counter.ns;
	/* A tick came while they were counted: it is not in so short a time. */
	if (ticks * r->tick_ns > ns / 2)
		ticks = 0;
	r->ticks += ticks;
	ns -= ticks * r->tick_ns + latency(r);
	return ns > 0 ? ns : 0;
}

/*
 * Busy threads take the CPU in regular slices. A run longer than its slice waits as
 * long each time, so that its times agree at a multiple of the right one.
 */
static void add_sample(struct run *r)
{
	bool alone;
	double ns = time_once(r, &alone);

	r->samples++;
	if (alone)
		kbest_add(&r->best, ns);
	else if (ns < r->interrupted_ns)
		r->interrupted_ns = ns;
}

static void sample(struct run *r, unsigned int max_samples)
{
	/* Unless the cache is cold, the first run fills it. */
	if (!r->cache.memory)
		r->function(r->arg);
	do
		add_sample(r);
	while (!kbest_converged(&r->best) && r->samples < max_samples);
}

static int check(const struct tense_kbest_options *o, unsigned int k,
		 unsigned int max_samples)
{
	return k > KBEST_MAX || max_samples < k || o->epsilon < 0 ||
	       !isfinite(o->epsilon) ||
	       o->flags & ~(TENSE_KBEST_COLD | TENSE_KBEST_RAW) ? -EINVAL : 0;
}

PUBLIC int tense_kbest(void (*function)(void *arg), void *arg,
		       const struct tense_kbest_options *options,
		       struct tense_kbest_result *result)
{
	const struct tense_kbest_options none = { 0 };
	const struct tense_kbest_options *o = options ? options : &none;
	unsigned int max_samples = o->max_samples ? o->max_samples :
						    DEFAULT_MAX_SAMPLES;
	struct run r = {
		.function = function, .arg = arg,
		.best = { .k = o->k ? o->k : DEFAULT_K,
			  .epsilon = o->epsilon > 0 ? o->epsilon :
						      DEFAULT_EPSILON },
		.interrupted_ns = INFINITY,
	};
	int err = function && result ? check(o, r.best.k, max_samples) : -EINVAL;

	if (!err && o->flags & TENSE_KBEST_COLD)
		err = cache_prepare(&r.cache);
	if (err)
		return err;
	counter_choose(&r.counter);
	if (!(o->flags & TENSE_KBEST_RAW))
		r.tick_ns = ticks_cost(&r.counter);
	sample(&r, max_samples);
	cache_free(&r.cache);
	*result = (struct tense_kbest_result){
		.ns = r.best.samples ? r.best.best[0] : r.interrupted_ns,
		.spread = kbest_spread(&r.best),
		.samples = r.samples,
		.converged = kbest_converged(&r.best),
		.clock = r.counter.clock, .counter = r.counter.counter,
		.gettime = r.counter.gettime, .tick_ns = r.tick_ns,
		.ticks = r.ticks,
	};
	return 0;
}
