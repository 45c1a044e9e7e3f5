// SPDX-License-Identifier: GPL-2.0
/* The preload layer on a fake device and with real clocks that are set by hand. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define INTERPOSE(name) virtual_##name
#include "../../libtense/preload.c" /* NOLINT(bugprone-suspicious-include) */

#include "fake-device.h"
#include "in-child.h"

#define SECOND	1000000000LL
#define AGE	(7 * SECOND)	/* of the experiment, in real time */

/* What the real clocks show, apart by different amounts. */
static int64_t real_now;
static int64_t real_slept;	/* by the real clock_nanosleep() */

static const struct {
	clockid_t clock;
	const char *name;
	int64_t ahead;		/* of the real monotonic clock */
} clocks[] = {
	{ CLOCK_MONOTONIC, "MONOTONIC", 0 },
	{ CLOCK_MONOTONIC_COARSE, "MONOTONIC_COARSE", 0 },
	{ CLOCK_MONOTONIC_RAW, "MONOTONIC_RAW", -123456 },
	{ CLOCK_BOOTTIME, "BOOTTIME", 3 * SECOND },
	{ CLOCK_REALTIME, "REALTIME", 1700000000 * SECOND },
	{ CLOCK_REALTIME_COARSE, "REALTIME_COARSE", 1700000000 * SECOND },
	{ CLOCK_TAI, "TAI", 1700000037 * SECOND },
};

#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static int64_t ns_of(struct timespec ts)
{
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static struct timespec of_ns(int64_t ns)
{
	return (struct timespec) { ns / SECOND, ns % SECOND };
}

static int real_gettime(clockid_t clock, struct timespec *ts)
{
	for (size_t i = 0; i < CLOCKS; i++) {
		if (clocks[i].clock == clock) {
			*ts = of_ns(real_now + clocks[i].ahead);
			return 0;
		}
	}
	return clock_gettime(clock, ts);
}

/* Like the kernel's, but that no time passes. */
static int real_nanosleep(clockid_t clock, int flags,
			  const struct timespec *request,
			  struct timespec *remain)
{
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME) {
		real_slept = ns_of(*request);
		return 0;
	}
	return clock_nanosleep(clock, flags, request, remain);
}

/* As if preloaded into an experiment that has been there for a while. */
static void preloaded(void)
{
	tense_config.preloaded = true;
	preload_init();
	tense_real_gettime = real_gettime;
	tense_real_nanosleep = real_nanosleep;
}

static void start_layer(void)
{
	tense_real_gettime = real_gettime;
	tense_real_nanosleep = real_nanosleep;
	real_now = 1000 * SECOND;
	fake.real = AGE;
	ok(!tense_device_join(true), "the main thread joins");
	ok(!tense_clocks_start(), "the clocks start");
	fake.now = 2 * SECOND;
}

static int64_t read_clock_of(clockid_t clock)
{
	struct timespec ts = { -1, -1 };

	if (virtual_clock_gettime(clock, &ts))
		return -errno;
	return ns_of(ts);
}

/* What a clock shows when the virtual time is ns. */
static int64_t expected(size_t i, int64_t ns)
{
	return 1000 * SECOND - AGE + clocks[i].ahead + ns;
}

static void reading(void)
{
	struct timespec ts;
	struct timeval tv;
	time_t seconds;
	int64_t realtime;

	start_layer();
	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       expected(i, 2 * SECOND),
		       "%s: its origin and the virtual time", clocks[i].name);
	/* Real time passes, virtual time does not, and the other way round. */
	real_now += 100 * SECOND;
	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       expected(i, 2 * SECOND),
		       "%s: real time does not move it", clocks[i].name);
	fake.now += 5 * SECOND + 123456789;
	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       expected(i, 7 * SECOND + 123456789),
		       "%s: virtual time does", clocks[i].name);

	realtime = read_clock_of(CLOCK_REALTIME);
	is_i64(virtual_gettimeofday(&tv, NULL), 0, "gettimeofday");
	is_i64(tv.tv_sec * SECOND + tv.tv_usec * 1000,
	       realtime / 1000 * 1000, "shows the same, in us");
	is_i64(virtual_time(&seconds), realtime / SECOND, "time");
	is_i64(seconds, realtime / SECOND, "stores it");
	is_i64(virtual_time(NULL), realtime / SECOND, "or not");
	is_i64(virtual_timespec_get(&ts, TIME_UTC), TIME_UTC, "timespec_get");
	is_i64(ns_of(ts), realtime, "shows the same");
	is_i64(virtual_timespec_get(&ts, TIME_UTC + 40), 0,
	       "timespec_get: another base");

	errno = 0;
	is_i64(virtual_clock_gettime(99, &ts), -1, "a clock that is not there");
	is_i64(errno, EINVAL, "is EINVAL");
	errno = 42;
	virtual_clock_gettime(CLOCK_MONOTONIC, &ts);
	is_i64(errno, 42, "errno is left alone");
	is_i64(virtual_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), 0,
	       "CPU time clocks");
	ok(ts.tv_sec < 1000, "are passed through");
}

