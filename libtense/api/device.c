// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "device.h"
#include "syscalls.h"

/*
 * The library's descriptors lie this close together, from tense_device_ops.high()
 * on.
 */
#define NUMBERS		8
#define CALIBRATE	32
/* After so many readings of the clock, a thread gets an area. */
#define READINGS	3

static _Atomic int shared = -1;
static _Atomic uint64_t rdev;
static _Atomic bool keeping;
static _Atomic int absent;	/* result of the last probe */

/*
 * A program may close our handle, as daemons close all descriptors. If the last
 * member of an experiment leaves by that, virtual time continues in the next one.
 * These are the latest time that was shown, the age of the experiments that ended
 * so, and the monotonic clock when the last experiment began.
 */
static _Atomic int64_t last, ended, origin;

static _Thread_local int own = -1;
static _Thread_local int64_t seen;	/* latest time that the device told the thread */
static _Thread_local unsigned int readings;
static pthread_key_t end_key;	/* set if the thread has an area or a handle of its own */

static const struct tense_device_ops *ops(void)
{
	return tense_device_ops;
}

static bool ours(int fd)
{
	uint64_t dev = ops()->rdev(fd);

	return dev && dev == rdev;
}

/* Moves a handle away from numbers that programs choose themselves. */
static int raise_fd(int fd, bool joined_by)
{
	int high = ops()->dup_above(fd, ops()->high());

	if (high < 0)
		return fd;
	/* Closing a copy of the handle it joined by would make it leave. */
	if (joined_by)
		ops()->close_unseen(fd);
	else
		ops()->close(fd);
	return high;
}

static void share(int fd)
{
	int old = shared;

	fd = raise_fd(fd, false);
	if ((old >= 0 && ours(old)) ||
	    !atomic_compare_exchange_strong(&shared, &old, fd))
		ops()->close(fd);
}

/* Whether there is a handle by which the thread joined before an exec. */
static bool kept_over_exec(void)
{
	int high = ops()->high();

	for (int fd = high; fd < high + NUMBERS; fd++)
		if (ours(fd) && ops()->kept(fd) > 0)
			return true;
	return false;
}

int tense_device_read(int fd, struct tense_stats *stats)
{
	long n = ops()->read(fd, stats, sizeof(*stats));

	if (n < 0)
		return n;
	/* It is not our device, or not a version that we know. */
	if (n < (long)sizeof(*stats))
		return -EBADF;
	if (stats->version != TENSE_STATS_VERSION)
		return -EPROTO;
	return 0;
}

/* write(2) takes whole percents only. */
static unsigned int whole(uint32_t percent)
{
	return (percent + TENSE_FINE / 2) / TENSE_FINE;
}

static int write_percent(int fd, unsigned int percent)
{
	char text[12];
	int at = sizeof(text);
	long n;

	do {
		text[--at] = '0' + percent % 10;
		percent /= 10;
	} while (percent);
	n = ops()->write(fd, text + at, sizeof(text) - at);
	return n < 0 ? n : 0;
}

