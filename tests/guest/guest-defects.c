// SPDX-License-Identifier: GPL-2.0
/*
 * Each test is bad input that once did harm: to the caller's own clock, to what
 * a user may have, or to the CPU time of others. Input that hangs or kills the
 * kernel is in test-brink.
 */
#include "smp.h"

#include <poll.h>
#include <sys/stat.h>

#include "harness.h"

#define END ((int64_t)TENSE_TIME_MAX)

/* Jumps to 1 ms before it. Retries: the thread may run past it between the calls. */
static bool jump_to_the_end(int fd)
{
	for (int i = 0; i < 100; i++)
		if (lseek(fd, END - dev_now(fd) - MS, SEEK_CUR) >= 0)
			return true;
	return false;
}
#define ALICE 1000
#define AREAS_MAX "/sys/module/tense/parameters/areas_max"

static struct tense_ring *ring_map(int fd)
{
	void *p = mmap(NULL, TENSE_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       fd, TENSE_RING_OFFSET);

	return p == MAP_FAILED ? NULL : p;
}

/* --- CPU time of a thread whose jumps overflow its sum --- */

#define JUMPS 6

static bool jump_to_end(void)
{
	int fd = dev_open();
	bool done = fd >= 0 && jump_to_the_end(fd);

	burn(5 * MS);
	close(fd);
	return done;
}

TEST(cpu_time_only_grows)
{
	int64_t before = 0, now;

	for (int i = 0; i < JUMPS; i++) {
		now = kernel_ns(CLOCK_THREAD_CPUTIME_ID);
		EXPECT_GE(now, before) TH_LOG("after %d jumps", i);
		/* If time runs backwards, burn() does not end. */
		if (now < before || now > INT64_MAX - S)
			break;
		before = now;
		ASSERT_TRUE(jump_to_end());
	}
}

/* --- a clock that was set so late that a jump passes its end --- */

#define LATE_S 6400000000	/* the year 2172 */
#define INTERVAL (10 * MS)
/* Limit for deadlines that fire in 50 ms; a defect let thousands fire. */
#define FIRED_MAX 1000

FIXTURE(late_clock)
{
	struct timespec before;
	timer_t timer;
	int fd;
};

FIXTURE_SETUP(late_clock)
{
	struct timespec late = { .tv_sec = LATE_S };
	struct itimerspec spec = {
		.it_value = { .tv_sec = LATE_S + 1 },
		.it_interval = { .tv_nsec = INTERVAL },
	};

	signal(SIGALRM, SIG_IGN);
	clock_gettime(CLOCK_REALTIME, &self->before);
	ASSERT_EQ(clock_settime(CLOCK_REALTIME, &late), 0);
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(timer_create(CLOCK_REALTIME, NULL, &self->timer), 0);
	/* A relative one would be of CLOCK_MONOTONIC. */
	ASSERT_EQ(timer_settime(self->timer, TIMER_ABSTIME, &spec, NULL), 0);
}

FIXTURE_TEARDOWN(late_clock)
{
	timer_delete(self->timer);
	close(self->fd);
	clock_settime(CLOCK_REALTIME, &self->before);
}

TEST_F(late_clock, timer_does_not_fire_for_ever)
{
	uint64_t fired = dev_stats(self->fd).deadlines;

	ASSERT_TRUE(jump_to_the_end(self->fd));
	burn(50 * MS);
	EXPECT_LT(dev_stats(self->fd).deadlines - fired, FIRED_MAX);
}

/*
 * The CPU fires 256 deadlines at once and then pauses as long as that took: while it
 * fires so many, the process runs in pauses only.
 */
#define BURST 1000

/*
 * The experiment ends while the CPU pauses, and its virtual time is at its end: an
 * overdue timer went on in real time from a time that lay 2^63 ns back.
 */
TEST_F(late_clock, overdue_timer_does_not_fire_for_ever)
{
	struct itimerspec soon = { .it_value = { .tv_sec = LATE_S + 2 } };
	struct itimerspec past = {
		.it_value = { .tv_nsec = 1 },
		.it_interval = { .tv_nsec = INTERVAL },
	}, left;
	static timer_t burst[BURST];

	for (int i = 0; i < BURST; i++) {
		ASSERT_EQ(timer_create(CLOCK_REALTIME, NULL, &burst[i]), 0);
		ASSERT_EQ(timer_settime(burst[i], TIMER_ABSTIME, &soon, NULL), 0);
	}
	ASSERT_TRUE(jump_to_the_end(self->fd));
	ASSERT_EQ(timer_settime(self->timer, TIMER_ABSTIME, &past, NULL), 0);
	close(self->fd);
	self->fd = -1;
	/* The kernel forwards a timer with an ignored signal to its next time. */
	burn(50 * MS);
	ASSERT_EQ(timer_gettime(self->timer, &left), 0);
	EXPECT_EQ(left.it_value.tv_sec, 0);
	EXPECT_LE(left.it_value.tv_nsec, INTERVAL);
	for (int i = 0; i < BURST; i++)
		timer_delete(burst[i]);
}

