// SPDX-License-Identifier: GPL-2.0
/* The rules of virtual time, asserted on a running kernel. */
#include "smp.h"

#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "harness.h"
#include "watch.h"

FIXTURE(exp)
{
	int fd;
};

FIXTURE_SETUP(exp)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
	/* Let the cost of a call become known. */
	for (int i = 0; i < 200; i++)
		dev_now(self->fd);
}

FIXTURE_TEARDOWN(exp)
{
	close(self->fd);
}

/* Returns the time that was charged and the time run since *from. */
static void since(int fd, const struct tense_stats *from, int64_t *charged,
		  int64_t *ran)
{
	struct tense_stats now = dev_stats(fd);

	*charged = now.charged - from->charged;
	*ran = now.ran - from->ran;
}

TEST_F(exp, R1_charge_follows_percent)
{
	static const struct {
		const char *text;
		int percent;
	} speeds[] = {
		{ "100", 100 }, { "200", 200 }, { "50", 50 }, { "125", 125 },
		{ "99999", 99999 }, { "3", 3 },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(speeds); i++) {
		struct tense_stats from;
		int64_t charged, ran, expected, slack;

		/* Use up the refunds of calls at the percent before. */
		dev_percent(self->fd, "100");
		burn(MS);
		ASSERT_TRUE(dev_percent(self->fd, speeds[i].text));
		from = dev_stats(self->fd);
		/* Some 30 ms of real time, and of virtual time at least 1 us. */
		burn(30 * MS * 100 / speeds[i].percent);
		since(self->fd, &from, &charged, &ran);
		expected = ran * 100 / speeds[i].percent;
		/* Half a call is given back at 100 percent. */
		slack = expected / 100 + from.call;
		EXPECT_GE(ran, 29 * MS);
		EXPECT_GE(charged, expected - slack);
		EXPECT_LE(charged, expected + slack);
	}
}

struct clocks {
	int64_t virt, cpu;
};

/*
 * Reads both clocks. Takes the closest of three pairs, because the host may stop the guest
 * between two readings. More tries would be calls that cost CPU time and no virtual time.
 */
static struct clocks both_clocks(int fd)
{
	struct clocks best = { 0 };
	int64_t least = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		int64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		int64_t virt = dev_now(fd);
		int64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;

		if (took < least) {
			least = took;
			best = (struct clocks) { virt, from + took / 2 };
		}
	}
	return best;
}

TEST_F(exp, R1_real_speed_is_the_task_clock)
{
	struct clocks from = both_clocks(self->fd), to;
	int64_t virt, cpu;

	burn(500 * MS);
	to = both_clocks(self->fd);
	virt = to.virt - from.virt;
	cpu = to.cpu - from.cpu;
	EXPECT_GE(virt, cpu - cpu / 1000);
	EXPECT_LE(virt, cpu + cpu / 1000);
}

TEST_F(exp, R1_others_cost_nothing)
{
	volatile int *stop = shared(4096);
	pid_t other = fork();
	int64_t cpu, virt, real;
	double rate;

	/* A process of an experiment of its own competes for the CPU. */
	ASSERT_GE(other, 0);
	if (!other) {
		close(self->fd);
		spin_until(stop);
		_exit(0);
	}
	ASSERT_EQ(close(self->fd), 0);
	rate = tsc_per_ns();
	self->fd = dev_open();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	real = tsc();
	virt = dev_now(self->fd);
	burn(100 * MS);
	virt = dev_now(self->fd) - virt;
	real = (tsc() - real) / rate;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	*stop = 1;
	waitpid(other, NULL, 0);
	/* It really took longer, but was not charged for that. */
	EXPECT_GE(real, virt + virt / 2);
	EXPECT_LE(virt, cpu + cpu / 100);
}

TEST_F(exp, R2_percent_holds_from_the_call)
{
	struct tense_stats from, to;
	int64_t slow, fast, expected;

	ASSERT_TRUE(dev_percent(self->fd, "50"));
	from = dev_stats(self->fd);
	burn(100 * MS);
	ASSERT_TRUE(dev_percent(self->fd, "1000"));
	to = dev_stats(self->fd);
	slow = to.ran - from.ran;
	expected = 2 * slow;
	EXPECT_GE((int64_t)(to.charged - from.charged),
		  expected - expected / 100);
	from = to;
	burn(100 * MS);
	to = dev_stats(self->fd);
	fast = to.ran - from.ran;
	expected = fast / 10;
	EXPECT_LE((int64_t)(to.charged - from.charged),
		  expected + expected / 100);
}

