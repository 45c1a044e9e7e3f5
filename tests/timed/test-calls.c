// SPDX-License-Identifier: GPL-2.0
/* Checks that hold for every timed call. */
#include "timed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void never_early(const struct timed_call *call)
{
	static const int64_t lengths[] = { 1, US, 99999, 3 * MS };
	int64_t least = INT64_MAX, most = 0;
	struct thing thing;
	bool good = true;

	open_thing(call, &thing);
	for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
		struct wait w;

		/* Rounded, they are all the same. */
		if (i && call->unit == S)
			break;
		w = wait_for(call, &thing, lengths[i]);
		good &= in_time(call, &w);
		if (-w.early < least)
			least = -w.early;
		if (-w.early > most)
			most = -w.early;
	}
	close_thing(call, &thing);
	check(good, "%s: never early", label(call));
	note("late by %.1f to %.1f us", least / 1e3, most / 1e3);
}

static void no_time(const struct timed_call *call)
{
	struct thing thing;
	struct wait w;

	open_thing(call, &thing);
	if (call->flags & ABSOLUTE) {
		static const int64_t ago[] = { 1, MS };
		struct timespec rest;
		bool good = true;

		for (size_t i = 0; i < ARRAY_LENGTH(ago); i++) {
			w = wait_for(call, &thing, -ago[i]);
			good &= in_time(call, &w);
		}
		good &= call->wait(call, &thing, ns_to_timespec(1), &rest) ==
			TIMED_OUT;
		check(good, "%s: what has been is over at once", label(call));
	} else if (!(call->flags & ZERO_NEVER)) {
		w = wait_for(call, &thing, 0);
		check(in_time(call, &w), "%s: no time is over at once",
		      label(call));
	}
	close_thing(call, &thing);
}

static void malformed(const struct timed_call *call)
{
	int64_t unit = call->unit ? call->unit : 1;
	const struct timespec bad[] = {
		{ 1, -unit }, { 0, -unit }, { INT64_MAX, -unit },
		{ 1, S }, { 0, S }, { 1, INT64_MAX / S * S },
	};
	size_t n = call->flags & CARRIES ? 3 : ARRAY_LENGTH(bad);
	int expected = call->malformed ? -call->malformed : -EINVAL, end;
	struct timespec rest;
	struct thing thing;
	bool good = true;

	open_thing(call, &thing);
	for (size_t i = 0; i < n; i++) {
		end = call->wait(call, &thing, bad[i], &rest);
		if (end != expected)
			note("%lld s %ld ns: %d instead of %d",
			     (long long)bad[i].tv_sec, bad[i].tv_nsec, end,
			     expected);
		good &= end == expected;
	}
	close_thing(call, &thing);
	check(good, "%s: a fraction of a second that is none", label(call));
}

static void negative(const struct timed_call *call)
{
	static const struct timespec before[] = {
		{ -1, 0 }, { -2, 999999000 }, { INT64_MIN, 0 },
	};
	int expected = call->flags & NEGATIVE_PAST ? TIMED_OUT :
		       call->flags & NEGATIVE_NEVER ? WOKEN : -EINVAL, end;
	struct timespec rest;
	struct helper helper;
	struct thing thing;
	bool good = true;

	open_thing(call, &thing);
	for (size_t i = 0; i < ARRAY_LENGTH(before); i++) {
		if (call->flags & NEGATIVE_NEVER)
			help_begin(&helper, HELP_WAKE, call, &thing);
		end = call->wait(call, &thing, before[i], &rest);
		if (call->flags & NEGATIVE_NEVER)
			help_end(&helper);
		if (end != expected)
			note("%lld s: %d instead of %d",
			     (long long)before[i].tv_sec, end, expected);
		good &= end == expected;
	}
	close_thing(call, &thing);
	check(good, "%s: negative time", label(call));
}

/* Checks that a wait that does not end by itself ends with help. */
static bool ends_when_helped(const struct timed_call *call,
			     const struct wait *w)
{
	int expected = call->wake ? WOKEN : -EINTR;

	if (w->end != expected)
		note("%s: %d instead of %d, after %lld ns", label(call),
		     w->end, expected, (long long)w->took);
	return w->end == expected;
}

