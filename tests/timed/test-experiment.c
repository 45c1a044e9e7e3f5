// SPDX-License-Identifier: GPL-2.0
/* Checks that hold only in an experiment: waits and percents. */
#include "timed.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../lib/sort.h"

struct lateness {
	int64_t *late;
	size_t n;
	int64_t most;
	const struct timed_call *latest;
};

static void lateness_begin(struct lateness *l, size_t n)
{
	*l = (struct lateness){ .late = calloc(n, sizeof(*l->late)) };
	if (!l->late)
		abort();
}

static void was_late(struct lateness *l, const struct timed_call *call,
		     const struct wait *w)
{
	int64_t late = -w->early;

	l->late[l->n++] = late;
	if (late > l->most) {
		l->most = late;
		l->latest = call;
	}
}

static void tell_lateness(const char *when, struct lateness *l)
{
	size_t middle;

	sort_i64(l->late, l->n);
	middle = l->n / 2;
	if (l->latest)
		note("%s: late by %.1f us in the median of %zu, by %.1f us in %s",
		     when, l->late[middle] / 1e3, l->n, l->most / 1e3,
		     label(l->latest));
	free(l->late);
}

static bool wait_is_long(const struct timed_call *call)
{
	return call->unit == S;
}

/* Every call once, in this process; returns whether all were in time. */
static bool every_call(const struct timed_call **calls, size_t n,
		       int64_t length, struct lateness *l)
{
	bool good = true;

	lateness_begin(l, n);
	for (size_t i = 0; i < n; i++) {
		struct thing thing;
		struct wait w;

		if (wait_is_long(calls[i]) || !call_exists(calls[i]))
			continue;
		open_thing(calls[i], &thing);
		w = wait_for(calls[i], &thing, length);
		close_thing(calls[i], &thing);
		good &= in_time(calls[i], &w);
		was_late(l, calls[i], &w);
	}
	return good;
}

static void at_percents(const struct timed_call **calls, size_t n)
{
	static const int percents[] = { 25, 50, 100, 200, 1000 };

	for (size_t i = 0; i < ARRAY_LENGTH(percents); i++) {
		struct lateness l;

		set_percent(percents[i]);
		check(every_call(calls, n, 2 * MS, &l),
		      "at percent %d every call waits in virtual time",
		      percents[i]);
		tell_lateness("alone", &l);
	}
	set_percent(100);
}

/* Beyond what ran, virtual time passes while real time does. */
static void idle_is_real(void)
{
	static const int percents[] = { 50, 100, 400 };

	for (size_t i = 0; i < ARRAY_LENGTH(percents); i++) {
		struct account before, after;
		int64_t virtual, idle, real;

		set_percent(percents[i]);
		before = account_of(0);
		virtual = virtual_now();
		nap(100 * MS);
		virtual = virtual_now() - virtual;
		after = account_of(0);
		idle = virtual - (after.all.charged - before.all.charged);
		real = after.elapsed - before.elapsed -
		       (after.all.ran - before.all.ran);
		if (!check(idle <= real && idle > 90 * MS,
			   "idle virtual time is real time, at percent %d",
			   percents[i]))
			note("%lld ns idle, %lld ns real", (long long)idle,
			     (long long)real);
	}
	set_percent(100);
}

struct neighbour {
	pid_t pid;
	int percent;
	/* After it has run for so long, another percent; 0: never. */
	int64_t switch_after;
	int then;
};