/* R4: ready times and join, as seen through a wake-up. */
TEST_F(exp, R3_woken_no_earlier_than_its_waker)
{
	int64_t *woke = shared(4096), told;
	int pipes[2];
	pid_t child;
	char c;

	ASSERT_EQ(pipe(pipes), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		if (read(pipes[0], &c, 1) == 1)
			*woke = dev_now(self->fd);
		_exit(0);
	}
	burn(5 * MS);
	told = lseek(self->fd, 10 * S, SEEK_CUR);
	ASSERT_EQ(write(pipes[1], "", 1), 1);
	waitpid(child, NULL, 0);
	EXPECT_GE(*woke, told);
	EXPECT_GE(dev_now(self->fd), *woke);
}

/*
 * A process outside wakes us after a real time. A neighbour is imagined so fast that
 * GVT falls behind, so the wait lasts until virtual time has advanced as far.
 */
TEST(R3_outside_takes_its_real_time)
{
	volatile int *stop = shared(4096);
	int fd, there[2], back[2];
	pid_t outside, neighbour;
	int64_t from, waited;
	char c;

	ASSERT_EQ(pipe(there), 0);
	ASSERT_EQ(pipe(back), 0);
	outside = fork();
	ASSERT_GE(outside, 0);
	if (!outside) {
		struct timespec t = { .tv_nsec = 40 * MS };

		if (read(there[0], &c, 1) != 1)
			_exit(1);
		nanosleep(&t, NULL);
		_exit(write(back[1], "", 1) != 1);
	}
	fd = dev_open();
	ASSERT_GE(fd, 0);
	neighbour = fork();
	if (!neighbour) {
		dev_percent(fd, "400");
		spin_until(stop);
		_exit(0);
	}
	from = dev_now(fd);
	ASSERT_EQ(write(there[1], "", 1), 1);
	ASSERT_EQ(read(back[0], &c, 1), 1);
	waited = dev_now(fd) - from;
	*stop = 1;
	waitpid(neighbour, NULL, 0);
	waitpid(outside, NULL, 0);
	/* Only what ran between the clock and the wait may be missing. */
	EXPECT_GE(waited, 40 * MS - 4 * MS);
	close(fd);
}

TEST_F(exp, R5_idle_follows_real_time)
{
	struct timespec t = { .tv_nsec = 30 * MS };
	int64_t real, virt;
	double rate;

	close(self->fd);
	rate = tsc_per_ns();
	self->fd = dev_open();
	real = tsc();
	virt = dev_now(self->fd);
	nanosleep(&t, NULL);
	virt = dev_now(self->fd) - virt;
	real = (tsc() - real) / rate;
	EXPECT_GE(virt, 30 * MS);
	/* Its own work was charged, and no more than it really took. */
	EXPECT_LE(virt, real + real / 1000);
}

#define LONG_SLEEP_S 1000

/* Signals do not interrupt the parent's wait, but only its child ends it. */
TEST_F(exp, R5_skips_the_sleep_of_a_vfork_child)
{
	static const struct timespec sleep = { .tv_sec = LONG_SLEEP_S };
	struct tense_stats before, after;
	int status;
	pid_t pid;

	ASSERT_TRUE(dev_percent(self->fd, "idle skip"));
	before = dev_stats(self->fd);
	pid = vfork();
	if (!pid) {
		nanosleep(&sleep, NULL);
		_exit(0);
	}
	ASSERT_GT(pid, 0);
	after = dev_stats(self->fd);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_GE(after.gvt - before.gvt, LONG_SLEEP_S * S);
	EXPECT_LT(after.elapsed - before.elapsed, LONG_SLEEP_S * S / 2);
}