/* Two processes that look at different times find the same origin. */
static int64_t other_process(int64_t real_later)
{
	int64_t got = 0;
	int ends[2];

	if (pipe(ends))
		return -1;
	if (!fork()) {
		real_now = 1000 * SECOND + real_later;
		fake.real = AGE + real_later;
		tense_clocks_start();
		got = read_clock_of(CLOCK_MONOTONIC);
		_exit(write(ends[1], &got, sizeof(got)) != sizeof(got));
	}
	wait(NULL);
	if (read(ends[0], &got, sizeof(got)) != sizeof(got))
		got = -1;
	close(ends[0]);
	close(ends[1]);
	return got;
}

static void between_processes(void)
{
	start_layer();
	is_i64(other_process(5 * SECOND), read_clock_of(CLOCK_MONOTONIC),
	       "a process that starts later sees the same time");
	fake.now = 3600 * SECOND;
	is_i64(other_process(1234567), read_clock_of(CLOCK_MONOTONIC),
	       "also when virtual time is far ahead of real time");
}

static int64_t sleeps(clockid_t clock, int flags, int64_t ns)
{
	struct timespec ts = of_ns(ns);
	int err;

	fake.slept = -1;
	err = virtual_clock_nanosleep(clock, flags, &ts, NULL);
	return err ? -err : fake.slept;
}

static void sleeping(void)
{
	struct timespec ts = { 3, 5 }, bad;
	static const clockid_t able[] = { CLOCK_REALTIME, CLOCK_MONOTONIC,
					  CLOCK_BOOTTIME, CLOCK_TAI };
	int64_t before;

	start_layer();
	before = fake.now;
	is_i64(virtual_nanosleep(&ts, NULL), 0, "nanosleep");
	is_i64(fake.now - before, 3 * SECOND + 5, "sleeps in virtual time");
	is_i64(virtual_usleep(1500000), 0, "usleep");
	is_i64(fake.slept, 1500000000, "sleeps us");
	is_i64(virtual_sleep(4), 0, "sleep");
	is_i64(fake.slept, 4 * SECOND, "sleeps seconds");
	is_i64(virtual_sleep(UINT_MAX), 0, "the longest sleep");
	is_i64(fake.slept, UINT_MAX * SECOND, "is as long");

	for (size_t i = 0; i < sizeof(able) / sizeof(able[0]); i++) {
		is_i64(sleeps(able[i], 0, 1000), 1000,
		       "clock_nanosleep: %d relative", able[i]);
		before = fake.now;
		is_i64(sleeps(able[i], TIMER_ABSTIME,
			      read_clock_of(able[i]) + SECOND), SECOND,
		       "clock_nanosleep: %d absolute", able[i]);
		is_i64(fake.now - before, SECOND, "until then");
		is_i64(sleeps(able[i], TIMER_ABSTIME,
			      read_clock_of(able[i]) - 1), 0,
		       "clock_nanosleep: %d in the past", able[i]);
		is_i64(sleeps(able[i], TIMER_ABSTIME, 0), 0,
		       "clock_nanosleep: %d at the beginning", able[i]);
	}
	is_i64(real_slept, 0, "never in real time");

	is_i64(sleeps(CLOCK_MONOTONIC_RAW, 0, 1000), -ENOTSUP,
	       "clock_nanosleep: not on the raw clock");
	is_i64(sleeps(CLOCK_REALTIME_COARSE, 0, 1000), -ENOTSUP,
	       "clock_nanosleep: nor on a coarse one");
	is_i64(sleeps(CLOCK_THREAD_CPUTIME_ID, 0, 1000), -EINVAL,
	       "clock_nanosleep: nor on the thread's own CPU time");
	is_i64(sleeps(99, 0, 1000), -EINVAL, "clock_nanosleep: no clock");

	bad = (struct timespec) { 0, 1000000000 };
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL,
	       "a second of nanoseconds");
	bad = (struct timespec) { 0, -1 };
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL,
	       "negative nanoseconds");
	bad = (struct timespec) { -1, 0 };
	errno = 0;
	is_i64(virtual_nanosleep(&bad, NULL), -1, "negative seconds");
	is_i64(errno, EINVAL, "are EINVAL");
	is_i64(virtual_clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &bad,
				       NULL), EINVAL, "absolute too");
	errno = 42;
	ts = (struct timespec) { 0, 0 };
	is_i64(virtual_nanosleep(&ts, NULL), 0, "no time at all");
	is_i64(errno, 42, "leaves errno alone");
}

