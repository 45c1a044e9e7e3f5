// SPDX-License-Identifier: GPL-2.0
/* The functions of libtense on a device that is not there, or a fake one. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <tense.h>

#include "api/config.h"
#include "fake-device.h"
#include "in-child.h"

#define SECOND 1000000000LL

static int scale(void)
{
	return tense_scale_percent(200);
}

static int move(void)
{
	return tense_move_ns(1000);
}

static int time_of(void)
{
	uint64_t ns;

	return tense_time_ns(&ns);
}

static int nap(void)
{
	return tense_sleep_ns(1000);
}

static int move_by_timespec(void)
{
	return tense_move(&(struct timespec){ .tv_nsec = 1000 });
}

static int timespec_of(void)
{
	struct timespec time;

	return tense_time(&time);
}

static int nap_by_timespec(void)
{
	return tense_sleep(&(struct timespec){ .tv_nsec = 1000 });
}

/* Each function with arguments that are valid. */
static const struct {
	const char *name;
	int (*call)(void);
} functions[] = {
	{ "tense_init", tense_init },
	{ "tense_health_check", tense_health_check },
	{ "tense_scale_percent", scale },
	{ "tense_scale_pop", tense_scale_pop },
	{ "tense_scale_clear", tense_scale_clear },
	{ "tense_move", move_by_timespec },
	{ "tense_time", timespec_of },
	{ "tense_sleep", nap_by_timespec },
	{ "tense_move_ns", move },
	{ "tense_time_ns", time_of },
	{ "tense_sleep_ns", nap },
	{ "tense_destroy", tense_destroy },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Catches in text the lines that the checks write to standard error. */
static int err_pipe[2], err_old;
static char text[1024];

static void watch_stderr(void)
{
	err_old = dup(STDERR_FILENO);
	if (pipe(err_pipe) || dup2(err_pipe[1], STDERR_FILENO) < 0)
		ok(false, "pipe");
	close(err_pipe[1]);
}

static int lines_on_stderr(void)
{
	size_t n = 0;
	ssize_t got;
	int lines = 0;

	dup2(err_old, STDERR_FILENO);
	close(err_old);
	while ((got = read(err_pipe[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(err_pipe[0]);
	text[n] = '\0';
	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static void all_fail(int err, const char *why)
{
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < FUNCTIONS; i++) {
			errno = 42;
			is_i64(functions[i].call(), err, "%s: %s",
			       why, functions[i].name);
			is_i64(errno, 42, "%s leaves errno alone",
			       functions[i].name);
		}
	}
	is_i64(tense_scale_percent(0), err, "%s: also with a bad percent", why);
	is_i64(tense_time_ns(NULL), err, "%s: also with no memory", why);
	is_i64(tense_time(NULL), err, "%s: tense_time() also", why);
	is_i64(tense_move(NULL), err, "%s: tense_move() also", why);
	is_i64(tense_sleep(NULL), err, "%s: tense_sleep() also", why);
}

static void without_device(void)
{
	fake.open_error = -ENOENT;
	watch_stderr();
	all_fail(-ENODEV, "no device");
	is_i64(lines_on_stderr(), 1, "one warning in all");
	ok(strstr(text, "libtense: /dev/tense: No such file") &&
	   strstr(text, "tense run") && strstr(text, "real time"),
	   "it says what is missing, what to do, and what happens instead");
}

static void switched_off(void)
{
	tense_config.off = true;
	watch_stderr();
	all_fail(-ENODEV, "TENSE=0");
	is_i64(lines_on_stderr(), 0, "TENSE=0 is silent");
	is_i64(fake.opens, 0, "TENSE=0 does not touch the device");
}

static void not_permitted(void)
{
	fake.open_error = -EACCES;
	watch_stderr();
	all_fail(-EACCES, "no permission");
	is_i64(lines_on_stderr(), 1, "one warning in all");
	ok(strstr(text, "Permission denied") && strstr(text, "group"),
	   "it says who may");
}

static void warned_before(void)
{
	fake.open_error = -ENOENT;
	tense_config.warned = true;
	watch_stderr();
	is_i64(tense_init(), -ENODEV, "a process above has warned");
	is_i64(lines_on_stderr(), 0, "no further warning");
}

static void strict(void)
{
	fake.open_error = -ENOENT;
	tense_config.strict = true;
	tense_config.warned = true;
	watch_stderr();
	is_i64(tense_init(), -ENODEV, "TENSE_STRICT: tense_init() fails");
	is_i64(lines_on_stderr(), 1, "with its own message");
	ok(!strstr(text, "real time"), "that does not call it a warning");
}

static void device_appears(void)
{
	fake.open_error = -ENOENT;
	watch_stderr();
	is_i64(tense_scale_percent(200), -ENODEV, "no device yet");
	fake.open_error = 0;
	is_i64(tense_init(), 0, "tense_init() looks again");
	is_i64(tense_scale_percent(200), 0, "and then the others work");
	lines_on_stderr();
}

static void other_version(void)
{
	fake.version = TENSE_STATS_VERSION + 1;
	watch_stderr();
	is_i64(tense_init(), -EPROTO, "a device of another version");
	is_i64(lines_on_stderr(), 1, "is told");
	is_i64(fake_open_fds(), 0, "and closed again");
	ok(!fake_member(), "and left");
}

static void outside(void)
{
	for (size_t i = 1; i < FUNCTIONS; i++)
		is_i64(functions[i].call(),
		       functions[i].call == tense_health_check ? 0 : -ESRCH,
		       "before tense_init: %s", functions[i].name);
	ok(!fake_member(), "none of them joins");
	is_i64(fake_open_fds(), 0, "none leaves a descriptor open");
}

/* Before tense_init(). An error of the device is all that a check may find. */
static void unhealthy(int err, const char *why)
{
	errno = 42;
	is_i64(tense_health_check(), err, "health: %s", why);
	is_i64(errno, 42, "leaves errno alone");
	ok(!fake_member() && !fake.members, "joins nothing");
	is_i64(fake_open_fds(), 0, "closes what it opened");
	is_i64(fake.mapped, 0, "unmaps what it mapped");
	is_i64(fake.broken, 0, "keeps the rules of the ring");
}

static void health_outside(void)
{
	watch_stderr();
	unhealthy(0, "a machine without areas");
	fake.map_error = 0;
	unhealthy(0, "all is well");
	ok(fake.maps > 1, "page and ring were mapped");
	fake.clock_version++;
	unhealthy(-EPROTO, "a page of another version");
	fake.clock_version--;
	fake.deaf = true;
	unhealthy(-EIO, "a kernel that takes nothing from the ring");
	fake.deaf = false;
	fake.map_error = -EDQUOT;
	unhealthy(-EDQUOT, "too many areas");
	fake.map_error = 0;
	fake.version++;
	unhealthy(-EPROTO, "a device of another version");
	fake.version--;
	fake.open_error = -EMFILE;
	unhealthy(-EMFILE, "too many experiments");
	fake.open_error = 0;
	unhealthy(0, "all is well again");
	is_i64(tense_init(), 0, "tense_init() joins then");
	is_i64(tense_health_check(), 0, "which is healthy, too");
	is_i64(lines_on_stderr(), 1, "one message in all");
}

static void *check_health(void *arg)
{
	(void)arg;
	is_i64(tense_health_check(), 0, "a stranger may check beside a member");
	ok(!fake_member(), "and stays a stranger");
	return NULL;
}

static void health_beside_a_member(void)
{
	unsigned int open;
	pthread_t thread;

	tense_init();
	open = fake_open_fds();
	fake_thread(&thread, true, check_health, NULL);
	pthread_join(thread, NULL);
	is_i64(fake.members, 1, "the experiment has the one member");
	is_i64(fake_open_fds(), open, "the process the same descriptors");
}

static void joins_and_leaves(void)
{
	unsigned int opens;
	uint64_t ns;

	is_i64(tense_init(), 0, "tense_init");
	ok(fake_member(), "joins");
	is_i64(fake_low_fds(), 0, "no descriptor where programs expect theirs");
	is_i64(fake_kept_fds(), 0, "none that exec leaves open");
	is_i64(fake.seeks, 32, "the cost of a call is measured at first");
	opens = fake.opens;
	is_i64(tense_init(), 0, "tense_init again");
	is_i64(fake.opens, opens, "changes nothing");
	is_i64(tense_health_check(), 0, "health");
	is_i64(tense_scale_percent(300), 0, "a percent");
	is_i64(tense_move_ns(SECOND), 0, "some time");
	is_i64(tense_destroy(), 0, "tense_destroy");
	ok(!fake_member(), "leaves");
	is_i64(tense_destroy(), -ESRCH, "a second time there is nothing to leave");
	is_i64(tense_scale_percent(200), -ESRCH, "percents are refused");
	is_i64(tense_init(), 0, "tense_init joins again");
	is_i64(fake_percent(), 100, "at percent 100");
	is_i64(tense_time_ns(&ns), 0, "a new experiment");
	is_i64(ns, 0, "in which time begins anew");
	is_i64(tense_scale_pop(), 0, "with an empty stack");
	is_i64(fake_percent(), 100, "where a pop leaves it at 100");
	is_i64(fake_open_fds(), 2, "no descriptor was lost on the way");
}

static void percents(void)
{
	unsigned int writes;

	tense_init();
	is_i64(tense_scale_percent(200), 0, "push 200");
	is_i64(fake_percent(), 200, "the kernel knows");
	is_i64(tense_scale_percent(50), 0, "push 50");
	is_i64(fake_percent(), 100, "50 inside 200 is 100");
	writes = fake.writes;
	is_i64(tense_scale_percent(100), 0, "push 100");
	is_i64(fake.writes, writes, "makes no system call");
	is_i64(tense_health_check(), 0, "health");
	is_i64(tense_scale_pop(), 0, "pop");
	is_i64(tense_scale_pop(), 0, "pop");
	is_i64(fake_percent(), 200, "back at 200");
	is_i64(tense_scale_percent(10), 0, "push 10");
	is_i64(tense_scale_clear(), 0, "clear");
	is_i64(fake_percent(), 100, "back at the beginning");
	is_i64(tense_scale_clear(), 0, "clear with nothing pushed");
	writes = fake.writes;
	is_i64(tense_scale_pop(), 0, "pop with nothing pushed");
	is_i64(fake_percent(), 100, "stays at 100");
	is_i64(fake.writes, writes, "without a system call");

	tense_scale_percent(200);
	writes = fake.writes;
	is_i64(tense_scale_percent(0), -EINVAL, "percent 0");
	is_i64(tense_scale_percent(-5), -EINVAL, "percent -5");
	is_i64(tense_scale_percent(100001), -EINVAL, "percent 100001");
	is_i64(tense_scale_percent(INT_MIN), -EINVAL, "percent INT_MIN");
	is_i64(tense_scale_percent(100000), -ERANGE, "a product of 200000");
	is_i64(fake.writes, writes, "none of them reaches the kernel");
	fake.write_error = -EIO;
	is_i64(tense_scale_percent(300), -EIO, "the kernel's error is returned");
	is_i64(tense_scale_pop(), -EIO, "for a pop too");
	is_i64(tense_scale_clear(), -EIO, "and a clear");
	fake.write_error = 0;
	is_i64(fake_percent(), 200, "nothing has changed");
	is_i64(tense_scale_pop(), 0, "one level was there");
	is_i64(tense_scale_pop(), 0, "one pop more");
	is_i64(fake_percent(), 100, "is at 100");
	is_i64(tense_scale_percent(50), 0, "and spoils no push after it");
	is_i64(fake_percent(), 50, "which is of 100");
	tense_scale_pop();

	for (int i = 0; i < TENSE_SCALE_DEPTH; i++)
		if (tense_scale_percent(i & 1 ? 50 : 200))
			ok(false, "level %d", i);
	is_i64(tense_scale_percent(100), -ENOSPC, "too deep");
	for (int i = 0; i < TENSE_SCALE_DEPTH; i++)
		if (tense_scale_pop())
			ok(false, "pop of level %d", i);
	is_i64(fake_percent(), 100, "all levels are popped");
	is_i64(tense_scale_pop(), 0, "one more is no error");
	is_i64(fake_percent(), 100, "back at the beginning");
}

static void out_of_step(void)
{
	tense_init();
	tense_scale_percent(200);
	/* The program writes to the device itself. */
	tense_device_percent(&(struct tense_change){ .percent = 300 * TENSE_FINE });
	is_i64(tense_health_check(), -EIO, "the kernel's percent is another");
}

static void clock_and_sleep(void)
{
	uint64_t ns = 42;

	tense_init();
	fake.now = 1000;
	is_i64(tense_time_ns(&ns), 0, "tense_time");
	is_i64(ns, 1000, "reads the clock");
	is_i64(tense_time_ns(NULL), -EINVAL, "tense_time_ns(NULL)");
	is_i64(tense_move_ns(500), 0, "tense_move");
	is_i64(fake.now, 1500, "jumps");
	is_i64(tense_move_ns(-500), 0, "a credit");
	is_i64(tense_move_ns(INT64_MAX), -EOVERFLOW, "a jump too far");
	is_i64(tense_sleep_ns(7000), 0, "tense_sleep");
	is_i64(fake.now, 8500, "sleeps");
	is_i64(tense_sleep_ns(0), 0, "no time");
	is_i64(tense_sleep_ns(-1), -EINVAL, "less than no time");
	is_i64(tense_sleep_ns(INT64_MAX), -EOVERFLOW, "too much time");
	fake.interrupt_after = 100;
	is_i64(tense_sleep_ns(1000), -EINTR, "a signal");
	tense_time_ns(&ns);
	is_i64(ns, 8600, "the clock tells how long it slept");
}

static struct timespec timespec(int64_t s, long ns)
{
	return (struct timespec){ .tv_sec = s, .tv_nsec = ns };
}

static int move_by(int64_t s, long ns)
{
	struct timespec by = timespec(s, ns);

	return tense_move(&by);
}

static int sleep_for(int64_t s, long ns)
{
	struct timespec by = timespec(s, ns);

	return tense_sleep(&by);
}

static void published(void)
{
	struct timespec time = { 7, 7 };

	tense_init();
	fake.now = 3 * SECOND + 5;
	is_i64(tense_time(&time), 0, "tense_time");
	ok(time.tv_sec == 3 && time.tv_nsec == 5, "in seconds and nanoseconds");
	is_i64(tense_time(NULL), -EINVAL, "of no memory");
	is_i64(move_by(2, 500000000), 0, "tense_move");
	is_i64(fake.now, 5 * SECOND + 500000005, "jumps");
	is_i64(move_by(0, 0), 0, "by nothing");
	is_i64(fake.now, 5 * SECOND + 500000005, "stays");
	is_i64(tense_move(NULL), -EINVAL, "by no timespec");
	is_i64(move_by(0, -1), -EINVAL, "tv_nsec -1");
	is_i64(move_by(0, SECOND), -EINVAL, "tv_nsec of a second");
	is_i64(move_by(1, LONG_MIN), -EINVAL, "tv_nsec far below");
	is_i64(move_by(INT64_MAX, 0), -EOVERFLOW, "seconds that no ns count");
	is_i64(move_by(INT64_MIN, 0), -EOVERFLOW, "nor below 0");
	/* INT64_MAX ns are 9223372036.854775807 s. */
	is_i64(move_by(9223372036, 854775807), -EOVERFLOW,
	       "the most ns are more than the kernel takes");
	is_i64(fake.seek, INT64_MAX, "which is told them");
	is_i64(move_by(9223372036, 854775808), -EOVERFLOW, "one more");
	is_i64(move_by(-9223372037, 145224192), 0, "the least ns");
	is_i64(fake.seek, INT64_MIN, "are a credit");
	is_i64(move_by(-9223372037, 145224191), -EOVERFLOW, "one less");
	is_i64(move_by(-1, 500000000), 0, "a credit of half a second");
	is_i64(fake.seek, -500000000, "is that");
	is_i64(move_by(-1, 0), 0, "and of a whole one");
	is_i64(fake.seek, -SECOND, "is that");
	is_i64(fake.now, 5 * SECOND + 500000005, "none of them jumps");

	is_i64(sleep_for(1, 1), 0, "tense_sleep");
	is_i64(fake.now, 6 * SECOND + 500000006, "sleeps");
	is_i64(sleep_for(0, 0), 0, "no time");
	is_i64(tense_sleep(NULL), -EINVAL, "no timespec");
	is_i64(sleep_for(-1, 999999999), -EINVAL, "less than no time");
	is_i64(sleep_for(INT64_MIN, 0), -EINVAL, "far less");
	is_i64(sleep_for(1, SECOND), -EINVAL, "tv_nsec of a second");
	is_i64(sleep_for(1, -1), -EINVAL, "tv_nsec -1");
	is_i64(sleep_for(INT64_MAX, 0), -EOVERFLOW, "too much time");
	is_i64(sleep_for(INT64_MAX / SECOND, 0), -EOVERFLOW,
	       "more than the kernel takes");
	fake.interrupt_after = 100;
	is_i64(sleep_for(1, 0), -EINTR, "a signal");
	is_i64(fake.now, 6 * SECOND + 500000106, "ends it");
}

static void descriptors_closed(void)
{
	uint64_t ns;

	tense_init();
	tense_scale_percent(250);
	tense_move_ns(SECOND);
	fake_close_all();
	ok(!fake_member(), "closefrom(3) makes the thread leave");
	is_i64(tense_time_ns(&ns), 0, "the next call opens the device again");
	ok(fake_member(), "and joins");
	is_i64(ns, SECOND, "time goes on where it was");
	is_i64(fake_percent(), 250, "at the same percent");
	tense_move_ns(10);
	tense_time_ns(&ns);
	is_i64(ns, SECOND + 10, "and goes on");
	is_i64(tense_scale_pop(), 0, "the stack is as it was");
	is_i64(fake_percent(), 100, "with what was below");

	for (int i = 0; i < 5; i++) {
		fake_put_foreign();
		switch (i) {
		case 0:
			is_i64(tense_time_ns(&ns), 0, "other files: tense_time");
			is_i64(ns, SECOND + 10, "other files: time goes on");
			break;
		case 1:
			is_i64(tense_move_ns(1), 0, "other files: tense_move");
			break;
		case 2:
			is_i64(tense_sleep_ns(0), 0, "other files: tense_sleep");
			break;
		case 3:
			is_i64(tense_scale_percent(50), 0,
			       "other files: tense_scale_percent");
			break;
		case 4:
			is_i64(tense_health_check(), 0,
			       "other files: tense_health_check");
			break;
		}
	}
	is_i64(fake.foreign, 0, "no file of the program's was touched");
}

static void *of_a_member(void *arg)
{
	(void)arg;
	is_i64(tense_scale_percent(50), 0, "a thread of a member can scale");
	is_i64(fake_percent(), 100, "on top of its parent's percent");
	is_i64(tense_scale_clear(), 0, "and clear");
	is_i64(fake_percent(), 200, "to its parent's percent");
	is_i64(tense_scale_pop(), 0, "a pop too many");
	is_i64(fake_percent(), 200, "leaves what was inherited");
	is_i64(tense_init(), 0, "tense_init only checks");
	is_i64(tense_destroy(), 0, "tense_destroy");
	ok(fake_member(), "cannot make it leave what it inherited");
	is_i64(tense_health_check(), 0, "which stays usable");
	return NULL;
}

static void *of_a_stranger(void *arg)
{
	(void)arg;
	is_i64(tense_scale_percent(50), -ESRCH, "a stranger cannot scale");
	is_i64(tense_init(), 0, "tense_init");
	ok(fake_member(), "makes it a member");
	is_i64(tense_scale_percent(50), 0, "that can");
	/* Ends without tense_destroy(). */
	return NULL;
}

static void threads(void)
{
	pthread_t thread;
	unsigned int open;

	tense_init();
	tense_scale_percent(200);
	fake_thread(&thread, false, of_a_member, NULL);
	pthread_join(thread, NULL);
	is_i64(fake_percent(), 200, "what a thread does changes no other");
	open = fake_open_fds();
	fake_thread(&thread, true, of_a_stranger, NULL);
	pthread_join(thread, NULL);
	is_i64(fake_open_fds(), open, "a thread's handle goes with the thread");
}

static void no_descriptors_left(void)
{
	fake.open_error = -EMFILE;
	watch_stderr();
	is_i64(tense_init(), -EMFILE, "no descriptor left");
	is_i64(lines_on_stderr(), 1, "is told");
}

int main(void)
{
	in_child("without device", without_device);
	in_child("off", switched_off);
	in_child("permission", not_permitted);
	in_child("warned", warned_before);
	in_child("strict", strict);
	in_child("appears", device_appears);
	in_child("version", other_version);
	in_child("outside", outside);
	in_child("join", joins_and_leaves);
	in_child("percents", percents);
	in_child("health", out_of_step);
	in_child("health outside", health_outside);
	in_child("health beside", health_beside_a_member);
	in_child("clock", clock_and_sleep);
	in_child("published", published);
	in_child("closed", descriptors_closed);
	in_child("threads", threads);
	in_child("EMFILE", no_descriptors_left);
	return done();
}