/* Only the outside can let it continue, although it stopped in vfork(). */
TEST(R5_skips_no_time_past_a_stopped_task)
{
	static const struct timespec sleep = { .tv_sec = LONG_SLEEP_S };
	struct {
		volatile pid_t stopped;
		volatile bool continued;
	} *s = shared(sizeof(*s));
	pid_t outside = fork(), parent, child;
	int fd;

	if (!outside) {
		while (!s->stopped || state_of(s->stopped) != 'T')
			usleep(1000);
		usleep(300000);
		s->continued = true;
		kill(s->stopped, SIGCONT);
		_exit(0);
	}
	fd = dev_open();
	ASSERT_TRUE(dev_percent(fd, "idle skip"));
	parent = fork();
	if (!parent) {
		s->stopped = getpid();
		child = vfork();
		if (!child) {
			kill(getppid(), SIGSTOP);
			_exit(0);
		}
		_exit(waitpid(child, NULL, 0) != child);
	}
	while (state_of(parent) != 'T')
		;
	nanosleep(&sleep, NULL);
	EXPECT_TRUE(s->continued);
	EXPECT_EQ(waitpid(parent, NULL, 0), parent);
	EXPECT_EQ(waitpid(outside, NULL, 0), outside);
	close(fd);
}

TEST_F(exp, R5_gvt_never_falls)
{
	volatile int *stop = shared(4096);
	uint64_t last = 0;
	pid_t child = fork();

	ASSERT_GE(child, 0);
	if (!child) {
		while (!*stop) {
			dev_percent(self->fd, "10");
			lseek(self->fd, 100, SEEK_HOLE);
			dev_percent(self->fd, "1000");
			sched_yield();
		}
		_exit(0);
	}
	for (int i = 0; i < 500; i++) {
		struct tense_stats s = dev_stats(self->fd);

		ASSERT_GE(s.gvt, last);
		ASSERT_GE(s.lvt + s.window, s.gvt);
		last = s.gvt;
		if (i % 3 == 0)
			lseek(self->fd, 10000, SEEK_HOLE);
	}
	*stop = 1;
	waitpid(child, NULL, 0);
}

TEST_F(exp, R7_sleep_is_never_early)
{
	static const int64_t times[] = { 1, 1000, 50000, MS, 20 * MS };

	for (size_t i = 0; i < ARRAY_LENGTH(times); i++) {
		int64_t from = dev_now(self->fd);
		int64_t to = lseek(self->fd, times[i], SEEK_HOLE);

		EXPECT_GE(to, from + times[i]);
	}
}

/* The neighbours' speed decides when the virtual time is reached. */
TEST_F(exp, R7_sleep_beside_neighbours)
{
	static const char *const speeds[] = { "50", "100", "400", "20000" };

	for (size_t i = 0; i < ARRAY_LENGTH(speeds); i++) {
		struct {
			volatile int ready, stop;
		} *flags = shared(4096);
		struct tense_stats from, to;
		int64_t start, end;
		pid_t child = fork();

		ASSERT_GE(child, 0);
		if (!child) {
			dev_percent(self->fd, speeds[i]);
			flags->ready = 1;
			spin_until(&flags->stop);
			_exit(0);
		}
		while (!flags->ready)
			lseek(self->fd, 100000, SEEK_HOLE);
		from = dev_stats(self->fd);
		start = dev_now(self->fd);
		end = lseek(self->fd, 5 * MS, SEEK_HOLE);
		to = dev_stats(self->fd);
		flags->stop = 1;
		waitpid(child, NULL, 0);
		EXPECT_GE(end, start + 5 * MS);
		/* Virtual time passed because the neighbour was charged. */
		EXPECT_GE(to.charged - from.charged, 5 * MS - 100000);
		EXPECT_GE(to.ran - from.ran,
			  5 * MS * strtoul(speeds[i], NULL, 10) / 100 -
			  5 * MS / 10);
	}
}

static void on_alarm(int sig)
{
	(void)sig;
}