static void huge(const struct timed_call *call)
{
	int64_t longest = call->longest ? call->longest : INT64_MAX;
	const struct timespec times[] = {
		{ longest, call->flags & NO_FRACTION ? 0 : 999999000 },
		{ longest, 0 },
		{ longest > INT64_MAX / S ? INT64_MAX / S : longest, 0 },
		{ longest > INT64_MAX / S ? INT64_MAX / S - 1 : longest, 0 },
	};
	bool good = true;

	handle_signals(false);
	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		struct timespec rest = { 0 };
		struct helper helper;
		struct thing thing;
		struct wait w = { 0 };

		open_thing(call, &thing);
		help_begin(&helper, HELP_WAKE, call, &thing);
		w.end = call->wait(call, &thing, times[i], &rest);
		help_end(&helper);
		close_thing(call, &thing);
		good &= ends_when_helped(call, &w);
		if (call->flags & REST && !(call->flags & ABSOLUTE))
			good &= rest.tv_sec >= INT64_MAX / S / 2;
	}
	check(good, "%s: huge times do not end", label(call));
}

/*
 * The rest is what was asked for, less the time between two instants that
 * are within the call.
 */
static bool rest_fits(const struct timed_call *call, const struct wait *w)
{
	int64_t unit = call->unit ? call->unit : 1;

	if (w->rest > w->length || w->rest < w->length - w->took - unit) {
		note("%s: after %lld of %lld ns a rest of %lld", label(call),
		     (long long)w->took, (long long)w->length,
		     (long long)w->rest);
		return false;
	}
	return true;
}

static void interrupted(const struct timed_call *call, bool restart)
{
	bool ends = call->after == INTERRUPTED ||
		    (call->after == RESTARTED && !restart);
	struct helper helper;
	struct thing thing;
	struct wait w;
	bool good;

	/* Nothing but a signal would end it. */
	if (!ends && !call->wake)
		return;
	handle_signals(restart);
	open_thing(call, &thing);
	help_begin(&helper, ends ? HELP_PESTER : HELP_SIGNAL, call, &thing);
	w = wait_for(call, &thing, HOUR);
	help_end(&helper);
	close_thing(call, &thing);
	good = w.end == (ends ? -EINTR : WOKEN) && signals_handled;
	if (!good)
		note("%s: %d after %d signals", label(call), w.end,
		     (int)signals_handled);
	if (ends && call->flags & REST)
		good &= rest_fits(call, &w);
	check(good, "%s: a signal %s it%s", label(call),
	      ends ? "interrupts" : "does not end",
	      restart ? ", with SA_RESTART" : "");
}

/* The interval between signals is shorter than the wait. */
static void pestered(const struct timed_call *call)
{
	int64_t length = 8 * MS, took = 0;
	struct helper helper;
	struct thing thing;
	struct wait w;

	handle_signals(true);
	open_thing(call, &thing);
	help_begin(&helper, HELP_PESTER, call, &thing);
	if (call->after != INTERRUPTED) {
		w = wait_for(call, &thing, length);
		check(in_time(call, &w), "%s: lasts as long under signals",
		      label(call));
	} else if (call->flags & REST && !(call->flags & ABSOLUTE)) {
		int64_t begin = raw_clock(measure(call));

		w = (struct wait){ .rest = length };
		do
			w = wait_for(call, &thing, w.rest);
		while (w.end == -EINTR && w.rest > 0);
		took = raw_clock(measure(call)) - begin;
		check((w.end == TIMED_OUT || w.end == -EINTR) && took >= length,
		      "%s: rests add up to the whole", label(call));
		if (took < length)
			note("%lld ns of %lld", (long long)took,
			     (long long)length);
	}
	help_end(&helper);
	close_thing(call, &thing);
}

/* Exit status of a process that has waited. */
enum { GOOD, BAD, STOP_ENDED };

static int wait_in_child(const struct timed_call *call, int64_t length)
{
	struct thing thing;
	struct wait w;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_thing(call, &thing);
	w = wait_for(call, &thing, length);
	if (w.end == -EINTR && call->flags & STOP_INTERRUPTS)
		return STOP_ENDED;
	return in_time(call, &w) ? GOOD : BAD;
}

