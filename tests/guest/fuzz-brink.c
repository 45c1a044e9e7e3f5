// SPDX-License-Identifier: GPL-2.0
/*
 * Part of guest-fuzz: virtual time near its end, CPU time after jumps, and rings with
 * forged words.
 */
#include "fuzz.h"

#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>

#define END ((int64_t)TENSE_TIME_MAX)
/* Each process ignores this signal, so no task ever takes it. */
#define IGNORED (SIGRTMIN + 1)

/*
 * The process may go to the end of time. Other operations can do little there, so
 * most experiments stay away from it.
 */
static bool is_late;

void brink_begin(bool late)
{
	is_late = late;
	signal(IGNORED, SIG_IGN);
}

/* --- jumps --- */

/* Picks the end, a time little before it, or a good part of the way there. */
static int64_t any_late(struct task *t)
{
	switch (below(t, 4)) {
	case 0:
		return END - below(t, 3);
	case 1:
		return END - any_bits(t, 62);
	case 2:
		return 1LL << (56 + below(t, 7));
	default:
		return END - any_bits(t, 34);
	}
}

/* Jumps as far as possible, in a new experiment if this task is alone. */
static long jump_to_end(struct task *t)
{
	int64_t now = seek(t, 0, SEEK_CUR);

	if (now < 0 || now >= END)
		return now;
	return seek(t, END - now - any_bits(t, 30) % (END - now), SEEK_CUR);
}

static void run_turns(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

/* Ticks book each jump before the next one. */
static long jump_again(struct task *t)
{
	long result = -ENOENT;

	for (int i = 0; i < 6; i++) {
		if (call_open_own(t) < 0)
			return -ENOENT;
		result = jump_to_end(t);
		run_turns(any_bits(t, 20));
		if (one_in(t, 2))
			call(SYS_sched_yield);
	}
	return result;
}

static long brink_jump(struct task *t)
{
	if (!is_late || t->own < 0)
		return -ENOENT;
	switch (below(t, 4)) {
	case 0:
		return jump_again(t);
	case 1:
		return jump_to_end(t);
	case 2:
		return seek(t, any_late(t), SEEK_CUR);
	default:
		return seek(t, any_late(t), SEEK_SET);
	}
}

/* Other threads on the CPU jump past the target of this one. */
static long brink_race(struct task *t)
{
	long result = -ENOENT;

	if (t->own < 0)
		return result;
	for (int i = 0; i < 40; i++)
		result = seek(t, t->seen + any_bits(t, 20), SEEK_SET);
	return result;
}

/* --- CPU time --- */

/* CPU time never falls, whatever jumps add to it. */
static void check_cpu_time(struct task *t)
{
	struct timespec time;
	int64_t ns;

	if (call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time))
		return;
	ns = time.tv_sec * S + time.tv_nsec;
	if (ns < t->cpu_seen)
		fail(t, "CPU time runs backwards", ns, t->cpu_seen);
	t->cpu_seen = ns;
	if (!call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time) &&
	    time.tv_sec < 0)
		fail(t, "CPU time of the process", time.tv_sec, time.tv_nsec);
}

static long read_proc(struct task *t)
{
	static const char *const names[] = {
		"stat", "stat", "schedstat", "status", "timers", "sched", "wchan",
	};
	who_t who = fuzz->slot[below(t, TASKS_MAX)].who;
	char path[64], text[1024];
	long fd, result;

	if (tid_of(who) <= 0)
		return -ESRCH;
	if (one_in(t, 2))
		snprintf(path, sizeof(path), "/proc/%d/%s", tgid_of(who),
			 any(t, names));
	else
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", tgid_of(who),
			 tid_of(who), any(t, names));
	fd = call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	result = call(SYS_read, fd, text, sizeof(text));
	close_fd(t, fd);
	return result;
}

/* The CPU clock of another process or thread. */
static long read_cpu_clock(struct task *t)
{
	who_t who = fuzz->slot[below(t, TASKS_MAX)].who;
	bool thread = one_in(t, 2);
	struct timespec time;
	clockid_t clock;

	clock = ~(clockid_t)(thread ? tid_of(who) : tgid_of(who)) << 3 | 2;
	return call(SYS_clock_gettime, thread ? clock | 4 : clock, &time);
}

long brink_read_times(struct task *t)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD };
	struct rusage usage;
	struct tms tms;

	check_cpu_time(t);
	switch (below(t, 5)) {
	case 0:
		return call(SYS_times, &tms);
	case 1:
		return call(SYS_getrusage, any(t, whose), &usage);
	case 2:
		return read_cpu_clock(t);
	default:
		return read_proc(t);
	}
}