TEST_F(exp, R7_signal_ends_a_sleep)
{
	struct sigaction action = { .sa_handler = on_alarm };
	int64_t from, now;
	pid_t child, self_pid = getpid();

	ASSERT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		lseek(self->fd, 5 * MS, SEEK_HOLE);
		kill(self_pid, SIGUSR1);
		_exit(0);
	}
	from = dev_now(self->fd);
	errno = 0;
	EXPECT_EQ(lseek(self->fd, 3600 * S, SEEK_HOLE), -1);
	EXPECT_EQ(errno, EINTR);
	now = dev_now(self->fd);
	EXPECT_GE(now, from + 4 * MS);
	EXPECT_LT(now, from + 3600 * S);
	waitpid(child, NULL, 0);
	/* The deadline went with it: the next sleep is a sleep of its own. */
	from = dev_now(self->fd);
	EXPECT_GE(lseek(self->fd, 2 * MS, SEEK_HOLE), from + 2 * MS);
	EXPECT_EQ(dev_stats(self->fd).tasks, 1);
}

TEST_F(exp, R7_many_sleepers_are_never_early)
{
	enum { SLEEPERS = 50 };
	struct {
		volatile int64_t start;
		int woken, early;
	} *all = shared(4096);
	uint64_t fired = dev_stats(self->fd).deadlines;

	for (int i = 0; i < SLEEPERS; i++) {
		pid_t child = fork();

		ASSERT_GE(child, 0);
		if (!child) {
			int64_t until;

			while (!all->start)
				lseek(self->fd, 10 * MS, SEEK_HOLE);
			until = all->start + i * 7 % SLEEPERS * 2 * MS;
			if (lseek(self->fd, until - dev_now(self->fd),
				  SEEK_HOLE) < until)
				__atomic_fetch_add(&all->early, 1,
						   __ATOMIC_SEQ_CST);
			__atomic_fetch_add(&all->woken, 1, __ATOMIC_SEQ_CST);
			_exit(0);
		}
	}
	all->start = dev_now(self->fd) + S;
	while (wait(NULL) > 0)
		;
	EXPECT_EQ(all->woken, SLEEPERS);
	EXPECT_EQ(all->early, 0);
	EXPECT_GE(dev_stats(self->fd).deadlines, fired + SLEEPERS);
}

/* R8: shares of the CPU, and of nothing else, follow the percents. */
TEST_F(exp, R8_shares_follow_percent)
{
	static const char *const speeds[] = { "100", "200", "400" };
	struct {
		volatile int start, stop;
	} *flags = shared(4096);
	struct {
		struct tense_stats s;
		struct tense_thread t[8];
	} r;
	pid_t child[3];

	for (int i = 0; i < 3; i++) {
		child[i] = fork();
		ASSERT_GE(child[i], 0);
		if (!child[i]) {
			dev_percent(self->fd, speeds[i]);
			while (!flags->start)
				lseek(self->fd, 100000, SEEK_HOLE);
			spin_until(&flags->stop);
			_exit(0);
		}
	}
	flags->start = 1;
	lseek(self->fd, S, SEEK_HOLE);
	ASSERT_GT(read(self->fd, &r, sizeof(r)), 0);
	flags->stop = 1;
	while (wait(NULL) > 0)
		;
	ASSERT_EQ(r.s.threads, 4);
	for (int i = 0; i < 3; i++) {
		int64_t third = r.s.charged / 3;

		/* Each got its third of virtual time, within 5 slices. */
		EXPECT_EQ(r.t[i + 1].pid, child[i]);
		EXPECT_GE((int64_t)r.t[i + 1].charged, third - 30 * MS);
		EXPECT_LE((int64_t)r.t[i + 1].charged, third + 30 * MS);
	}
}

TEST_F(exp, R9_thread_never_sees_time_fall)
{
	volatile int *stop = shared(4096);
	int64_t last = 0;

	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			dev_percent(self->fd, i ? "1000" : "10");
			spin_until(stop);
			_exit(0);
		}
	}
	for (int i = 0; i < 300; i++) {
		int64_t now = dev_now(self->fd);

		ASSERT_GE(now, last);
		last = now;
		if (i % 10 == 0)
			sched_yield();
	}
	*stop = 1;
	while (wait(NULL) > 0)
		;
}

TEST(experiments_do_not_affect_each_other)
{
	int64_t *clock = shared(4096);

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		ASSERT_GE(child, 0);
		if (!child) {
			int fd = dev_open();

			if (i)
				lseek(fd, 1000 * S, SEEK_CUR);
			dev_percent(fd, i ? "1" : "100000");
			burn(i ? 5 * S : 50000);
			clock[i] = dev_now(fd);
			_exit(dev_stats(fd).tasks_total != 1);
		}
	}
	for (int i = 0, status; i < 2; i++) {
		wait(&status);
		EXPECT_EQ(status, 0);
	}
	EXPECT_LT(clock[0], 100 * MS);
	EXPECT_GE(clock[1], 1004 * S);
	EXPECT_LT(clock[1], 1100 * S);
}

