// SPDX-License-Identifier: GPL-2.0
/* Every call of /dev/tense, with right and wrong arguments. */
#include "guest.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <linux/sched.h>

#include "../lib/sort.h"
#include "harness.h"
#include "smp.h"

/* Not known to the compiler, which would warn of it. */
static void *volatile bad_address = (void *)16;

FIXTURE(dev)
{
	int fd;
};

FIXTURE_SETUP(dev)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
}

FIXTURE_TEARDOWN(dev)
{
	close(self->fd);
}

TEST_F(dev, percent_accepts)
{
	static const struct {
		const char *text;
		unsigned int percent;
	} good[] = {
		{ "1", 1 }, { "100000", 100000 }, { "125\n", 125 },
		{ "0125", 125 }, { "000000000000007", 7 },
		{ "00000000000007\n", 7 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
		EXPECT_TRUE(dev_percent(self->fd, good[i].text))
			TH_LOG("\"%s\": %s", good[i].text, strerror(errno));
		EXPECT_EQ(dev_stats(self->fd).percent, good[i].percent);
	}
}

TEST_F(dev, percent_refuses)
{
	static const char *const bad[] = {
		"", "0", "100001", "-5", "+5", " 5", "5 ", "5\n\n", "\n", "1e3",
		"0x10", "12.5", "4294967297", "99999999999999", "five",
		"0000000000000007", "00000000000000000000000000000000000000007",
		"o", "own ", "owns",
	};

	ASSERT_TRUE(dev_percent(self->fd, "125"));
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		errno = 0;
		EXPECT_EQ(write(self->fd, bad[i], strlen(bad[i])), -1)
			TH_LOG("\"%s\" was accepted", bad[i]);
		EXPECT_EQ(errno, EINVAL);
	}
	EXPECT_EQ(write(self->fd, "1\0002", 3), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write(self->fd, bad_address, 3), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(dev_stats(self->fd).percent, 125);
}

TEST_F(dev, seek_refuses)
{
	static const struct {
		int64_t offset;
		int whence;
		int error;
	} bad[] = {
		{ 0, SEEK_END, EINVAL },
		{ 1, SEEK_END, EINVAL },
		{ 0, 5, EINVAL },
		{ 0, -1, EINVAL },
		{ 1000, SEEK_DATA, EOPNOTSUPP },
		{ -1, SEEK_HOLE, EINVAL },
		{ INT64_MIN, SEEK_HOLE, EINVAL },
		{ INT64_MAX, SEEK_HOLE, EOVERFLOW },
		{ INT64_MAX, SEEK_CUR, EOVERFLOW },
		{ INT64_MIN, SEEK_CUR, EOVERFLOW },
		{ INT64_MAX, SEEK_SET, EOVERFLOW },
		{ 0, SEEK_SET, EINVAL },
		{ -1, SEEK_SET, EINVAL },
	};
	int64_t now;

	ASSERT_GT(dev_now(self->fd), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		errno = 0;
		EXPECT_EQ(lseek(self->fd, bad[i].offset, bad[i].whence), -1);
		EXPECT_EQ(errno, bad[i].error)
			TH_LOG("offset %lld, whence %d: %s",
			       (long long)bad[i].offset, bad[i].whence,
			       strerror(errno));
	}
	/* None of them moved the clock. */
	now = dev_now(self->fd);
	EXPECT_GT(now, 0);
	EXPECT_LT(now, 60 * S);
}

TEST_F(dev, jump_charges_exactly)
{
	uint64_t before = dev_stats(self->fd).charged;
	uint64_t ran = dev_stats(self->fd).ran;
	int64_t from = dev_now(self->fd), to;

	to = lseek(self->fd, 3600 * S, SEEK_CUR);
	EXPECT_GE(to - from, 3600 * S);
	/* An hour was charged, but nobody ran for it. */
	EXPECT_GE(dev_stats(self->fd).charged - before, 3600 * S);
	EXPECT_LT(dev_stats(self->fd).ran - ran, 60 * S);

	to = lseek(self->fd, to + 10 * S, SEEK_SET);
	EXPECT_GE(to - from, 3610 * S);
}

TEST_F(dev, time_is_told_beyond_the_last)
{
	ASSERT_GE(lseek(self->fd, TENSE_TIME_MAX, SEEK_SET), TENSE_TIME_MAX);
	burn(MS);
	EXPECT_GT(dev_now(self->fd), TENSE_TIME_MAX);
	EXPECT_EQ(lseek(self->fd, 1, SEEK_CUR), -1);
	EXPECT_EQ(errno, EOVERFLOW);
	EXPECT_EQ(lseek(self->fd, 1, SEEK_HOLE), -1);
	EXPECT_EQ(errno, EOVERFLOW);
}

TEST_F(dev, credit_holds_time_still)
{
	int64_t from = dev_now(self->fd), now;

	from = lseek(self->fd, -3600 * S, SEEK_CUR);
	for (volatile int i = 0; i < 20000000; i++)
		;
	now = dev_now(self->fd);
	EXPECT_EQ(now, from);
	/* A jump is not run, so credit does not pay for it. */
	EXPECT_EQ(lseek(self->fd, S, SEEK_CUR), from + S);
}

static void spin(unsigned int thousands)
{
	for (volatile unsigned int i = 0; i < thousands * 1000; i++)
		;
}

/* Returns false if the thread was charged meanwhile. */
static bool own_work_is_free(int fd)
{
	struct tense_stats before, after;

	if (!dev_percent(fd, "own"))
		return false;
	before = dev_stats(fd);
	spin(20);
	dev_percent(fd, "100");
	spin(20);
	after = dev_stats(fd);
	return after.charged == before.charged && after.overhead > before.overhead;
}

/*
 * R13: up to the next lseek(2), neither the program nor its calls are charged. On a slow
 * machine, own work may take longer than it is free.
 */
TEST_F(dev, own_work_is_not_charged)
{
	uint64_t charged;
	int i;

	for (i = 0; i < 100 && !own_work_is_free(self->fd); i++)
		dev_now(self->fd);
	EXPECT_LT(i, 100);
	dev_now(self->fd);
	charged = dev_stats(self->fd).charged;
	spin(10000);
	EXPECT_GT(dev_stats(self->fd).charged, charged);
}

TEST_F(dev, own_work_ends_by_itself)
{
	uint64_t charged;

	ASSERT_TRUE(dev_percent(self->fd, "own"));
	charged = dev_stats(self->fd).charged;
	for (int i = 0; i < 100000 && dev_stats(self->fd).charged == charged; i++)
		spin(1000);
	EXPECT_GT(dev_stats(self->fd).charged, charged);
}

#define NAPS	21

struct naps {
	int done;
	int64_t late[NAPS];
};

/* Sleeps again and again, and tells how late it woke. */
static void sleep_in_naps(int fd, volatile struct naps *naps)
{
	while (naps->done < NAPS) {
		int64_t due = dev_now(fd) + 20 * MS;

		lseek(fd, 20 * MS, SEEK_HOLE);
		naps->late[naps->done] = dev_now(fd) - due;
		naps->done++;
	}
	_exit(0);
}

/* Returns how late a sleeper beside the caller wakes, in the median; -1 if it fails. */
static int64_t late_beside(int fd, const char *text)
{
	volatile struct naps *naps = shared(sizeof(*naps));
	int64_t late[NAPS];
	pid_t child = fork();

	if (!child)
		sleep_in_naps(fd, naps);
	for (int i = 0; i < NAPS; i++) {
		dev_percent(fd, text);
		while (naps->done == i)
			clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	if (waitpid(child, NULL, 0) != child)
		return -1;
	for (int i = 0; i < NAPS; i++)
		late[i] = naps->late[i];
	sort_i64(late, NAPS);
	return late[0] < 0 ? -1 : late[NAPS / 2];
}

/*
 * R7: a reading of the CPU clock charges the thread. So own work runs out between two ticks,
 * and the CPU has to set its timer then. At percent 1, a deadline that waits for a tick of
 * 1 ms is 50 ms later in the median than one beside a thread that is charged.
 */
TEST_F(dev, own_work_delays_no_deadline)
{
	int64_t charged, own;

	/* A CPU of an emulator takes its time to wake up from a halt. */
	ASSERT_EQ(pin(0), 0);
	ASSERT_TRUE(dev_percent(self->fd, "1"));
	charged = late_beside(self->fd, "1");
	own = late_beside(self->fd, "own");
	TH_LOG("late by %lld us in the median, beside own work %lld us",
	       (long long)(charged / 1000), (long long)(own / 1000));
	EXPECT_GE(charged, 0);
	EXPECT_GE(own, 0);
	EXPECT_LT(own, 2 * charged + 25 * MS);
}

TEST_F(dev, own_work_is_not_inherited)
{
	volatile uint64_t *charged = shared(sizeof(*charged));
	pid_t child;

	ASSERT_TRUE(dev_percent(self->fd, "own"));
	child = fork();
	if (!child) {
		uint64_t before = dev_stats(self->fd).charged;

		spin(1000);
		*charged = dev_stats(self->fd).charged - before;
		_exit(0);
	}
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	EXPECT_GT(*charged, 0);
}

/* Nobody handles the signals: the program is not to see that it was stopped. */
TEST_F(dev, stopped_sleep_goes_on)
{
	int64_t d = 3600 * S;
	int status;
	pid_t child;

	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		int64_t from = dev_now(self->fd);

		_exit(lseek(self->fd, d, SEEK_HOLE) < from + d);
	}
	usleep(50000);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(kill(child, SIGSTOP), 0);
		ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(kill(child, SIGCONT), 0);
	}
	/* It is over as soon as nobody is behind its end. */
	ASSERT_GE(lseek(self->fd, 2 * d, SEEK_CUR), 0);
	EXPECT_EQ(outcome_of(child), 0);
}