static void bad_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct timespec ts = { 1, 0 };

	start_layer();
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, 0, page, NULL), EFAULT,
	       "a request that cannot be read");
	errno = 0;
	is_i64(virtual_nanosleep(page, NULL), -1, "nanosleep too");
	is_i64(errno, EFAULT, "is EFAULT");
	fake.interrupt_after = 1;
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, page), EFAULT,
	       "a remaining time that cannot be written");
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, page), 0,
	       "which does not matter where none remains");
}

static void endless(void)
{
	struct timespec ts = { LONG_MAX, 999999999 };

	start_layer();
	is_i64(virtual_nanosleep(&ts, NULL), 0, "as long as can be asked");
	is_i64(fake.now, TENSE_TIME_MAX, "ends with time itself");
	is_i64(virtual_clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL),
	       0, "absolute too");
}

static void interrupted(void)
{
	struct timespec ts = { 10, 0 }, left = { -1, -1 };

	start_layer();
	fake.interrupt_after = 3 * SECOND + 1;
	errno = 0;
	is_i64(virtual_nanosleep(&ts, &left), -1, "a signal after 3 s");
	is_i64(errno, EINTR, "is EINTR");
	is_i64(ns_of(left), 7 * SECOND - 1, "with the rest");
	fake.interrupt_after = 4 * SECOND;
	is_i64(virtual_nanosleep(&left, &left), -1, "again, in place");
	is_i64(ns_of(left), 3 * SECOND - 1, "with the rest");
	fake.interrupt_after = SECOND;
	is_i64(virtual_nanosleep(&ts, NULL), -1, "without one");

	fake.interrupt_after = SECOND;
	left = (struct timespec) { -1, -1 };
	ts = of_ns(read_clock_of(CLOCK_MONOTONIC) + 5 * SECOND);
	is_i64(virtual_clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts,
				       &left), EINTR, "an absolute sleep");
	ok(left.tv_sec == -1, "has no rest");

	fake.interrupt_after = 3 * SECOND + 1;
	is_i64(virtual_sleep(10), 6, "sleep returns the seconds not slept");
	fake.interrupt_after = SECOND;
	is_i64(virtual_usleep(2000000), -1, "usleep");
	is_i64(errno, EINTR, "is EINTR");

	fake.interrupt_after = 10 * SECOND;
	ts = of_ns(10 * SECOND);
	is_i64(virtual_nanosleep(&ts, &left), 0,
	       "a signal that comes with the end changes nothing");
}

static void real_slept_is(int64_t ns, const char *what)
{
	is_i64(real_slept, ns, "%s: sleeps in real time", what);
	real_slept = -1;
}

static void all_real(const char *why)
{
	struct timespec ts = { 0, 7 };

	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       real_now + clocks[i].ahead, "%s: %s is real", why,
		       clocks[i].name);
	is_i64(virtual_time(NULL), (real_now + 1700000000 * SECOND) / SECOND,
	       "%s: time is real", why);
	virtual_nanosleep(&ts, NULL);
	real_slept_is(7, "nanosleep");
	virtual_usleep(1);
	real_slept_is(1000, "usleep");
	virtual_sleep(2);
	real_slept_is(2 * SECOND, "sleep");
	virtual_clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	real_slept_is(7, "clock_nanosleep");
}