/* Returns when it runs. */
static void neighbour_begin(struct neighbour *n)
{
	int ready[2];

	if (pipe(ready))
		abort();
	n->pid = fork();
	if (n->pid) {
		close(ready[1]);
		if (read(ready[0], &(char){ 0 }, 1) != 1)
			abort();
		close(ready[0]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_percent(n->percent);
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (;;) {
		if (n->switch_after) {
			burn(n->switch_after);
			set_percent(n->then);
			n->switch_after = 0;
		}
		for (volatile int i = 0; i < 20000; i++)
			;
	}
}

static void neighbour_end(const struct neighbour *n)
{
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
}

/*
 * While the neighbour never lets the CPU idle, all virtual time is charged to
 * somebody. The time that passed for a wait was CPU time of the neighbour, except for
 * the time that the waiting process ran itself.
 */
static void beside_neighbour(const struct timed_call **calls, size_t n,
			     int percent)
{
	struct neighbour neighbour = { .percent = percent };
	struct account before, after;
	int64_t charged, ran, virtual;
	struct lateness l;
	bool good;

	neighbour_begin(&neighbour);
	before = account_of(neighbour.pid);
	virtual = virtual_now();
	nap(100 * MS);
	virtual = virtual_now() - virtual;
	after = account_of(neighbour.pid);
	charged = after.one.charged - before.one.charged;
	ran = after.one.ran - before.one.ran;
	good = check(virtual >= 100 * MS && charged >= 99 * MS,
		     "beside a neighbour at percent %d: 100 ms are its virtual CPU time",
		     percent);
	good &= check(llabs(ran - charged * percent / 100) <= ran / 1000,
		      "beside a neighbour at percent %d: which is %d ms of its real CPU time",
		      percent, percent);
	if (!good)
		note("%lld ns virtual, %lld charged, %lld ran",
		     (long long)virtual, (long long)charged, (long long)ran);
	check(every_call(calls, n, 3 * MS, &l),
	      "beside a neighbour at percent %d: every call", percent);
	tell_lateness("beside a neighbour", &l);
	neighbour_end(&neighbour);
}

/* The neighbour changes its percent when about half of the wait is over. */
static void rate_change(const struct timed_call **calls, size_t n, int then)
{
	bool good = true, all_charged = true;
	struct lateness l;

	lateness_begin(&l, n);
	for (size_t i = 0; i < n; i++) {
		struct neighbour neighbour = {
			.percent = 100, .switch_after = 3 * MS, .then = then,
		};
		struct account before, after;
		struct thing thing;
		int64_t charged;
		struct wait w;

		if (wait_is_long(calls[i]) || !call_exists(calls[i]))
			continue;
		open_thing(calls[i], &thing);
		neighbour_begin(&neighbour);
		before = account_of(neighbour.pid);
		w = wait_for(calls[i], &thing, 6 * MS);
		after = account_of(neighbour.pid);
		neighbour_end(&neighbour);
		close_thing(calls[i], &thing);
		good &= in_time(calls[i], &w);
		charged = after.all.charged - before.all.charged;
		/* Rounded to ns at each charge. */
		if (charged < w.length - US) {
			note("%s: %lld ns of %lld were charged",
			     label(calls[i]), (long long)charged,
			     (long long)w.length);
			all_charged = false;
		}
		was_late(&l, calls[i], &w);
	}
	check(good, "a neighbour's percent turns %d: no wait is early", then);
	check(all_charged, "a neighbour's percent turns %d: waits are charged time",
	      then);
	tell_lateness("with a change", &l);
}

static int64_t cpu_of_thread(void)
{
	return raw_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t cpu_of_process(void)
{
	return raw_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static int64_t cpu_by_usage(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * US;
}

/* CPU time is what was charged, between two accounts at either end. */
static void cpu_is_charged(int percent)
{
	static const struct {
		const char *name;
		int64_t (*read)(void);
		int64_t unit;
	} clocks[] = {
		{ "THREAD_CPUTIME_ID", cpu_of_thread, 1 },
		{ "PROCESS_CPUTIME_ID", cpu_of_process, 1 },
		{ "getrusage", cpu_by_usage, 2 * US },
	};
	pid_t self = gettid();

	set_percent(percent);
	for (size_t i = 0; i < ARRAY_LENGTH(clocks); i++) {
		int64_t outer[2], inner[2], told[2], took;

		outer[0] = account_of(self).one.charged;
		told[0] = clocks[i].read();
		inner[0] = account_of(self).one.charged;
		for (volatile int j = 0; j < 20000000; j++)
			;
		nap(5 * MS);
		inner[1] = account_of(self).one.charged;
		told[1] = clocks[i].read();
		outer[1] = account_of(self).one.charged;
		took = told[1] - told[0];
		if (!check(took >= inner[1] - inner[0] - clocks[i].unit &&
			   took <= outer[1] - outer[0] + clocks[i].unit,
			   "%s is charged time, at percent %d", clocks[i].name,
			   percent))
			note("%lld ns, charged %lld to %lld", (long long)took,
			     (long long)(inner[1] - inner[0]),
			     (long long)(outer[1] - outer[0]));
	}
	set_percent(100);
}

void test_experiment(const struct timed_call **calls, size_t n)
{
	prctl(PR_SET_TIMERSLACK, 1);
	idle_is_real();
	cpu_is_charged(25);
	cpu_is_charged(100);
	cpu_is_charged(400);
	at_percents(calls, n);
	beside_neighbour(calls, n, 50);
	beside_neighbour(calls, n, 100);
	beside_neighbour(calls, n, 400);
	rate_change(calls, n, 10);
	rate_change(calls, n, 1000);
}