TEST_F(dev, clock_never_falls)
{
	int64_t last = 0, now;

	for (int i = 0; i < 2000; i++) {
		if (i % 100 == 0)
			dev_percent(self->fd, i % 200 ? "1000" : "10");
		if (i % 150 == 0)
			lseek(self->fd, -1000, SEEK_CUR);
		now = dev_now(self->fd);
		ASSERT_GE(now, last);
		last = now;
	}
}

TEST_F(dev, read_refuses)
{
	struct tense_stats s;

	EXPECT_EQ(read(self->fd, &s, sizeof(s) - 1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(read(self->fd, &s, 0), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(read(self->fd, bad_address, sizeof(s)), -1);
	EXPECT_EQ(errno, EFAULT);
}

TEST_F(dev, read_reports)
{
	struct {
		struct tense_stats s;
		struct tense_thread t[8];
	} r;
	pid_t child = fork();
	ssize_t n;

	ASSERT_GE(child, 0);
	if (!child) {
		burn(5 * MS);
		_exit(0);
	}
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	n = read(self->fd, &r, sizeof(r));
	ASSERT_EQ(n, (ssize_t)(sizeof(r.s) + 2 * sizeof(r.t[0])));
	EXPECT_EQ(r.s.version, TENSE_STATS_VERSION);
	EXPECT_EQ(r.s.size, sizeof(r.s));
	EXPECT_EQ(r.s.thread_size, sizeof(r.t[0]));
	EXPECT_EQ(r.s.threads, 2);
	EXPECT_EQ(r.s.tasks_total, 2);
	EXPECT_EQ(r.s.window, TENSE_WINDOW_NS);
	EXPECT_EQ(r.s.percent, 100);
	EXPECT_EQ(r.s.flags, TENSE_STATS_OWNER);
	EXPECT_EQ(r.s.charged, r.t[0].charged + r.t[1].charged);
	EXPECT_EQ(r.s.ran, r.t[0].ran + r.t[1].ran);
	EXPECT_EQ(r.s.overhead, r.t[0].overhead + r.t[1].overhead);
	EXPECT_EQ(r.t[0].pid, getpid());
	EXPECT_EQ(r.t[1].pid, child);
	EXPECT_GE(r.t[1].ran, 5 * MS);
	/* One record fits, then the header alone. */
	EXPECT_EQ(read(self->fd, &r, sizeof(r.s) + sizeof(r.t[0])),
		  (ssize_t)(sizeof(r.s) + sizeof(r.t[0])));
	EXPECT_EQ(read(self->fd, &r, sizeof(r.s)), (ssize_t)sizeof(r.s));
}

TEST_F(dev, second_handle_changes_nothing)
{
	int64_t now = lseek(self->fd, 100 * S, SEEK_CUR);
	int fd = dev_open();

	ASSERT_GE(fd, 0);
	EXPECT_GE(dev_now(fd), now);
	EXPECT_EQ(dev_stats(fd).tasks, 1);
	close(fd);
	EXPECT_GE(dev_now(self->fd), now);
}

TEST_F(dev, close_leaves)
{
	int other = dev_open(), copy = dup(self->fd);
	int64_t now;

	ASSERT_GE(other, 0);
	close(copy);
	EXPECT_EQ(dev_now(other), -1);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(write(other, "100", 3), -1);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(read(other, &(struct tense_stats){ 0 },
		       sizeof(struct tense_stats)), -1);
	EXPECT_EQ(errno, ESRCH);
	/* A new one begins at 0. */
	close(self->fd);
	self->fd = dev_open();
	now = dev_now(self->fd);
	EXPECT_GE(now, 0);
	EXPECT_LT(now, S);
}

static void *thread_closes(void *arg)
{
	close(*(int *)arg);
	return NULL;
}

/* Wherever the memory of the handle by which it joined is used again. */
TEST_F(dev, sibling_closes_the_handle)
{
	int64_t now = lseek(self->fd, 100 * S, SEEK_CUR);
	pthread_t thread;

	ASSERT_EQ(pthread_create(&thread, NULL, thread_closes, &self->fd), 0);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	for (int i = 0; i < 100; i++)
		close(dev_open());
	self->fd = dev_open();
	EXPECT_GE(dev_now(self->fd), now);
}

/* The kernel closes what the child would have got, in its parent's name. */
TEST_F(dev, failed_fork_changes_nothing)
{
	pid_t taken = getpid();
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&taken,
		.set_tid_size = 1,
	};

	ASSERT_EQ(syscall(SYS_clone3, &args, sizeof(args)), -1);
	ASSERT_EQ(errno, EEXIST);
	EXPECT_EQ(dev_stats(self->fd).tasks, 1);
	EXPECT_GE(dev_now(self->fd), 0);
}

TEST_F(dev, child_inherits)
{
	int64_t now;
	pid_t child;

	ASSERT_TRUE(dev_percent(self->fd, "1000"));
	now = lseek(self->fd, 100 * S, SEEK_CUR);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct tense_stats s = dev_stats(self->fd);

		/* Its own handle does not make it an owner. */
		close(self->fd);
		self->fd = dev_open();
		_exit(s.percent != 1000 || s.flags || s.tasks != 2 ||
		      dev_stats(self->fd).flags || dev_now(self->fd) < now);
	}
	EXPECT_EQ(outcome_of(child), 0);
}

static void *thread_joined(void *arg)
{
	struct tense_stats s = dev_stats(*(int *)arg);

	return (void *)(uintptr_t)(s.percent == 250 && s.tasks == 2 && !s.flags);
}

TEST_F(dev, thread_inherits)
{
	pthread_t thread;
	void *right;

	ASSERT_TRUE(dev_percent(self->fd, "250"));
	ASSERT_EQ(pthread_create(&thread, NULL, thread_joined, &self->fd), 0);
	ASSERT_EQ(pthread_join(thread, &right), 0);
	EXPECT_NE(right, NULL);
}

static void *thread_joins(void *arg)
{
	int *pipes = arg, fd;
	int64_t now;
	char c;

	if (read(pipes[0], &c, 1) != 1)
		return NULL;
	fd = dev_open();
	now = dev_now(fd);
	close(fd);
	return (void *)(uintptr_t)(now >= 500 * S);
}

TEST(thread_joins_its_siblings)
{
	pthread_t thread;
	int pipes[2], fd;
	void *right;

	ASSERT_EQ(pipe(pipes), 0);
	ASSERT_EQ(pthread_create(&thread, NULL, thread_joins, pipes), 0);
	fd = dev_open();
	ASSERT_GE(fd, 0);
	lseek(fd, 500 * S, SEEK_CUR);
	ASSERT_EQ(write(pipes[1], "", 1), 1);
	ASSERT_EQ(pthread_join(thread, &right), 0);
	EXPECT_NE(right, NULL);
	close(fd);
}

TEST(child_joins_its_parent)
{
	int pipes[2], fd;
	pid_t child;
	char c;

	ASSERT_EQ(pipe(pipes), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		if (read(pipes[0], &c, 1) != 1)
			_exit(2);
		fd = dev_open();
		_exit(dev_now(fd) < 500 * S || dev_stats(fd).tasks != 2);
	}
	fd = dev_open();
	ASSERT_GE(fd, 0);
	lseek(fd, 500 * S, SEEK_CUR);
	ASSERT_EQ(write(pipes[1], "", 1), 1);
	EXPECT_EQ(outcome_of(child), 0);
	close(fd);
}

TEST(handle_of_a_stranger_is_of_no_use)
{
	int pair[2], fd;
	struct iovec iov = { &(char){ 0 }, 1 };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	pid_t child;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		fd = dev_open();
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		_exit(sendmsg(pair[1], &msg, 0) != 1);
	}
	ASSERT_EQ(outcome_of(child), 0);
	ASSERT_EQ(recvmsg(pair[0], &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	EXPECT_EQ(dev_now(fd), -1);
	EXPECT_EQ(errno, ESRCH);
	close(fd);
}

TEST(only_the_fair_class_can_be_scaled)
{
	struct sched_param param = { .sched_priority = 1 };
	int fd;

	ASSERT_EQ(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	errno = 0;
	EXPECT_EQ(dev_open(), -1);
	EXPECT_EQ(errno, ENODEV);
	param.sched_priority = 0;
	ASSERT_EQ(sched_setscheduler(0, SCHED_OTHER, &param), 0);
	fd = dev_open();
	EXPECT_GE(fd, 0);
	close(fd);
}

/* Runs /proc/self/exe again as "member FD"; true if that is one. */
static bool member_after_exec(int flags)
{
	pid_t child = fork();

	if (!child) {
		int fd = open(TENSE_DEVICE, O_RDWR | flags);
		int other = open(TENSE_DEVICE, O_RDWR);
		char text[16];

		if (fd < 0 || other < 0)
			_exit(2);
		snprintf(text, sizeof(text), "%d", other);
		execl("/proc/self/exe", "guest-abi", "member", text, NULL);
		_exit(2);
	}
	return outcome_of(child) == 0;
}

TEST(exec_keeps_or_leaves)
{
	EXPECT_TRUE(member_after_exec(0));
	EXPECT_FALSE(member_after_exec(O_CLOEXEC));
}

TEST(module_in_use_stays)
{
	int fd = dev_open();

	ASSERT_GE(fd, 0);
	EXPECT_EQ(unload_module(), -EAGAIN);
	close(fd);
}

TEST(window_has_bounds)
{
	static const char *const windows[] = {
		"window=0", "window=19999", "window=100000001",
	};
	const char *options = getenv("TENSE_KO_OPTIONS");
	char *good = strdup(options ? options : "");

	ASSERT_EQ(unload_module_soon(), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(windows); i++) {
		setenv("TENSE_KO_OPTIONS", windows[i], 1);
		EXPECT_EQ(load_module(), -EINVAL);
	}
	setenv("TENSE_KO_OPTIONS", good, 1);
	EXPECT_EQ(load_module(), 0);
	free(good);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "member"))
		return dev_now(atoi(argv[2])) < 0;
	return run_with_module(argc, argv, test_harness_run);
}
