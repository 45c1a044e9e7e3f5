// SPDX-License-Identifier: GPL-2.0
/* The K-best protocol: which times agree, what is taken out, what is told. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "counter.h"
#include "kbest.h"
#include "published.h"
#include "spinner.h"
#include "tap.h"
#include "tense-measure.h"
#include "ticks.h"

static void test_best(void)
{
	static const double times[] = { 9, 5, 7, 6, 5.5, 100, 5.005, 5.0049 };
	struct kbest b = { .k = 3, .epsilon = 0.001 };

	for (int i = 0; i < 2; i++)
		kbest_add(&b, times[i]);
	ok(isinf(kbest_spread(&b)) && !kbest_converged(&b),
	   "two times are too few");
	for (int i = 2; i < 6; i++)
		kbest_add(&b, times[i]);
	ok(b.best[0] == 5 && b.best[1] == 5.5 && b.best[2] == 6,
	   "the three shortest, in order");
	ok(kbest_spread(&b) == 0.2, "the third is by a fifth longer");
	kbest_add(&b, times[6]);
	ok(!kbest_converged(&b), "two that agree are too few");
	kbest_add(&b, times[7]);
	ok(kbest_converged(&b), "three agree");
	ok(b.best[0] == 5, "it is the shortest");
	is_i64(b.samples, 8, "of eight");

	b = (struct kbest){ .k = 2, .epsilon = 0.1 };
	kbest_add(&b, 0);
	kbest_add(&b, 1);
	ok(!kbest_converged(&b), "0 and 1 do not agree");
	kbest_add(&b, 0);
	ok(!kbest_converged(&b), "nor do 0 and 0, which are no times");
	b = (struct kbest){ .k = 1, .epsilon = 0 };
	kbest_add(&b, 3);
	ok(kbest_converged(&b), "one agrees with itself");
}

static uint64_t ticks_of(const char *text, int cpu)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	uint64_t value = ticks_read(f, cpu);

	fclose(f);
	return value;
}

static void test_ticks(void)
{
	static const char text[] = "           CPU0       CPU1\n"
		"  0:         10         20   IO-APIC   timer\n"
		"NMI:          1          2   Non-maskable interrupts\n"
		"LOC:       1234       5678   Local timer interrupts\n"
		"SPU:          3          4   Spurious interrupts\n";
	static const char offline[] = "           CPU0       CPU2\n"
		"LOC:       1234       5678   Local timer interrupts\n";

	is_i64((int64_t)ticks_of(text, 0), 1234, "timer interrupts of a CPU");
	is_i64((int64_t)ticks_of(text, 1), 5678, "of another");
	ok(ticks_of(text, 2) == UINT64_MAX, "there is no third");
	is_i64((int64_t)ticks_of(offline, 2), 5678, "by its name, not its place");
	ok(ticks_of(offline, 1) == UINT64_MAX, "one that is not online");
	ok(ticks_of("CPU0\n0: 1 timer\n", 0) == UINT64_MAX,
	   "a machine that does not tell");
}

#define TICK	4000.0		/* the gaps below are in us */
#define TICKS	40

static struct ticks_gap gaps[4000];
static unsigned int nr_gaps;

static void add_gap(double begin, double length, int switched)
{
	gaps[nr_gaps++] = (struct ticks_gap){ (uint64_t)(begin * 1000),
					      (uint64_t)((begin + length) * 1000),
					      switched };
}

