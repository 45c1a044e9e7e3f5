// SPDX-License-Identifier: GPL-2.0
/*
 * Things that go wrong only when two tasks do them at the same time. Threads join
 * together, threads of one CPU jump past each other, and an experiment ends while a
 * process outside looks at its timers. On two CPUs; the debug kernel, which preempts
 * tasks in system calls, finds most.
 *
 *	guest-races [SCALE]	so many times as many rounds, by default 1
 */
#include "smp.h"

#include <pthread.h>
#include <sys/timerfd.h>

#include "harness.h"

static int scale = 1;

static int64_t raise_to(volatile int64_t *most, int64_t value)
{
	int64_t old = *most;

	while (old < value && !__atomic_compare_exchange_n(most, &old, value,
			false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}

/* --- threads of a process that join at the same time --- */

#define SIBLINGS 3
#define JOINS 300

struct siblings {
	volatile unsigned int arrived;
	volatile int apart, failed;
};

/* Busy-waits, so that all threads continue at once. */
static void await_siblings(struct siblings *s)
{
	unsigned int round = __atomic_fetch_add(&s->arrived, 1, __ATOMIC_SEQ_CST) /
			     SIBLINGS;

	while (s->arrived < (round + 1) * SIBLINGS)
		sched_yield();
}

static void *join_together(void *arg)
{
	static volatile int last_nth;
	int nth = __atomic_fetch_add(&last_nth, 1, __ATOMIC_SEQ_CST), fd;
	struct siblings *s = arg;

	pin(nth % cpus_online());
	for (int i = 0; i < JOINS * scale; i++) {
		await_siblings(s);
		fd = dev_open();
		await_siblings(s);
		if (fd < 0)
			s->failed++;
		else if (dev_stats(fd).tasks != SIBLINGS)
			s->apart++;
		await_siblings(s);
		close(fd);
	}
	return NULL;
}

TEST(siblings_join_one_experiment)
{
	struct siblings *s = shared(sizeof(*s));
	pthread_t thread[SIBLINGS];

	for (int i = 0; i < SIBLINGS; i++)
		ASSERT_EQ(pthread_create(&thread[i], NULL, join_together, s), 0);
	for (int i = 0; i < SIBLINGS; i++)
		pthread_join(thread[i], NULL);
	EXPECT_EQ(s->failed, 0);
	EXPECT_EQ(s->apart, 0) TH_LOG("of %d", JOINS * scale * SIBLINGS);
}

/* --- interrupts of a CPU on which nothing of an experiment ever was --- */

#define ENDS 100
/* Allows for the kernel's own calls; a defect caused two per experiment. */
#define CALLS_MAX (ENDS / 2)

/* Function calls that other CPUs asked this one for. */
static long calls_of(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512], *at = NULL;
	long calls = -1;

	while (f && fgets(line, sizeof(line), f))
		if ((at = strstr(line, "CAL:")))
			break;
	for (int i = 0; at && i <= cpu; i++)
		calls = strtol(i ? at : at + 4, &at, 10);
	if (f)
		fclose(f);
	return calls;
}

static void be_busy(int cpu)
{
	pin(cpu);
	for (;;)
		;
}

TEST(ends_of_experiments_leave_other_cpus_alone)
{
	long before, calls;
	pid_t busy;

	pin(0);
	busy = fork_child();
	if (!busy)
		be_busy(1);
	usleep(100000);
	before = calls_of(1);
	ASSERT_GE(before, 0);
	for (int i = 0; i < ENDS; i++) {
		int fd = dev_open();

		ASSERT_GE(fd, 0);
		dev_now(fd);
		close(fd);
	}
	calls = calls_of(1) - before;
	kill(busy, SIGKILL);
	outcome_of(busy);
	EXPECT_LT(calls, CALLS_MAX) TH_LOG("%d experiments", ENDS);
}

/* --- threads that jump past each other --- */

#define JUMPERS 3
#define PASSES 4000

struct jumpers {
	volatile int64_t most;		/* the latest time that any of them saw */
	volatile int early, left;
	volatile int64_t by;		/* the worst */
	int fd;
};

/* Jumps a little further than any thread is, by SEEK_SET or SEEK_CUR. */
static int64_t jump(struct jumpers *j, unsigned int *seed, int64_t from)
{
	if (rand_r(seed) % 4)
		return lseek(j->fd, from + rand_r(seed) % 20000, SEEK_SET);
	return lseek(j->fd, MS + rand_r(seed) % MS, SEEK_CUR);
}

static void *pass(void *arg)
{
	struct jumpers *j = arg;
	unsigned int seed = gettid();
	int64_t from, now;

	for (int i = 0; i < PASSES * scale; i++) {
		from = j->most;
		now = jump(j, &seed, from);
		/* Another thread was there first. */
		if (now < 0)
			now = dev_now(j->fd);
		if (now < from) {
			j->early++;
			raise_to(&j->by, from - now);
		}
		raise_to(&j->most, now);
	}
	__atomic_fetch_sub(&j->left, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Preempts the other threads at random instants. */
static void preempt(int cpu)
{
	struct sched_param first = { .sched_priority = 1 };
	unsigned int seed = 1;

	pin(cpu);
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (;;) {
		struct timespec t = { .tv_nsec = 20000 + rand_r(&seed) % 200000 };

		nanosleep(&t, NULL);
		/* Run until the preempted thread loses its turn. */
		for (volatile int i = rand_r(&seed) % 2000; i > 0; i--)
			;
	}
}

static int pass_each_other(struct jumpers *j)
{
	struct tense_stats before, after;
	pthread_t thread[JUMPERS];

	pin(1);
	j->fd = dev_open();
	if (j->fd < 0)
		return 90;
	j->left = JUMPERS;
	before = dev_stats(j->fd);
	for (int i = 0; i < JUMPERS; i++)
		if (pthread_create(&thread[i], NULL, pass, j))
			return 91;
	for (int i = 0; i < JUMPERS; i++)
		pthread_join(thread[i], NULL);
	after = dev_stats(j->fd);
	/* A jump back is a charge of nearly 2^64. */
	return after.charged < before.charged || after.charged > INT64_MAX;
}

TEST(jumps_on_one_cpu_only_go_ahead)
{
	struct jumpers *j = shared(sizeof(*j));
	pid_t first, pid;

	pin(0);
	first = fork_child();
	if (!first)
		preempt(1);
	pid = fork_child();
	if (!pid)
		_exit(pass_each_other(j));
	EXPECT_EQ(outcome_of(pid), 0);
	kill(first, SIGKILL);
	outcome_of(first);
	EXPECT_EQ(j->early, 0) TH_LOG("of %d, up to %lld ns",
				      JUMPERS * PASSES * scale, (long long)j->by);
}

/* --- timers of an experiment that ends, in the hands of a process outside --- */

#define TIMERS 24
#define EXPERIMENTS 150

struct passed {
	int fd[TIMERS];
	volatile unsigned int ended, wrong;
	volatile int over;
};

static const clockid_t timerfd_clocks[] = {
	CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME,
};

/* The experiment's end hands over the last timer last. */
static void arm(const struct passed *p)
{
	for (int i = 0; i < TIMERS; i++) {
		struct itimerspec timer = { .it_value.tv_sec = 1000 + i };

		timerfd_settime(p->fd[i], 0, &timer, NULL);
	}
}

static void end_experiments(struct passed *p)
{
	pin(1);
	for (int i = 0; i < EXPERIMENTS * scale; i++) {
		int fd = dev_open();

		arm(p);
		if (lseek(fd, S, SEEK_CUR) < 0)
			p->wrong++;
		close(fd);
		__atomic_fetch_add(&p->ended, 1, __ATOMIC_SEQ_CST);
	}
	p->over = 1;
	_exit(0);
}

/* The time left is never longer than the armed time. */
static void look_at_timers(struct passed *p)
{
	unsigned int seed = 1;

	pin(0);
	while (!p->over) {
		int i = rand_r(&seed) % 4 ? TIMERS - 1 : rand_r(&seed) % TIMERS;
		struct itimerspec left;

		if (timerfd_gettime(p->fd[i], &left) ||
		    left.it_value.tv_sec > 1000 + i)
			p->wrong++;
		if (rand_r(&seed) % 64 == 0) {
			left = (struct itimerspec) { .it_value.tv_sec = 1000 };
			timerfd_settime(p->fd[rand_r(&seed) % (TIMERS - 1)], 0,
					&left, NULL);
		}
	}
	_exit(0);
}

/*
 * Preempts a process that reads the timers, until one more experiment has ended.
 */
static void delay(struct passed *p)
{
	struct sched_param first = { .sched_priority = 1 };
	unsigned int seed = 7;

	pin(0);
	sched_setscheduler(0, SCHED_FIFO, &first);
	while (!p->over) {
		struct timespec t = { .tv_nsec = 50000 + rand_r(&seed) % 500000 };
		unsigned int ended;

		nanosleep(&t, NULL);
		ended = p->ended;
		while (p->ended == ended && !p->over)
			;
	}
	_exit(0);
}

TEST(timers_outlast_their_experiment)
{
	struct passed *p = shared(sizeof(*p));
	pid_t looks, delays, ends;

	for (int i = 0; i < TIMERS; i++) {
		p->fd[i] = timerfd_create(timerfd_clocks[i * 3 / TIMERS], 0);
		ASSERT_GE(p->fd[i], 0);
	}
	looks = fork_child();
	if (!looks)
		look_at_timers(p);
	delays = fork_child();
	if (!delays)
		delay(p);
	ends = fork_child();
	if (!ends)
		end_experiments(p);
	EXPECT_EQ(outcome_of(ends), 0);
	EXPECT_EQ(outcome_of(looks), 0);
	EXPECT_EQ(outcome_of(delays), 0);
	EXPECT_EQ(p->wrong, 0) TH_LOG("beside %u experiments", p->ended);
}

static int run(int argc, char **argv)
{
	if (cpus_online() < 2) {
		puts("1..0 # SKIP one CPU");
		return 0;
	}
	if (argc > 1 && atoi(argv[1]) > 0)
		scale = atoi(argv[1]);
	return test_harness_run(1, argv);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, run);
}
