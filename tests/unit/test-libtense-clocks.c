// SPDX-License-Identifier: GPL-2.0
/* The preload layer on a fake device and with real clocks that are set by hand. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define INTERPOSE(name) virtual_##name
#include "../../libtense/api/preload.c" /* NOLINT(bugprone-suspicious-include) */

#include "fake-area.h"
#include "fake-device.h"
#include "in-child.h"

#define SECOND	1000000000LL
#define START	(1000 * SECOND)	/* monotonic, of the experiment */

/* The real clocks show this, apart by different amounts. */
static int64_t real_now;

static const struct {
	clockid_t clock;
	const char *name;
	int64_t ahead;		/* offset to the real monotonic clock */
	unsigned int origin;
} clocks[] = {
	{ CLOCK_MONOTONIC, "MONOTONIC", 0, TENSE_ORIGIN_MONOTONIC },
	{ CLOCK_MONOTONIC_COARSE, "MONOTONIC_COARSE", 0,
	  TENSE_ORIGIN_MONOTONIC },
	{ CLOCK_MONOTONIC_RAW, "MONOTONIC_RAW", -123456, TENSE_ORIGIN_RAW },
	{ CLOCK_BOOTTIME, "BOOTTIME", 3 * SECOND, TENSE_ORIGIN_BOOTTIME },
	{ CLOCK_REALTIME, "REALTIME", 1700000000 * SECOND,
	  TENSE_ORIGIN_REALTIME },
	{ CLOCK_REALTIME_COARSE, "REALTIME_COARSE", 1700000000 * SECOND,
	  TENSE_ORIGIN_REALTIME },
	{ CLOCK_TAI, "TAI", 1700000037 * SECOND, TENSE_ORIGIN_TAI },
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

/* As if preloaded into an experiment that has been there for a while. */
static void preloaded(void)
{
	tense_config.preloaded = true;
	preload_init();
	tense_real_gettime = real_gettime;
}

/* The page of the calling thread says that it is ns, for good. */
static void set_page(int64_t ns)
{
	struct fake_area *a = show(ns, 0, 100);

	a->clock->clocks = ~0U;
	for (size_t i = 0; i < CLOCKS; i++)
		a->clock->origin[clocks[i].origin] = START + clocks[i].ahead;
}

static void start_layer(void)
{
	tense_real_gettime = real_gettime;
	real_now = START;
	fake.map_error = 0;
	ok(!tense_device_join(true), "the main thread joins");
	tense_clocks_start();
	/* After a few readings it has a page. */
	for (int i = 0; i < 5; i++)
		tense_device_move(0);
	ok(fake_area(), "and has a clock page");
	set_page(2 * SECOND);
}

static int64_t read_clock_of(clockid_t clock)
{
	struct timespec ts = { -1, -1 };

	if (virtual_clock_gettime(clock, &ts))
		return -errno;
	return ns_of(ts);
}

/* A clock shows this when the virtual time is ns. */
static int64_t expected(size_t i, int64_t ns)
{
	return START + clocks[i].ahead + ns;
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
	set_page(7 * SECOND + 123456789);
	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       expected(i, 7 * SECOND + 123456789),
		       "%s: virtual time does", clocks[i].name);

	realtime = read_clock_of(CLOCK_REALTIME);
	is_i64(virtual_gettimeofday(&tv, NULL), 0, "gettimeofday");
	is_i64(tv.tv_sec * SECOND + tv.tv_usec * 1000,
	       realtime / 1000 * 1000, "shows the same, in us");
	is_i64(virtual_gettimeofday(NULL, NULL), 0, "or nothing, as libc's may");
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

static bool asks_the_kernel(clockid_t clock)
{
	struct timespec before, after;
	int64_t got;

	syscall(SYS_clock_gettime, clock, &before);
	got = read_clock_of(clock);
	syscall(SYS_clock_gettime, clock, &after);
	return got >= ns_of(before) && got <= ns_of(after);
}

/* In an experiment the kernel's answer is the virtual clock. */
static void without_page(void)
{
	fake.map_error = -EOPNOTSUPP;
	tense_real_gettime = real_gettime;
	real_now = START;
	ok(!tense_device_join(true), "the main thread joins");
	tense_clocks_start();
	for (size_t i = 0; i < CLOCKS; i++)
		ok(clocks[i].clock == CLOCK_REALTIME_COARSE ||
		   clocks[i].clock == CLOCK_MONOTONIC_COARSE ||
		   asks_the_kernel(clocks[i].clock),
		   "without a page the kernel tells %s", clocks[i].name);
}

static void some_real(void)
{
	start_layer();
	fake_area()->clock->clocks = 1U << TENSE_ORIGIN_MONOTONIC;
	is_i64(read_clock_of(CLOCK_MONOTONIC), expected(0, 2 * SECOND),
	       "a clock that is virtual");
	ok(asks_the_kernel(CLOCK_REALTIME), "and one that is not");
}

static void told(void)
{
	struct fake_area *a;

	start_layer();
	a = fake_area();
	read_clock_of(CLOCK_REALTIME);
	is_i64(a->ring->shown, 2 * SECOND, "the kernel is told what was shown");
	set_page(SECOND);
	a->ring->shown = 2 * SECOND;
	is_i64(read_clock_of(CLOCK_MONOTONIC), expected(0, 2 * SECOND),
	       "a page that is behind that shows no earlier time");
	is_i64(a->ring->shown, 2 * SECOND, "which stays the latest");
}

static void all_real(const char *why)
{
	for (size_t i = 0; i < CLOCKS; i++)
		is_i64(read_clock_of(clocks[i].clock),
		       real_now + clocks[i].ahead, "%s: %s is real", why,
		       clocks[i].name);
	is_i64(virtual_time(NULL), (real_now + 1700000000 * SECOND) / SECOND,
	       "%s: time is real", why);
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
	start_layer();
	fake_close_all();
	read_clock_of(CLOCK_MONOTONIC);
	ok(fake_member(), "after closefrom(3) it joins again");
	is_i64(fake_kept_fds(), 1, "the new handle is kept over exec too");
	fake_put_foreign();
	tense_device_sleep(5000);
	is_i64(fake.slept, 5000, "with other files in place sleeps work");
	is_i64(fake.foreign, 0, "and touch none of them");
}

static void *stranger(void *arg)
{
	(void)arg;
	/* Not the first to join in this process, but the first by itself. */
	read_clock_of(CLOCK_MONOTONIC);
	ok(fake_member(), "a thread that is in no experiment joins");
	return NULL;
}

static void strangers(void)
{
	pthread_t thread;

	start_layer();
	fake_thread(&thread, true, stranger, NULL);
	pthread_join(thread, NULL);
}

static void lost(void)
{
	start_layer();
	fake.open_error = -EMFILE;
	fake_close_all();
	ok(asks_the_kernel(CLOCK_MONOTONIC),
	   "where the device cannot be opened again, the kernel's are shown");
}

int main(void)
{
	in_child("reading", reading);
	in_child("without a page", without_page);
	in_child("some real", some_real);
	in_child("told", told);
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