static int earlier(const void *left, const void *right)
{
	const struct ticks_gap *a = left, *b = right;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Returns the least cost in us; 0 if it is unknown. */
static double least_of_gaps(struct ticks_seen *seen)
{
	const struct ticks_comb comb = { TICK * 1000, 10000,
					 (uint64_t)(TICKS * TICK * 1000) };
	double phase;

	qsort(gaps, nr_gaps, sizeof(*gaps), earlier);
	*seen = (struct ticks_seen){ 0 };
	phase = ticks_phase(gaps, nr_gaps, &comb);
	if (phase < 0 || ticks_count(gaps, nr_gaps, &comb, phase, seen))
		return 0;
	return seen->least / 1000;
}

/* Ticks cost 20 us and a little more. Short interrupts come all the time. */
static void test_tick_cost(void)
{
	struct ticks_seen seen;
	double times[] = { 9, 3, 9.1, 1, 9.2, 20 };
	double least;

	nr_gaps = 0;
	for (int i = 0; i < TICKS; i++) {
		add_gap(1234 + i * TICK + i % 3, 20 + i % 4 * 0.2, 0);
		for (int j = 0; j < 10; j++)
			add_gap(17 + i * TICK + j * 397 + i * 31 % 300, 0.7, 0);
	}
	least = least_of_gaps(&seen);
	ok(fabs(least - 20) < 0.1 && seen.seen == TICKS,
	   "ticks by their even times: %.1f us", least);

	/* The scheduler acts at ticks: 30 of 40 are the end of a slice. */
	nr_gaps = 0;
	for (int i = 0; i < TICKS; i++) {
		double at = 1234 + i * TICK;

		if (i % 4)
			add_gap(at, i % 8 == 1 ? 4030 : 35, 1);
		else
			add_gap(at, 20 + i % 3 * 0.2, 0);
		add_gap(at + 500, 0.7, 0);
	}
	least = least_of_gaps(&seen);
	ok(fabs(least - 20) < 0.1, "ticks that end slices do not count: %.1f us",
	   least);

	nr_gaps = 0;
	for (int i = 0; i < TICKS; i++)
		add_gap(1234 + i * TICK, 4030 - 4000 * (i % 2), 1);
	for (int i = 0; i < TICKS; i++)
		add_gap(1500 + i * TICK, 0.7, 0);
	ok(least_of_gaps(&seen) == 0,
	   "where each is one, short interrupts are not taken for ticks");
	nr_gaps = 0;
	ok(least_of_gaps(&seen) == 0, "no gap, no tick");

	ok(ticks_agreed(times, 6) == 9, "a shorter time alone is no tick's");
	ok(ticks_agreed(times, 2) == 0, "nor are two");
}

static void put(const char *directory, int index, const char *size)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/index%d", directory, index);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/index%d/size", directory, index);
	f = fopen(path, "w");
	if (!f || fputs(size, f) == EOF)
		exit(1);
	fclose(f);
}

static void test_cache(void)
{
	char directory[] = "/tmp/tense-test-XXXXXX", command[100];
	struct cache cache;

	if (!mkdtemp(directory))
		exit(1);
	is_i64((int64_t)cache_size(directory), 0, "no cache");
	put(directory, 0, "32K\n");
	put(directory, 1, "2M\n");
	put(directory, 2, "512K\n");
	is_i64((int64_t)cache_size(directory), 2 << 20, "the largest one");
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ok(!system(command), "it is removed");
	ok(!cache_prepare(&cache) && cache.size >= 1 << 20,
	   "%zu MB to empty those of this machine", cache.size >> 20);
	cache_flush(&cache);
	cache_free(&cache);
}

static enum tense_clock better(double resolution, double latency)
{
	return counter_better(&(struct tense_clock_quality){ resolution,
							     latency },
			      &(struct tense_clock_quality){ 20, 25 });
}

static void test_counter(void)
{
	struct counter c;
	uint64_t before;

	ok(better(0, 0) == TENSE_CLOCK_GETTIME, "no counter");
	ok(better(10, 40) == TENSE_CLOCK_COUNTER, "a finer one");
	ok(better(30, 5) == TENSE_CLOCK_GETTIME, "a coarser one");
	ok(better(20, 20) == TENSE_CLOCK_COUNTER &&
	   better(20, 30) == TENSE_CLOCK_GETTIME, "equal ones: the faster");
	is_i64((int64_t)counter_step((uint64_t[]){ 78, 104, 78, 52, 1586 }, 5, 0),
	       26, "a counter that goes on by 26");
	is_i64((int64_t)counter_step((uint64_t[]){ 0, 0, 1000, 0, 2000 }, 5, 1),
	       1000, "a clock that goes on by 1000");
	is_i64((int64_t)counter_step((uint64_t[]){ 30, 40, 41, 20, 29, 31, 19, 39,
						   21 }, 9, 1),
	       10, "one by 10, rounded");
	is_i64((int64_t)counter_step((uint64_t[]){ 20, 21, 22, 23, 24, 25 }, 6, 1),
	       1, "one that can tell each unit");
	is_i64((int64_t)counter_step((uint64_t[]){ 15, 15 }, 2, 0), 15,
	       "one that always goes on by as much");
	counter_choose(&c);
	ok(c.gettime.resolution_ns > 0 && c.gettime.latency_ns > 0,
	   "clock_gettime: %.0f ns, read in %.0f ns", c.gettime.resolution_ns,
	   c.gettime.latency_ns);
	before = counter_read(&c);
	usleep(10000);
	ok((double)(counter_read(&c) - before) * c.ns >= 9.99e6,
	   "10 ms of sleep are not less by the clock that was chosen");
	counter_take_cycles(&c);
	before = counter_read(&c);
	usleep(10000);
	ok((double)(counter_read(&c) - before) * c.ns >= 9.99e6,
	   "nor by the %s", c.clock == TENSE_CLOCK_COUNTER ? "cycle counter" :
	   "clock, without a counter");
}