/* Returns the kernel's clock: the experiment's once the thread is in one. */
static int64_t monotonic(void)
{
	struct timespec ts = { 0 };

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/*
 * After a loss, the clocks start again from the real ones. These may be behind
 * the time that the program has seen: then jumps to that time. Returns the
 * virtual time.
 */
static int64_t catch_up(int64_t now)
{
	int64_t shown = tense_page_shown(), ahead = last - ended;

	ahead = origin + (ahead > shown ? ahead : shown) - monotonic();
	return ahead > 0 ? ops()->lseek(own, ahead, SEEK_CUR) : now;
}

static void resume(const struct tense_stats *stats, bool lost)
{
	int64_t now = stats->lvt;

	/* No other task was ever in it: this experiment is new. */
	if (stats->tasks_total == 1) {
		if (lost)
			now = catch_up(now);
		ended = lost ? last - now : 0;
		origin = monotonic() - now;
	}
	seen = 0;
	if (__tense_self.told)
		write_percent(own, whole(__tense_self.told));
}

/*
 * Opens the device and joins the experiment that TENSE_EXPERIMENT names, if it is
 * set. Returns the handle.
 */
static int open_and_join(void)
{
	char text[sizeof("join ") + TENSE_CONFIG_NAME];
	const char *end;
	int fd;
	long n;

	if (!tense_config.experiment[0])
		return ops()->open();
	fd = ops()->open_only();
	if (fd < 0)
		return fd;
	end = stpcpy(stpcpy(text, "join "), tense_config.experiment);
	n = ops()->write(fd, text, end - text);
	if (n >= 0)
		return fd;
	ops()->close(fd);
	/* The process is in another experiment, for instance its parent's. */
	return n == -EBUSY ? ops()->open() : n;
}

/* Joins by a new handle, for the first time or in place of one that was lost. */
static int join(bool lost)
{
	static atomic_flag joined = ATOMIC_FLAG_INIT;
	struct tense_stats stats;
	int fd = open_and_join(), err, i;
	bool first;

	if (fd < 0)
		return fd;
	rdev = ops()->rdev(fd);
	err = tense_device_read(fd, &stats);
	if (err) {
		ops()->close(fd);
		return err;
	}
	/* The kernel refunds the cost of a call once it has seen some in a row. */
	if (!stats.call)
		for (i = 0; i < CALIBRATE; i++)
			ops()->lseek(fd, 0, SEEK_CUR);

	first = !atomic_flag_test_and_set(&joined);
	if (!(stats.flags & TENSE_STATS_OWNER) || (first && kept_over_exec())) {
		share(fd);
		return 0;
	}
	own = raise_fd(fd, true);
	if (keeping)
		ops()->keep(own);
	pthread_setspecific(end_key, &own);
	resume(&stats, lost);

	/* For threads that this one creates, and for the time after it has left. */
	if (shared < 0 || !ours(shared)) {
		fd = ops()->open();
		if (fd >= 0)
			share(fd);
	}
	return 0;
}

static void close_own(void)
{
	int fd = own;

	own = -1;
	__tense_self.told = 0;
	if (fd >= 0 && ours(fd))
		ops()->close(fd);
}

static int handle(void)
{
	return own >= 0 ? own : shared;
}

static void end_thread(void *unused)
{
	int fd = handle();
	bool mine = tense_area_exists() && fd >= 0 && ours(fd);

	(void)unused;
	if (mine)
		tense_own_work_begin(fd);
	tense_area_end();
	if (mine)
		tense_own_work_end(fd);
	close_own();
}

__attribute__((constructor(102))) static void device_init(void)
{
	pthread_key_create(&end_key, end_thread);
}

/* The program has closed the handle: its number may belong to another file. */
static void forget(int fd)
{
	if (fd == own)
		own = -1;
	else
		atomic_compare_exchange_strong(&shared, &fd, -1);
}

struct call {
	enum { CALL_SEEK, CALL_STATS, CALL_PERCENT, CALL_WRITE } what;
	int whence;
	int64_t ns;
	unsigned int percent;	/* of CALL_WRITE; no thousandths */
	struct tense_stats *stats;
	const struct tense_change *change;
};

static bool map_area(int fd, const struct tense_change *change)
{
	bool done = tense_area_prepare(fd, true, change);

	if (tense_area_exists())
		pthread_setspecific(end_key, &own);
	return done;
}

/* Returns the time without a system call, or -EAGAIN. */
static int64_t read_clock(int fd)
{
	int64_t now = tense_page_now();

	if (now >= 0)
		return now;
	if (++readings >= READINGS && ours(fd)) {
		map_area(fd, NULL);
		readings = 0;
	}
	return -EAGAIN;
}

static int64_t change_percent(int fd, const struct tense_change *change)
{
	/* Most often the ring was full. */
	if (tense_area_usable() && tense_area_prepare(fd, false, change) &&
	    tense_ring_push(change))
		return 0;
	if (!ours(fd))
		return -EBADF;
	if (map_area(fd, change) && tense_ring_push(change))
		return 0;
	return write_percent(fd, whole(change->percent));
}

static int64_t shown(int64_t now)
{
	if (now > seen)
		seen = now;
	now = seen;
	now += ended;
	last = now;
	return now;
}

static int64_t seek(int fd, const struct call *c)
{
	int64_t now;
	int type;

	if (!c->ns && c->whence == SEEK_CUR) {
		now = read_clock(fd);
		if (now >= 0)
			return shown(now);
	}
	/* A jump would move the position of a file of the program. */
	if ((c->ns || c->whence != SEEK_CUR) && !ours(fd))
		return -EBADF;
	if (c->whence == SEEK_HOLE) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
		now = ops()->lseek(fd, c->ns, SEEK_HOLE);
		pthread_setcanceltype(type, NULL);
	} else {
		now = ops()->lseek(fd, c->ns, c->whence);
	}
	if (now < 0)
		return now;
	/* This hardly ever holds: the thread has been running since it last looked. */
	if (now <= seen && !ours(fd))
		return -EBADF;
	return shown(now);
}