/* --- timers --- */

static int64_t clock_now(clockid_t clock)
{
	struct timespec time = { 0 };

	call(SYS_clock_gettime, clock, &time);
	return time.tv_sec * S + time.tv_nsec;
}

/* Picks a time by the clock: soon, near the end of virtual time, or never. */
static struct timespec any_end(struct task *t, clockid_t clock, bool absolute)
{
	int64_t now = absolute ? clock_now(clock) : 0, ns;

	switch (below(t, 4)) {
	case 0:
		ns = now + any_bits(t, 24);
		break;
	case 1:
		ns = END + now - any_bits(t, 40);
		break;
	case 2:
		ns = END + any_bits(t, 62);
		break;
	default:
		ns = INT64_MAX - any_bits(t, 4);
	}
	if (ns < 0)
		ns = INT64_MAX;
	return (struct timespec) { ns / S, ns % S };
}

/*
 * Intervals are short only if the signal is ignored or if the timer waits for a
 * read(2). A task that handles one signal after another does nothing else.
 */
static struct itimerspec any_late_timer(struct task *t, clockid_t clock,
					int flags, bool short_interval)
{
	struct itimerspec timer = {
		.it_value = any_end(t, clock, flags & TIMER_ABSTIME),
	};
	int64_t ns = any_bits(t, 36);

	if (short_interval && !one_in(t, 4))
		timer.it_interval = (struct timespec) { ns / S, ns % S };
	else if (one_in(t, 4))
		timer.it_interval.tv_sec = 1 + any_bits(t, 33);
	return timer;
}

static const clockid_t timer_clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI,
	CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
};

/*
 * Each process keeps at most three. If 10 ms of virtual time are 0.1 ms of real time,
 * some dozens of such timers rightly take all of a CPU.
 */
static _Atomic int kept_timers[3] = { -1, -1, -1 };

static void keep_timer(struct task *t, int id)
{
	int old = atomic_exchange(&any(t, kept_timers), id);

	if (old >= 0)
		call(SYS_timer_delete, old);
}

static long brink_timer(struct task *t)
{
	bool ignored = !one_in(t, 4);
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = ignored ? IGNORED : SIGALRM,
	};
	int flags = one_in(t, 2) ? TIMER_ABSTIME : 0, id = 0;
	clockid_t clock = any(t, timer_clocks);
	struct itimerspec timer = any_late_timer(t, clock, flags, ignored);
	long result = call(SYS_timer_create, clock, &event, &id);

	if (result)
		return result;
	keep_timer(t, id);
	return call(SYS_timer_settime, id, flags, &timer, NULL);
}

/* The signal of the process's own timer, with and without a handler. */
static long brink_itimer(struct task *t)
{
	struct timespec value = any_end(t, CLOCK_MONOTONIC, false);
	struct itimerval timer = {
		.it_value = { value.tv_sec, value.tv_nsec / 1000 },
		.it_interval.tv_sec = 1 + any_bits(t, 33),
	};
	int which = one_in(t, 3) ? (int)below(t, 3) : ITIMER_REAL;

	ignore_alarm(one_in(t, 2));
	return call(SYS_setitimer, which, &timer, NULL);
}

static const clockid_t timerfd_clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME_ALARM,
};

static long brink_timerfd(struct task *t)
{
	static const int set_flags[] = {
		0, TFD_TIMER_ABSTIME, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
	};
	clockid_t clock = any(t, timerfd_clocks);
	int flags = any(t, set_flags);
	struct itimerspec timer = any_late_timer(t, clock, flags, true);
	long fd = call(SYS_timerfd_create, clock, TFD_NONBLOCK | TFD_CLOEXEC);
	uint64_t times;
	long result;

	if (fd < 0)
		return fd;
	if (fd >= LAST_FD) {
		close_fd(t, fd);
		return -EMFILE;
	}
	result = call(SYS_timerfd_settime, fd, flags, &timer, NULL);
	call(SYS_read, fd, &times, sizeof(times));
	close_fd(t, t->timer_fd);
	t->timer_fd = fd;
	return result;
}

/* --- the ring --- */

static uint64_t any_word(struct task *t)
{
	static const uint64_t words[] = {
		0, 1, UINT64_MAX, INT64_MAX, 1ULL << 63, 1ULL << 32, UINT32_MAX,
		1ULL << 62, 1ULL << 31,
	};

	switch (below(t, 3)) {
	case 0:
		return any(t, words);
	case 1:
		return tsc() + any_bits(t, 32) - any_bits(t, 32);
	default:
		return next(t);
	}
}