static int calls;

static void burn(uint64_t ns)
{
	struct timespec ts;
	uint64_t began = 0, now;

	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
		began = began ? began : now;
	} while (now - began < ns);
}

static void burn_same(void *arg)
{
	(void)arg;
	calls++;
	burn(2000000);
}

/* Each takes half a ms longer: no two are alike. */
static void burn_more(void *arg)
{
	(void)arg;
	burn(500000 * (uint64_t)++calls);
}

static void test_function(void)
{
	/* On a busy machine, another thread runs in most samples, which then do not agree. */
	struct tense_kbest_options o = { .epsilon = 1e9, .max_samples = 1000 };
	struct tense_kbest_result r;

	ok(!tense_kbest(burn_same, NULL, &o, &r), "a function");
	ok(r.converged && r.samples >= 3, "any three agree if they may");
	is_i64(calls, r.samples + 1, "and one call fills the caches");
	o.flags = TENSE_KBEST_RAW;
	ok(!tense_kbest(burn_same, NULL, &o, &r), "raw");
	ok(r.ns >= 2e6 * 0.999 && r.tick_ns == 0 && !r.ticks,
	   "2 ms are not less: %.0f ns", r.ns);
	calls = 0;
	o = (struct tense_kbest_options){ .max_samples = 9,
					  .flags = TENSE_KBEST_RAW };
	ok(!tense_kbest(burn_more, NULL, &o, &r), "one that is never the same");
	ok(!r.converged && r.samples == 9 && r.spread > 0.1,
	   "does not converge: the third is longer by %.2f", r.spread);
	calls = 0;
	o = (struct tense_kbest_options){ .k = 1, .max_samples = 1000,
					  .flags = TENSE_KBEST_COLD };
	ok(!tense_kbest(burn_same, NULL, &o, &r) && r.converged,
	   "with empty caches");
	is_i64(calls, r.samples, "no call fills them");
	ok(!tense_kbest(burn_same, NULL, NULL, &r), "without options");
	ok(r.samples >= 3 && r.samples <= 30 && (r.converged || r.samples == 30),
	   "by default: %u samples, ticks of %.0f ns", r.samples, r.tick_ns);
}

/* Lets the other thread of this CPU run. */
static void lose_cpu(void *arg)
{
	struct rusage usage;
	long before;

	(void)arg;
	getrusage(RUSAGE_THREAD, &usage);
	before = usage.ru_nivcsw;
	while (usage.ru_nivcsw == before) {
		sched_yield();
		getrusage(RUSAGE_THREAD, &usage);
	}
}

static void test_switches(void)
{
	const struct tense_kbest_options o = { .k = 1, .max_samples = 4,
					       .flags = TENSE_KBEST_RAW };
	struct tense_kbest_result r;
	cpu_set_t all, one;
	pid_t other;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	other = spinner_start();
	ok(!tense_kbest(lose_cpu, NULL, &o, &r) && r.samples == 4 &&
	   !r.converged && isinf(r.spread),
	   "a time in which another thread ran agrees with none");
	ok(r.ns > 0 && isfinite(r.ns), "but is told: %.0f ns", r.ns);
	spinner_end(other);
	sched_setaffinity(0, sizeof(all), &all);
}

