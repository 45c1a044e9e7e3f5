// SPDX-License-Identifier: GPL-2.0
/* One wait by one call, and whether it was right. */
#include "timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *label(const struct timed_call *call)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s, %s, %s", call->call,
		 call->raw ? " (system call)" : "",
		 call->flags & ABSOLUTE ? "until" : "for",
		 clock_name(call->clock));
	return text;
}

void open_thing(const struct timed_call *call, struct thing *thing)
{
	int err;

	memset(thing, 0, sizeof(*thing));
	err = call->open ? call->open(call, thing) : 0;
	if (err) {
		check(false, "%s: cannot be prepared: %s", label(call),
		      strerror(-err));
		exit(1);
	}
}

void close_thing(const struct timed_call *call, struct thing *thing)
{
	if (call->close)
		call->close(call, thing);
}

bool call_exists(const struct timed_call *call)
{
	struct thing thing = { 0 };
	int err = call->open ? call->open(call, &thing) : 0;

	if (!err)
		close_thing(call, &thing);
	return err != -ENOSYS;
}

/* To wait for a time on CLOCK_REALTIME is to wait for it on this one. */
clockid_t measure(const struct timed_call *call)
{
	return call->flags & ABSOLUTE || call->clock != CLOCK_REALTIME ?
		       call->clock : CLOCK_MONOTONIC;
}

/* A wait of this length. */
struct wait wait_for(const struct timed_call *call, struct thing *thing,
		     int64_t length)
{
	int64_t unit = call->unit ? call->unit : 1;
	struct wait w = { .length = (length + unit - 1) / unit * unit };
	struct timespec rest = { 0 }, time;
	clockid_t clock = measure(call);
	int64_t begin, libc, end;
	struct virtual_span span;

	virtual_begin(&span);
	begin = raw_clock(clock);
	virtual_inner_begin(&span);
	time = ns_to_timespec(call->flags & ABSOLUTE ? begin + w.length :
						       w.length);
	w.end = call->wait(call, thing, time, &rest);
	libc = libc_clock(clock);
	virtual_inner_end(&span);
	end = raw_clock(clock);
	virtual_end(&span);
	w.took = end - begin;
	w.virtual = virtual_fits(&span, w.took);
	w.early = w.length - ((libc < end ? libc : end) - begin);
	w.rest = timespec_to_ns(rest);
	return w;
}

/*
 * Ticks are counted by what may itself be late, on a machine whose time is
 * stolen: the kernel that waits then, not the wait, is early. No such thing
 * in virtual time.
 */
int64_t tolerance(const struct timed_call *call)
{
	struct timespec tick;

	/* Coarse clocks are as fine as ticks. */
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return call->flags & JIFFIES && !in_experiment ? timespec_to_ns(tick) :
							 0;
}

bool in_time(const struct timed_call *call, const struct wait *w)
{
	if (w->end != TIMED_OUT)
		note("%s: after %lld ns of %lld: %s", label(call),
		     (long long)w->took, (long long)w->length,
		     w->end == WOKEN ? "woken" : strerror(-w->end));
	else if (w->early > tolerance(call))
		note("%s: %lld ns too early, of %lld", label(call),
		     (long long)w->early, (long long)w->length);
	if (!w->virtual)
		note("%s: %s is not as fast as virtual time", label(call),
		     clock_name(measure(call)));
	return w->end == TIMED_OUT && w->early <= tolerance(call) && w->virtual;
}