/* Picks extremes of every field, and stamps from before the thread ran. */
static struct tense_record any_bad_record(struct task *t)
{
	static const uint32_t percents[] = {
		0, 1, 999, 1000, 1001, 100000, 99999999, 100000000, 100000001,
		UINT32_MAX, INT32_MAX,
	};

	return (struct tense_record) {
		.stamp = one_in(t, 2) ? 0 : any_word(t),
		.percent = one_in(t, 2) ? any(t, percents) : (uint32_t)next(t),
		.own = one_in(t, 2) ? UINT16_MAX : next(t),
		.slot = next(t),
		.flags = next(t),
	};
}

static void forge_records(struct task *t, unsigned int n)
{
	struct tense_ring *ring = t->ring;

	for (unsigned int i = 0; i < n; i++)
		ring->record[(ring->head + i) % TENSE_RING_RECORDS] =
			any_bad_record(t);
	__atomic_store_n(&ring->head, ring->head + n, __ATOMIC_RELEASE);
}

/* Forges any word of the header, even reserved ones. */
static void forge_header(struct task *t)
{
	uint64_t *word = (uint64_t *)t->ring;
	size_t words = offsetof(struct tense_ring, record) / sizeof(*word);
	size_t some = one_in(t, 2) ? 4 : words;

	for (unsigned int n = 1 + below(t, 4); n; n--)
		word[below(t, some)] = any_word(t);
}

static long brink_forge(struct task *t)
{
	if (!t->ring)
		return -ENOENT;
	if (t->latest && one_in(t, 4))
		*t->latest = any_word(t);
	else if (one_in(t, 2))
		forge_header(t);
	else
		forge_records(t, one_in(t, 30) ? 3 * TENSE_RING_RECORDS :
					       below(t, 40));
	if (one_in(t, 2))
		run_turns(any_bits(t, 16));
	if (t->own >= 0 && one_in(t, 2))
		seek(t, 0, SEEK_CUR);
	return 0;
}

/* Keeps the ring full, so that each recheck finds the most records. */
static long brink_flood(struct task *t)
{
	if (!t->ring)
		return -ENOENT;
	t->ring->lowest = 1;
	for (int i = below(t, 10); i >= 0; i--)
		forge_records(t, TENSE_RING_RECORDS);
	t->ring->lowest = 0;
	return 0;
}

static bool is_alone(struct task *t, struct tense_stats *s)
{
	return call(SYS_read, t->own, s, sizeof(*s)) == sizeof(*s) &&
	       s->tasks == 1;
}

/*
 * A thread that is alone moves virtual time only by its charges and its waits. Before
 * some waits it claims a reading that is 0.9 s too late.
 */
static long brink_shown(struct task *t)
{
	struct tense_stats before, after;
	int64_t now, gained, most;

	if (t->own < 0 || !t->ring || t->public || !is_alone(t, &before))
		return -ENOENT;
	for (int i = 0; i < 8; i++) {
		now = seek(t, 0, SEEK_CUR);
		if (now < 0)
			return now;
		t->ring->shown = now + 900 * MS;
		seek(t, 1, SEEK_HOLE);
	}
	t->ring->shown = 0;
	if (!is_alone(t, &after) || after.tasks_total != before.tasks_total)
		return -EAGAIN;
	gained = after.gvt - before.gvt;
	most = after.charged - before.charged + after.elapsed - before.elapsed + S;
	if (gained > most)
		fail(t, "a forged reading gains time", gained, most);
	return 0;
}

/* --- the device --- */

/* Leaves and joins, while other threads of the process may do the same. */
static long brink_rejoin(struct task *t)
{
	long result = -ENOENT;

	for (int i = below(t, 10); i >= 0; i--)
		result = call_open_own(t);
	return result;
}

const struct operation brink_operations[] = {
	{ "jump to the end", brink_jump, 40, 0 },
	{ "jumps in turn", brink_race, 30, 0 },
	{ "CPU times", brink_read_times, 120, 0 },
	{ "timer near the end", brink_timer, 25, 0 },
	{ "itimer near the end", brink_itimer, 5, 0 },
	{ "timerfd near the end", brink_timerfd, 20, 0 },
	{ "bad words", brink_forge, 120, 0 },
	{ "flood of records", brink_flood, 6, 0 },
	{ "shown, then waits", brink_shown, 20, ODD },
	{ "join again", brink_rejoin, 10, 0 },
};
const size_t brink_operations_length = ARRAY_LENGTH(brink_operations);