/* --- a time that the thread only says it saw --- */

#define FORGERIES 20
#define FORGED (900 * MS)
/* Limit for the gain of all threads; a defect let each gain FORGED. */
#define GAIN_MAX S

FIXTURE(forged)
{
	int fd;
	struct tense_ring *ring;
	struct tense_stats before;
};

FIXTURE_SETUP(forged)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	self->ring = ring_map(self->fd);
	ASSERT_NE(self->ring, NULL);
	self->before = dev_stats(self->fd);
}

FIXTURE_TEARDOWN(forged)
{
	self->ring->shown = 0;
	close(self->fd);
}

/* How far GVT moved beyond the time that the thread ran and waited. */
static int64_t gained(int fd, const struct tense_stats *before)
{
	struct tense_stats after = dev_stats(fd);

	return after.gvt - before->gvt - (after.charged - before->charged) -
	       (after.elapsed - before->elapsed);
}

TEST_F(forged, time_does_not_add_up)
{
	struct tense_stats s;

	for (int i = 0; i < FORGERIES; i++)
		self->ring->shown = dev_now(self->fd) + FORGED;
	s = dev_stats(self->fd);
	EXPECT_LT((int64_t)(s.lvt - s.gvt), GAIN_MAX);
	EXPECT_LT(gained(self->fd, &self->before), GAIN_MAX);
}

/* Idle time is skipped: a sleep until a forged time would take long. */
TEST_F(forged, time_does_not_enter_the_ready_time)
{
	ASSERT_TRUE(dev_percent(self->fd, "idle skip"));
	for (int i = 0; i < FORGERIES; i++) {
		self->ring->shown = dev_now(self->fd) + FORGED;
		ASSERT_GT(lseek(self->fd, 1, SEEK_HOLE), 0);
	}
	EXPECT_LT(gained(self->fd, &self->before), GAIN_MAX);
}

TEST_F(forged, time_does_not_enter_a_childs)
{
	for (int i = 0; i < FORGERIES; i++) {
		pid_t pid;

		self->ring->shown = dev_now(self->fd) + FORGED;
		pid = fork();
		if (!pid)
			_exit(0);
		ASSERT_EQ(outcome_of(pid), 0);
	}
	EXPECT_LT(gained(self->fd, &self->before), GAIN_MAX);
}

/* --- mappings that outlast the membership --- */

FIXTURE(quota)
{
	char areas[16];
};

FIXTURE_SETUP(quota)
{
	ASSERT_EQ(chmod(TENSE_DEVICE, 0666), 0);
	read_text(AREAS_MAX, self->areas, sizeof(self->areas));
	ASSERT_EQ(write_text(AREAS_MAX, "1"), 0);
}

FIXTURE_TEARDOWN(quota)
{
	write_text(AREAS_MAX, self->areas);
	chmod(TENSE_DEVICE, 0660);
}

static int map_areas(void)
{
	struct tense_ring *kept, *next;
	int fd;

	if (setresgid(ALICE, ALICE, ALICE) || setresuid(ALICE, ALICE, ALICE))
		return 90;
	fd = dev_open();
	kept = ring_map(fd);
	if (!kept)
		return 91;
	/* The thread leaves; its pages stay, and each round keeps as many. */
	close(fd);
	fd = dev_open();
	if (ring_map(fd) || errno != EDQUOT)
		return 92;
	munmap(kept, TENSE_RING_SIZE);
	next = ring_map(fd);
	return next ? 0 : 93;
}

TEST_F(quota, of_areas_holds_for_mappings)
{
	pid_t pid = fork();

	if (!pid)
		_exit(map_areas());
	EXPECT_EQ(outcome_of(pid), 0);
}

/* --- records that interrupts have to take --- */

#define PHASES 4
#define PHASE (S / 2)
/*
 * The neighbour keeps this part of the share that it has beside the same thread
 * without records. Ticks take a tenth of an emulated CPU to drain the ring, and the
 * thread itself pays for that.
 */