/* kill -9 comes at any moment of a call or between two. */
TEST(R11_killed_at_any_point_leaves_nothing)
{
	for (unsigned int i = 0; i < 300; i++) {
		struct timespec t = { .tv_nsec = (i * 7919 % 64) * 20000 };
		pid_t child = fork();

		ASSERT_GE(child, 0);
		if (!child) {
			int fd = dev_open();

			setpgid(0, 0);
			if (i % 3 == 0)
				fork();
			for (int n = 0;; n++) {
				dev_percent(fd, n & 1 ? "50" : "300");
				lseek(fd, n % 5 * 30000, SEEK_HOLE);
				lseek(fd, n % 7 * 1000, SEEK_CUR);
				dev_stats(fd);
				if (i % 7 == 0) {
					close(fd);
					fd = dev_open();
				}
			}
		}
		/* The child's own children are in the same group. */
		setpgid(child, child);
		nanosleep(&t, NULL);
		ASSERT_EQ(kill(-child, SIGKILL), 0);
		waitpid(child, NULL, 0);
	}
}

TEST(R11_a_thousand_tasks)
{
	enum { TASKS = 1000 };
	volatile int *stop = shared(4096);
	int fd = dev_open();
	pid_t group;

	ASSERT_GE(fd, 0);
	group = fork();
	ASSERT_GE(group, 0);
	if (!group) {
		setpgid(0, 0);
		for (int i = 0; i < TASKS; i++) {
			pid_t child = fork();

			if (child < 0)
				_exit(1);
			if (!child) {
				lseek(fd, 3600 * S, SEEK_HOLE);
				_exit(0);
			}
		}
		*stop = 1;
		lseek(fd, 3600 * S, SEEK_HOLE);
		_exit(0);
	}
	while (!*stop)
		usleep(1000);
	EXPECT_EQ(dev_stats(fd).tasks, TASKS + 2);
	kill(-group, SIGKILL);
	waitpid(group, NULL, 0);
	for (int i = 0; i < 10000 && dev_stats(fd).tasks > 1; i++)
		usleep(1000);
	EXPECT_EQ(dev_stats(fd).tasks, 1);
	EXPECT_EQ(dev_stats(fd).tasks_total, TASKS + 2);
	close(fd);
}

/*
 * The module refunds the learnt cost of each call, or nearly all that the task
 * ran: on a machine that got faster, calls cost less than the module learnt.
 */
static bool were_free(unsigned int calls, const struct tense_stats *from,
		      const struct tense_stats *to)
{
	uint64_t overhead = to->overhead - from->overhead;
	uint64_t ran = to->charged - from->charged + overhead;
	uint64_t call = from->call < to->call ? from->call : to->call;

	return call && (overhead >= calls * call || overhead >= ran * 0.98);
}

/*
 * In ns, by the clock that charges go by, which stamps the kernel's log. Other
 * clocks of a guest count less where two processes of its kernel run at once.
 */
static double charging_now(void)
{
	static const char message[] = "<7>what is the time?\n";
	int kmsg = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	char record[RECORD_MAX];
	double us = NAN;

	if (kmsg < 0)
		return NAN;
	if (lseek(kmsg, 0, SEEK_END) >= 0 && write(kmsg, message, strlen(message)) > 0 &&
	    log_read(kmsg, record) > 0 && sscanf(record, "%*u,%*u,%lf", &us) != 1)
		us = NAN;
	close(kmsg);
	return us * 1000;
}