static int64_t attempt(int fd, const struct call *c)
{
	switch (c->what) {
	case CALL_SEEK:
		return seek(fd, c);
	case CALL_STATS:
		return tense_device_read(fd, c->stats);
	case CALL_PERCENT:
		return change_percent(fd, c->change);
	case CALL_WRITE:
		return write_percent(fd, c->percent);
	}
	return -EINVAL;
}

static int no_handle(void)
{
	int err = absent;

	if (!err)
		err = tense_device_probe();
	if (!err)
		return -ESRCH;
	absent = err;
	return tense_device_complain(err);
}

static int64_t call(const struct call *c)
{
	int fd = handle(), err;
	int64_t ret;

	if (tense_config.off)
		return -ENODEV;
	if (fd >= 0) {
		ret = attempt(fd, c);
		if (ret >= 0 || ret == -EINTR)
			return ret;
		if (ret != -ESRCH) {
			if (ours(fd))
				return ret;
			forget(fd);
		} else if (!keeping) {
			return ret;
		}
	} else if (!keeping) {
		return no_handle();
	}
	err = join(true);
	return err ? err : attempt(handle(), c);
}

int tense_device_join(bool keep)
{
	struct tense_stats stats;
	int err;

	if (tense_config.off)
		return -ENODEV;
	if (handle() >= 0) {
		err = tense_device_stats(&stats);
		if (err != -ESRCH)
			return err;
	}
	if (keep)
		keeping = true;
	err = join(false);
	if (err) {
		keeping = false;
		return tense_device_complain(err);
	}
	absent = 0;
	return 0;
}

int tense_device_leave(void)
{
	struct tense_stats stats;
	int err = tense_device_stats(&stats);

	if (!err && !keeping)
		close_own();
	return err;
}

int tense_device_stats(struct tense_stats *stats)
{
	return call(&(struct call){ .what = CALL_STATS, .stats = stats });
}

int tense_device_look(struct tense_stats *stats)
{
	int fd = handle();

	if (tense_config.off)
		return -ENODEV;
	return fd >= 0 && ours(fd) ? tense_device_read(fd, stats) : -ESRCH;
}

int tense_device_percent(const struct tense_change *change)
{
	int err = 0;

	if (!tense_ring_push(change))
		err = call(&(struct call){
			.what = CALL_PERCENT, .change = change });
	if (!err)
		__tense_self.told = change->percent;
	return err;
}

int tense_device_write(unsigned int percent)
{
	int err = call(&(struct call){
		.what = CALL_WRITE, .percent = percent });

	if (!err)
		__tense_self.told = percent * TENSE_FINE;
	return err;
}

int64_t tense_device_move(int64_t ns)
{
	return call(&(struct call){
		.what = CALL_SEEK, .ns = ns, .whence = SEEK_CUR });
}

int64_t tense_device_sleep(int64_t ns)
{
	return call(&(struct call){
		.what = CALL_SEEK, .ns = ns, .whence = SEEK_HOLE });
}

int tense_device_probe(void)
{
	return tense_config.off ? -ENODEV : ops()->probe();
}

/* Returns the advice that follows the text of an error, or an empty string. */
static const char *advise(int err, bool none)
{
	if (none)
		return "; 'tense run -- COMMAND' provides it";
	if (err == -EACCES)
		return "; only members of its group may use it";
	if (!tense_config.experiment[0])
		return "";
	if (err == -EINVAL)
		return "; TENSE_EXPERIMENT takes 1 to 32 letters, digits, '.', '_' and '-'";
	if (err == -EPERM)
		return "; a program with other rights than its user's may not join by TENSE_EXPERIMENT";
	return "";
}

int tense_device_complain(int err)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	bool none = err == -ENOENT || err == -ENXIO || err == -ENODEV;
	bool silent = tense_config.off ||
		      (tense_config.warned && !tense_config.strict);
	char text[320];
	int saved = errno, n;

	if (!silent && !atomic_flag_test_and_set(&said)) {
		errno = -err;
		n = snprintf(text, sizeof(text), "libtense: %s: %m%s%s\n",
			     TENSE_DEVICE, advise(err, none), tense_config.strict ?
			     "; TENSE_STRICT is set" :
			     "; running in real time (TENSE=0 silences this)");
		if (write(STDERR_FILENO, text, n) < 0) {
			/* There is no one to tell. */
		}
	}
	errno = saved;
	return none ? -ENODEV : err;
}