static void stopped(const struct timed_call *call)
{
	int status, stops = 0;
	pid_t child = fork();

	if (!child)
		_exit(wait_in_child(call, 8 * MS));
	for (;;) {
		nap(MS);
		if (stops++ < 5)
			kill(child, SIGSTOP);
		if (waitpid(child, &status, WUNTRACED) != child ||
		    !WIFSTOPPED(status))
			break;
		kill(child, SIGCONT);
	}
	check(WIFEXITED(status) && WEXITSTATUS(status) != BAD,
	      "%s: never early when it was stopped", label(call));
}

static void forked(const struct timed_call *call)
{
	struct thing thing;
	struct wait w;
	pid_t child;
	int status;

	open_thing(call, &thing);
	child = fork();
	if (!child)
		_exit(wait_in_child(call, 2 * MS));
	w = wait_for(call, &thing, 2 * MS);
	close_thing(call, &thing);
	waitpid(child, &status, 0);
	check(in_time(call, &w) && status == 0,
	      "%s: never early beside a child that waits", label(call));
}

static void woken(const struct timed_call *call)
{
	struct helper helper;
	struct thing thing;
	struct wait w;
	bool good;

	open_thing(call, &thing);
	help_begin(&helper, HELP_WAKE, call, &thing);
	w = wait_for(call, &thing, HOUR);
	help_end(&helper);
	close_thing(call, &thing);
	good = w.end == WOKEN;
	if (!good)
		note("%s: %d", label(call), w.end);
	if (call->flags & REST)
		good &= rest_fits(call, &w);
	check(good, "%s: ends when what it waits for happens", label(call));
}

struct cancelled {
	const struct timed_call *call;
	struct thing thing;
	atomic_int tid;
};

static void *waits_until_cancelled(void *arg)
{
	struct cancelled *c = arg;

	open_thing(c->call, &c->thing);
	c->tid = gettid();
	wait_for(c->call, &c->thing, HOUR);
	return NULL;
}

static void cancelled(const struct timed_call *call)
{
	/* A cancelled wait does not put its object in order again: keep it. */
	static struct cancelled c;
	pthread_t thread;
	void *result = NULL;

	c = (struct cancelled){ .call = call };
	pthread_create(&thread, NULL, waits_until_cancelled, &c);
	while (!c.tid || !thread_waits(c.tid))
		nap(200 * US);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	check(result == PTHREAD_CANCELED, "%s: can be cancelled", label(call));
}

void test_call(const struct timed_call *call)
{
	/* So that nothing is late by intention. */
	prctl(PR_SET_TIMERSLACK, 1);
	never_early(call);
	no_time(call);
	if (!(call->flags & NO_FRACTION))
		malformed(call);
	if (!(call->flags & NO_NEGATIVE))
		negative(call);
	if (call->flags & (NEVER_BLOCKS | IN_COMPANY))
		return;
	huge(call);
	interrupted(call, false);
	interrupted(call, true);
	if (call->wake)
		woken(call);
	if (call->flags & CANCELS && !call->raw)
		cancelled(call);
	if (call->unit == S)
		return;
	pestered(call);
	stopped(call);
	forked(call);
}

/* All calls wait until the same time, each in a process of its own. */
void test_together(const struct timed_call **calls, size_t n)
{
	pid_t *children = calloc(n, sizeof(*children));
	int64_t *until = shared(sizeof(*until));
	int early = 0, status, gate[2];
	int64_t left;

	if (pipe(gate))
		abort();
	for (size_t i = 0; i < n; i++) {
		if (calls[i]->unit == S)
			continue;
		children[i] = fork();
		if (children[i])
			continue;
		/* Its end is the parent's sign to begin. */
		close(gate[1]);
		if (read(gate[0], &(char){ 0 }, 1))
			abort();
		left = *until - raw_clock(CLOCK_MONOTONIC);
		_exit(wait_in_child(calls[i], left > 1 ? left : 1) ||
		      raw_clock(CLOCK_MONOTONIC) < *until -
				tolerance(calls[i]));
	}
	*until = raw_clock(CLOCK_MONOTONIC) + 50 * MS;
	close(gate[1]);
	close(gate[0]);
	for (size_t i = 0; i < n; i++) {
		if (!children[i])
			continue;
		waitpid(children[i], &status, 0);
		if (status) {
			note("%s: status 0x%x", label(calls[i]), status);
			early++;
		}
	}
	free(children);
	check(!early, "all of them at once, until the same time");
}