TEST_F(exp, R13_calls_are_free)
{
	enum { ROUNDS = 20, CALLS = 100 };
	struct tense_stats from, before, to;
	int64_t cpu, spent, charged, overhead, pending;
	int free_rounds = 0;

	close(self->fd);
	self->fd = dev_open();
	for (int i = 0; i < 200; i++)
		dev_now(self->fd);
	/* The first call takes page faults, which the program pays for: before the test. */
	clock_ns(CLOCK_THREAD_CPUTIME_ID);
	spent = charging_now();
	ASSERT_GT(spent, 0);
	from = dev_stats(self->fd);
	to = from;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int round = 0; round < ROUNDS; round++) {
		before = to;
		for (int i = 0; i < CALLS; i++)
			dev_percent(self->fd, "100");
		to = dev_stats(self->fd);
		free_rounds += were_free(CALLS, &before, &to);
	}
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	spent = charging_now() - spent;
	EXPECT_GT(to.call, 0);
	/*
	 * Time that the host takes from the guest counts as work in some
	 * rounds.
	 */
	EXPECT_GE(free_rounds, ROUNDS / 2);
	charged = to.charged - from.charged;
	overhead = to.overhead - from.overhead;
	/* The thread's time was charged or given back, and not both. */
	pending = 8 * to.call + spent / 100;
	EXPECT_LE(charged + overhead, spent + pending);
	/* Its CPU time is what was charged. */
	EXPECT_GE(cpu, charged - pending);
	EXPECT_LE(cpu, charged + pending);
}

/* However short the intervals are, what happens there is the program's work. */
TEST_F(exp, R13_calls_at_intervals_tell_no_cost)
{
	struct tense_stats s;

	close(self->fd);
	self->fd = dev_open();
	for (int i = 0; i < 200; i++) {
		for (volatile int work = 0; work < 10000; work++)
			;
		dev_percent(self->fd, "100");
	}
	s = dev_stats(self->fd);
	EXPECT_EQ(s.call, 0);
}

/* However much too high the cost of a call is taken to be. */
TEST_F(exp, R13_who_asks_again_and_again_sees_time_pass)
{
	uint64_t began, asked;
	struct tense_stats s;
	double rate;

	close(self->fd);
	rate = tsc_per_ns();
	self->fd = dev_open();
	/* This work is taken for a part of the calls. */
	for (int i = 0; i < 200; i++) {
		for (volatile int work = 0; work < 10000; work++)
			;
		dev_now(self->fd);
	}
	s = dev_stats(self->fd);
	EXPECT_GT(s.call, 0);
	began = s.lvt;
	asked = tsc();
	while (tsc() - asked < 500 * MS * rate)
		s = dev_stats(self->fd);
	TH_LOG("%lld ns passed in 500 ms", (long long)(s.lvt - began));
	EXPECT_GT((int64_t)(s.lvt - began), MS / 2);
}

/* --- wake-ups by soft interrupts --- */

/* Fills the listener's queue: the kernel drops further connection requests. */
static bool fill_listener(struct sockaddr_in *a)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*a);

	*a = (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	if (ioctl(listener, SIOCSIFFLAGS, &lo) ||
	    bind(listener, (struct sockaddr *)a, size) || listen(listener, 0) ||
	    getsockname(listener, (struct sockaddr *)a, &size))
		return false;
	return !connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)a,
			size);
}

/*
 * R3: the timer of a connection, a soft interrupt, ends the wait. It does not count
 * as work of the running task, however fast that task's virtual time passes.
 */
TEST_F(exp, R3_soft_interrupts_wake_from_outside)
{
	volatile int *over = shared(sizeof(*over));
	int s = socket(AF_INET, SOCK_STREAM, 0), once = 1;
	int64_t began, waited;
	struct sockaddr_in a;
	pid_t child;

	ASSERT_TRUE(fill_listener(&a)) TH_LOG("%s", strerror(errno));
	ASSERT_EQ(setsockopt(s, IPPROTO_TCP, TCP_SYNCNT, &once, sizeof(once)), 0);
	ASSERT_TRUE(dev_percent(self->fd, "400"));
	child = fork();
	if (!child) {
		spin_until(over);
		_exit(0);
	}
	began = dev_now(self->fd);
	/* The kernel asks again after a second, and gives up two later. */
	EXPECT_EQ(connect(s, (struct sockaddr *)&a, sizeof(a)), -1);
	EXPECT_EQ(errno, ETIMEDOUT);
	waited = dev_now(self->fd) - began;
	*over = 1;
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	TH_LOG("waited for %lld ms of virtual time", (long long)(waited / MS));
	EXPECT_GE(waited, 2900 * MS);
	close(s);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