#define SHARE_KEPT 0.9
/*
 * With a flood of records, timers may come this many times as often. The defect
 * made it 12 to 21 times.
 */
#define TIMES_TIMERS 5

enum { NO_RECORDS, RECORDS, RECORDS_AND_LOWEST, WAYS };

struct flood {
	volatile int way, stop;
};

/* Keeps the ring full of records, unless the way is NO_RECORDS. */
static void flood(struct flood *f)
{
	int fd = dev_open();
	struct tense_ring *ring = ring_map(fd);

	if (fd < 0 || !ring)
		_exit(90);
	for (int i = 0; i < TENSE_RING_RECORDS; i++)
		ring->record[i].percent = TENSE_PERCENT_REAL * TENSE_FINE;
	while (!f->stop) {
		ring->lowest = f->way == RECORDS_AND_LOWEST;
		if (f->way != NO_RECORDS)
			__atomic_store_n(&ring->head,
					 ring->head + TENSE_RING_RECORDS,
					 __ATOMIC_RELEASE);
		for (volatile int i = 0; i < 200; i++)
			;
	}
	_exit(0);
}

/* Timers and ticks of a CPU. */
static long timers_of(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512], *at = NULL;
	long timers = -1;

	while (f && fgets(line, sizeof(line), f))
		if ((at = strstr(line, "LOC:")))
			break;
	for (int i = 0; at && i <= cpu; i++)
		timers = strtol(i ? at : at + 4, &at, 10);
	if (f)
		fclose(f);
	return timers;
}

static int64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? -1 : clock_ns(clock);
}

/* Measures the process's share of the CPU by the real clock. */
static double share_of(pid_t pid)
{
	int64_t began = clock_ns(CLOCK_MONOTONIC), from = cpu_of(pid), now;

	do {
		usleep(20000);
		now = clock_ns(CLOCK_MONOTONIC);
	} while (now < began + PHASE);
	return (cpu_of(pid) - from) / (double)(now - began);
}

static pid_t start_on(int cpu, void (*run)(struct flood *), struct flood *f)
{
	pid_t pid = fork_child();

	if (!pid) {
		pin(cpu);
		run(f);
	}
	return pid;
}

static void be_neighbour(struct flood *f)
{
	spin_until(&f->stop);
	_exit(0);
}

/*
 * A busy host may take an emulated CPU away in the middle of an interrupt. The
 * guest then counts the lost time as the interrupt's. A defect fails every
 * attempt.
 */
#define ATTEMPTS 6
#define GOOD_ATTEMPTS 2

struct flood_result {
	double share[WAYS];
	long timers[WAYS];
	bool timers_count;	/* User-Mode Linux does not count them */
};

/* Alternates between the ways, so that a busy host affects all of them alike. */
static struct flood_result compare(struct flood *f, int cpu, pid_t neighbour)
{
	struct flood_result r = { .timers_count = timers_of(cpu) >= 0 };

	for (int i = 0; i < PHASES * WAYS; i++) {
		f->way = i % WAYS;
		usleep(20000);
		r.timers[f->way] -= timers_of(cpu);
		r.share[f->way] += share_of(neighbour) / PHASES;
		r.timers[f->way] += timers_of(cpu);
	}
	return r;
}

static bool leaves_share(const struct flood_result *r)
{
	return r->share[RECORDS] > SHARE_KEPT * r->share[NO_RECORDS] &&
	       r->share[RECORDS_AND_LOWEST] > SHARE_KEPT * r->share[NO_RECORDS] &&
	       (!r->timers_count ||
		r->timers[RECORDS_AND_LOWEST] < TIMES_TIMERS * r->timers[RECORDS]);
}

/* The test itself runs on the other CPU. */
TEST(records_take_no_time_of_others)
{
	struct flood *f = shared(sizeof(*f));
	int cpu = cpus_online() - 1;
	struct flood_result r;
	pid_t member, neighbour;
	int good = 0;

	if (!cpu)
		SKIP(return, "with one CPU, interrupts take the time of the test itself");

	pin(0);
	member = start_on(cpu, flood, f);
	neighbour = start_on(cpu, be_neighbour, f);
	usleep(200000);
	for (int i = 0; good < GOOD_ATTEMPTS && i < ATTEMPTS; i++) {
		r = compare(f, cpu, neighbour);
		good += leaves_share(&r);
		for (int w = 0; w < WAYS; w++)
			TH_LOG("way %d: the neighbour has %.3f of the CPU, %ld timers",
			       w, r.share[w], r.timers[w]);
	}
	f->stop = 1;
	EXPECT_EQ(outcome_of(member), 0);
	EXPECT_EQ(outcome_of(neighbour), 0);
	EXPECT_EQ(good, GOOD_ATTEMPTS);
}