static int with(struct tense_kbest_options o)
{
	struct tense_kbest_result r;

	return tense_kbest(burn_same, NULL, &o, &r);
}

static void test_misuse(void)
{
	calls = 0;
	is_i64(tense_kbest(NULL, NULL, NULL, &(struct tense_kbest_result){ 0 }),
	       -EINVAL, "no function");
	is_i64(tense_kbest(burn_same, NULL, NULL, NULL), -EINVAL,
	       "nowhere to put a result");
	is_i64(with((struct tense_kbest_options){ .k = 65, .max_samples = 99 }),
	       -EINVAL, "k is too large");
	is_i64(with((struct tense_kbest_options){ .k = 31 }), -EINVAL,
	       "k is more than samples");
	is_i64(with((struct tense_kbest_options){ .max_samples = 2 }), -EINVAL,
	       "samples are less than k");
	is_i64(with((struct tense_kbest_options){ .epsilon = -1 }), -EINVAL,
	       "epsilon is negative");
	is_i64(with((struct tense_kbest_options){ .epsilon = NAN }), -EINVAL,
	       "epsilon is not a number");
	is_i64(with((struct tense_kbest_options){ .flags = 4 }), -EINVAL,
	       "an unknown flag");
	is_i64(calls, 0, "then nothing is run");
}

/* Readings 10 apart, but one is 500 later. */
static uint64_t read_made_up(void *arg)
{
	uint64_t *at = arg;

	*at += *at == 70 ? 500 : 10;
	return *at;
}

static void test_published(void)
{
	double cycles, ns, seconds, other;
	uint64_t at = 0;

	tense_start_counter();
	tense_start_timer();
	usleep(20000);
	seconds = tense_get_timer(&ns);
	cycles = tense_get_counter(&other);
	ok(seconds >= 0.0199 && fabs(ns - seconds * 1e9) < 0.01, "a timer of 20 ms: %g s",
	   seconds);
	ok(other >= 19.9e6 && other >= ns * 0.99, "a counter of it: %g ns", other);
	ok(fabs(cycles / tense_mhz(0) * 1e3 / other - 1) < 1e-9,
	   "its cycles are at %.0f MHz", tense_mhz(0));
	ok(tense_get_counter(NULL) >= cycles, "it goes on");
	cycles = tense_fcyc(burn_same, NULL, &(struct tense_kbest_options){
		.k = 1, .flags = TENSE_KBEST_RAW }, &ns);
	ok(ns >= 2e6 * 0.999 && fabs(cycles / tense_mhz(0) * 1e3 / ns - 1) < 1e-9,
	   "2 ms of a function are %.0f cycles", cycles);
	ok(tense_fcyc(NULL, NULL, NULL, NULL) == -EINVAL, "no function");
	ok(first_gap(read_made_up, &at, 100, 10000) == 500 && at == 570,
	   "the first inactive period");
	ok(first_gap(read_made_up, &at, 100, 1000) == 0, "none");
	ok(tense_inactiveduration(0, &ns) == 0 && ns == 0,
	   "none is shorter than a cycle");
	cycles = tense_inactiveduration(1, &ns);
	ok(cycles >= 1 && ns > 0, "each reading is one: %.0f cycles", cycles);
}

static void test_protocol(void)
{
	ok(tense_protocol(9e6, 0) == TENSE_PROTOCOL_KBEST &&
	   tense_protocol(9e6, 1) == TENSE_PROTOCOL_KBEST, "below 10 ms");
	ok(tense_protocol(5e8, 0) == TENSE_PROTOCOL_KBEST &&
	   tense_protocol(5e8, 1) == TENSE_PROTOCOL_PROCESS, "below 1 s");
	ok(tense_protocol(2e9, 0) == TENSE_PROTOCOL_PROCESS &&
	   tense_protocol(2e9, 1) == TENSE_PROTOCOL_PROCESS, "above");
}

int main(void)
{
	test_best();
	test_ticks();
	test_tick_cost();
	test_cache();
	test_counter();
	test_function();
	test_switches();
	test_misuse();
	test_published();
	test_protocol();
	return done();
}