static void without_device(void)
{
	const char *warned;

	fake.open_error = -ENOENT;
	preloaded();
	real_now = 55 * SECOND;
	all_real("no device");
	warned = getenv("TENSE_WARNED");
	ok(warned && !strcmp(warned, "1"), "children need not warn");
}

static void switched_off(void)
{
	tense_config.off = true;
	preloaded();
	real_now = 55 * SECOND;
	all_real("TENSE=0");
	is_i64(fake.opens, 0, "TENSE=0 does not touch the device");
}

static void merely_linked(void)
{
	preload_init();
	tense_real_gettime = real_gettime;
	tense_real_nanosleep = real_nanosleep;
	real_now = 55 * SECOND;
	all_real("linked");
	is_i64(fake.opens, 0, "a linked program does not join by itself");
}

static void keeps(void)
{
	preloaded();
	ok(fake_member(), "preloaded: joins before main()");
	is_i64(fake_low_fds(), 0, "no descriptor where programs expect theirs");
	is_i64(fake_kept_fds(), 1, "one stays open over an exec");
	is_i64(tense_device_leave(), 0, "tense_destroy()");
	ok(fake_member(), "does not make it leave");
	fake_exec();
	ok(fake_member(), "nor does an exec");
}

static void *joins(void *arg)
{
	struct timespec ts;

	(void)arg;
	virtual_clock_gettime(CLOCK_MONOTONIC, &ts);
	ok(fake_member(), "a further thread can join by a handle of its own");
	return NULL;
}

/* libtense after an exec: its state is new, the descriptor is not. */
static void after_exec(void)
{
	pthread_t thread;
	int fd = tense_device_ops->open();
	int high = tense_device_ops->dup_above(fd, FAKE_HIGH);

	tense_device_ops->close_unseen(fd);
	tense_device_ops->keep(high);
	preloaded();
	is_i64(fake_kept_fds(), 1, "after an exec no second one is kept");
	ok(fake_member(), "the thread is still a member");
	is_i64(fake_open_fds(), 2, "and has a handle to use");
	fake_thread(&thread, true, joins, NULL);
	pthread_join(thread, NULL);
}

static void closed_by_program(void)
{
	int64_t before;

	start_layer();
	before = read_clock_of(CLOCK_MONOTONIC);
	fake_close_all();
	is_i64(read_clock_of(CLOCK_MONOTONIC), before,
	       "after closefrom(3) clocks go on where they were");
	is_i64(fake_kept_fds(), 1, "the new handle is kept over exec too");
	fake_put_foreign();
	virtual_usleep(5);
	is_i64(fake.slept, 5000, "with other files in place sleeps work");
	is_i64(fake.foreign, 0, "and touch none of them");
}

static void *stranger(void *arg)
{
	/* Not the first to join in this process, but the first by itself. */
	*(int64_t *)arg = read_clock_of(CLOCK_MONOTONIC);
	ok(fake_member(), "a thread that is in no experiment joins");
	return NULL;
}

static void strangers(void)
{
	pthread_t thread;
	int64_t seen = 0;

	start_layer();
	fake_thread(&thread, true, stranger, &seen);
	pthread_join(thread, NULL);
	is_i64(seen, read_clock_of(CLOCK_MONOTONIC), "and sees the same time");
}

static void lost(void)
{
	start_layer();
	fake.open_error = -EMFILE;
	fake_close_all();
	is_i64(read_clock_of(CLOCK_MONOTONIC), real_now,
	       "where the device cannot be opened again, clocks turn real");
}

int main(void)
{
	in_child("reading", reading);
	in_child("processes", between_processes);
	in_child("sleeping", sleeping);
	in_child("memory", bad_memory);
	in_child("endless", endless);
	in_child("interrupted", interrupted);
	in_child("no device", without_device);
	in_child("off", switched_off);
	in_child("linked", merely_linked);
	in_child("keeps", keeps);
	in_child("exec", after_exec);
	in_child("closed", closed_by_program);
	in_child("strangers", strangers);
	in_child("lost", lost);
	return done();
}
