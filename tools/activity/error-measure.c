// SPDX-License-Identifier: GPL-2.0
/* Runs computations of known length and times them by several clocks. */
#include <math.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "interval-error.h"

#define LENGTHS_MAX	16

/* By the golden ratio: no two begin at the same part of a tick. */
#define PHASE		0.6180339887498949

static double ns_of(struct timespec ts)
{
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void read_clocks(double *ns)
{
	struct timespec ts;
	struct rusage usage;
	struct tms t;

	times(&t);
	ns[BY_TICKS] = (double)(t.tms_utime + t.tms_stime) * 1e9 /
		       (double)sysconf(_SC_CLK_TCK);
	getrusage(RUSAGE_SELF, &usage);
	ns[BY_USER] = (double)usage.ru_utime.tv_sec * 1e9 +
		      (double)usage.ru_utime.tv_usec * 1e3;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	ns[BY_PROCESS] = ns_of(ts);
}

static uint64_t units_of(const struct watcher *w, double ns)
{
	return (uint64_t)(ns / w->counter.ns);
}

static struct error_sample measure_once(const struct watcher *w, double ns)
{
	double before[NR_TIMED_BY], after[NR_TIMED_BY], took;
	struct error_sample s = { .expected_ns = ns };

	read_clocks(before);
	took = (double)watcher_run(w, units_of(w, ns));
	read_clocks(after);
	before[BY_COUNTER] = 0;
	after[BY_COUNTER] = took * w->counter.ns;
	for (int i = 0; i < NR_TIMED_BY; i++)
		s.measured_ns[i] = after[i] - before[i];
	return s;
}

void error_measure(struct error_samples *all, const struct watcher *w,
		   unsigned int load, double longest_ms, size_t often)
{
	double lengths[LENGTHS_MAX], phase = 0;
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
	size_t count = error_lengths(longest_ms, lengths, LENGTHS_MAX);

	all->list = xrealloc(all->list, (all->count + count * often) *
					sizeof(*all->list));
	for (size_t i = 0; i < count * often; i++) {
		struct error_sample *s = &all->list[all->count++];

		phase = fmod(phase + PHASE, 1);
		watcher_run(w, units_of(w, phase * tick));
		*s = measure_once(w, lengths[i / often] * 1e6);
		s->load = load;
	}
}
