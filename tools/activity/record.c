// SPDX-License-Identifier: GPL-2.0
#include "record.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "measure/environment.h"
#include "base/util.h"

#define TURNS		10000
#define LOOKS		100
/* Until a clock and the counter were read without anything between. */
#define TRIES		1000
/* After an interruption, caches are cold, and a look takes some us more. */
#define COLD_NS		20000

static int stay_on(int cpu)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set;
	int err;

	if (cpu >= cpus) {
		warn("trace-activity: --cpu %d: this machine has CPUs 0 to %ld",
		     cpu, cpus - 1);
		return -1;
	}
	set = CPU_ALLOC(cpu + 1);
	if (!set)
		die(STATUS_FAILED, "out of memory");
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	err = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	if (err == EINVAL)
		warn("trace-activity: CPU %d is offline, or its control group has not got it: see cpuset.cpus.effective there",
		     cpu);
	else if (err)
		warn("trace-activity: cannot stay on CPU %d: %s", cpu,
		     strerror(err));
	return err ? -1 : 0;
}

static uint64_t measure_turn(const struct counter *c)
{
	uint64_t *turns = xmalloc(TURNS * sizeof(*turns)), median;
	uint64_t last = counter_read(c);

	for (int i = 0; i < TURNS; i++) {
		uint64_t now = counter_read(c);

		turns[i] = now - last;
		last = now;
	}
	qsort(turns, TURNS, sizeof(*turns), periods_shortest_first);
	median = turns[TURNS / 2];
	free(turns);
	/* A coarse clock stands still for more than half of them. */
	return median ? median : 1;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

static uint64_t measure_look(const struct counter *c)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t from = counter_read(c), took;

		switches();
		took = counter_read(c) - from;
		shortest = took < shortest ? took : shortest;
	}
	return shortest;
}

/* Coarse clocks are advanced by ticks. */
static double kernel_tick(void)
{
	struct timespec ts;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &ts))
		return 0;
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int watcher_prepare(struct watcher *w, int cpu)
{
	*w = (struct watcher){ .cpu = cpu < 0 ? sched_getcpu() : cpu };
	if (stay_on(w->cpu))
		return -1;
	counter_take_cycles(&w->counter);
	counter_look(&w->counter, w->counter.ns);
	w->tick_ns = kernel_tick();
	w->turn = measure_turn(&w->counter);
	w->look = measure_look(&w->counter);
	w->threshold = RECORD_TURNS * w->turn;
	return 0;
}

struct watch {
	const struct watcher *by;
	struct recording *r;
	uint64_t began;
	uint64_t cold;
	long switches;
};

static void add(struct watch *w, uint64_t from, uint64_t to)
{
	struct recording *r = w->r;
	long now = switches();

	r->gaps[r->count++] = (struct gap){
		.begin = from - w->began, .end = to - w->began,
		.switched = now != w->switches,
	};
	w->switches = now;
}

/*
 * Notes a gap. Reading the switch count takes time of this program's own, which
 * is no gap unless it takes much longer. Returns the time after that.
 */
static uint64_t note(struct watch *w, uint64_t from, uint64_t to)
{
	const struct watcher *by = w->by;
	uint64_t after;

	add(w, from, to);
	after = counter_read(&by->counter);
	while (after - to > by->look + by->threshold + w->cold &&
	       w->r->count < RECORD_GAPS_MAX) {
		from = to + by->look;
		to = after;
		add(w, from, to);
		after = counter_read(&by->counter);
	}
	return after;
}

static void watch(struct watch *w, uint64_t length)
{
	const struct watcher *by = w->by;
	struct recording *r = w->r;
	uint64_t last = counter_read(&by->counter), now = last;

	w->began = last;
	while (now - w->began < length && r->count < RECORD_GAPS_MAX) {
		now = counter_read(&by->counter);
		last = now - last > by->threshold ? note(w, last, now) : now;
	}
	r->length = last - w->began;
	r->full = r->count == RECORD_GAPS_MAX;
}

struct instant {
	uint64_t count;
	double ns;
};

/* A clock and the counter at the same time, as near as it can be had. */
static struct instant instant_now(const struct watcher *w)
{
	uint64_t shortest = UINT64_MAX;
	struct instant best = { 0 };

	for (int i = 0; i < TRIES && shortest > w->threshold; i++) {
		uint64_t from = counter_read(&w->counter), took;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
		took = counter_read(&w->counter) - from;
		if (took >= shortest)
			continue;
		shortest = took;
		best.count = from + took / 2;
		best.ns = (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
	}
	return best;
}

void watcher_record(struct watcher *w, struct recording *r, double seconds)
{
	struct interrupts before;
	struct counters stolen, stolen_before;
	struct instant from, to;
	struct watch watching = {
		.by = w, .r = r,
		.cold = (uint64_t)(COLD_NS / w->counter.ns),
	};

	r->turn = w->turn;
	r->threshold = w->threshold;
	/* Which writes to it, so that no page of it is new to the loop. */
	r->gaps = xmalloc(RECORD_GAPS_MAX * sizeof(*r->gaps));
	counters_read(&stolen_before, "");
	interrupts_now(&before, w->cpu);
	from = instant_now(w);
	watching.switches = switches();
	watch(&watching, (uint64_t)(seconds * 1e9 / w->counter.ns));
	to = instant_now(w);
	interrupts_now(&r->interrupts, w->cpu);
	interrupts_since(&r->interrupts, &before);
	interrupts_free(&before);
	counters_read(&stolen, "");
	r->stolen = stolen.stolen - stolen_before.stolen;
	r->ns = w->counter.clock == TENSE_CLOCK_COUNTER ?
		(to.ns - from.ns) / (double)(to.count - from.count) : 1;
	r->gaps = xrealloc(r->gaps, r->count * sizeof(*r->gaps));
}

uint64_t watcher_run(const struct watcher *w, uint64_t active)
{
	uint64_t began = counter_read(&w->counter), last = began, had = 0;

	while (had < active) {
		uint64_t now = counter_read(&w->counter);

		had += now - last > w->threshold ? 0 : now - last;
		last = now;
	}
	return last - began;
}