/* --- a call that is charged for the records that it takes from the ring --- */

/* A call, with as many new records as the ring holds or without. In real ticks. */
static int64_t call_with(struct tense_ring *ring, int fd, uint32_t records,
			 int64_t *charged)
{
	struct tense_stats before = dev_stats(fd);
	int64_t ticks = tsc();

	/* Their stamps are old, so that they take no time of the thread. */
	__atomic_store_n(&ring->head, ring->head + records, __ATOMIC_RELEASE);
	dev_now(fd);
	ticks = tsc() - ticks;
	*charged = dev_stats(fd).charged - before.charged;
	return ticks;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One of the least values: a busy host makes the greater ones greater. */
static int64_t tenth(int64_t *value, size_t n)
{
	qsort(value, n, sizeof(*value), by_size);
	return value[n / 10];
}

struct drain {
	int64_t ns, charged;
};

/* Compares calls that empty a full ring with calls that find an empty one. */
static struct drain measure_drain(struct tense_ring *ring, int fd)
{
	enum { ROUNDS = 101 };
	int64_t full[ROUNDS], empty[ROUNDS], full_charge[ROUNDS], empty_charge[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		full[i] = call_with(ring, fd, TENSE_RING_RECORDS, &full_charge[i]);
		empty[i] = call_with(ring, fd, 0, &empty_charge[i]);
	}
	return (struct drain){
		.ns = (tenth(full, ROUNDS) - tenth(empty, ROUNDS)) / tsc_per_ns(),
		.charged = tenth(full_charge, ROUNDS) - tenth(empty_charge, ROUNDS),
	};
}

/*
 * R13: at first, a call empties the ring. A module that charges this work does so in each
 * attempt. A busy host may slow all rounds of an attempt. So one good attempt is enough.
 */
TEST(drain_at_a_call_is_not_charged)
{
	struct tense_ring *ring;
	int fd = dev_open(), good = 0;

	ring = ring_map(fd);
	if (!ring && errno == EOPNOTSUPP)
		SKIP(return, "no counter that all CPUs share");
	ASSERT_NE(ring, NULL);
	/* Many slots take the module long. The last one is outside of functions. */
	for (int i = 0; i < TENSE_RING_RECORDS; i++)
		ring->record[i] = (struct tense_record) {
			.percent = 100 * TENSE_FINE,
			.slot = (i + 1) % 8,
		};
	for (int i = 0; !good && i < ATTEMPTS; i++) {
		struct drain d = measure_drain(ring, fd);

		good = d.ns > 0 && d.charged < d.ns / 10;
		TH_LOG("a drain of %lld ns: %lld ns are charged",
		       (long long)d.ns, (long long)d.charged);
		usleep(20000);
	}
	EXPECT_EQ(good, 1);
	close(fd);
}

/* --- waits that go on --- */

/* R5: poll() waits for the outside, also when it goes on after a stop. */
TEST(no_time_is_skipped_past_a_poll_that_goes_on)
{
	static const struct timespec long_sleep = { .tv_sec = 1000 };
	volatile pid_t *waiting = shared(sizeof(*waiting));
	int pipe_fds[2], fd;
	pid_t outside, waiter;

	ASSERT_EQ(pipe(pipe_fds), 0);
	outside = fork();
	if (!outside) {
		while (!*waiting)
			usleep(1000);
		usleep(100000);
		kill(*waiting, SIGSTOP);
		usleep(100000);
		kill(*waiting, SIGCONT);
		usleep(300000);
		_exit(write(pipe_fds[1], "x", 1) != 1);
	}
	fd = dev_open();
	ASSERT_TRUE(dev_percent(fd, "idle skip"));
	waiter = fork();
	if (!waiter) {
		struct pollfd p = { .fd = pipe_fds[0], .events = POLLIN };

		*waiting = getpid();
		_exit(poll(&p, 1, 900000) != 1);
	}
	nanosleep(&long_sleep, NULL);
	EXPECT_EQ(outcome_of(waiter), 0);
	EXPECT_EQ(outcome_of(outside), 0);
	close(fd);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
