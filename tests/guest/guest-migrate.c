// SPDX-License-Identifier: GPL-2.0
/*
 * R4 on several CPUs: a task that moves to another CPU takes its time along. On the
 * way nothing is charged twice, and nothing is left out. A CPU that joins late does
 * not hold the others up.
 */
#include "runner.h"
#include "traveller.h"

#include "kselftest_harness.h"

/* --- ways to go --- */

static void to_any_cpu(pid_t tid, unsigned int *seed)
{
	pin_task(tid, rand_r(seed) % cpus_online());
}

static void go_itself(struct traveller *t)
{
	to_any_cpu(0, &t->seed);
}

static void sleep_a_little(struct traveller *t)
{
	int64_t ns = rand_r(&t->seed) % 300000;
	struct timespec pause = { .tv_nsec = ns };

	if (ns % 2)
		nanosleep(&pause, NULL);
	else
		lseek(t->view.fd, ns, SEEK_HOLE);
}

static void unpin(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

FIXTURE(moved)
{
	int fd, status;
	struct outside *outside;
};

FIXTURE_SETUP(moved)
{
	ASSERT_GE(cpus_online(), 2);
	ASSERT_EQ(pin(0), 0);
	self->outside = outside_start();
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
	/*
	 * The module learns the refund of a call here, before calls can stall.
	 */
	for (int i = 0; i < 100; i++)
		dev_now(self->fd);
}

FIXTURE_TEARDOWN(moved)
{
	/* Whatever happened: the experiment gets on. */
	kill(self->outside->pid, SIGKILL);
	reap(self->outside->pid);
	ASSERT_EQ(pin(0), 0);
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
	close(self->fd);
}

static uint64_t charged_in_slots(const struct tense_stats *s)
{
	uint64_t charged = 0;

	for (int i = 0; i < TENSE_SLOTS; i++)
		charged += s->slot[i].charged;
	return charged;
}

static uint64_t charged_to_threads(const struct report *r)
{
	uint64_t charged = 0;

	for (unsigned int i = 0; i < r->s.threads; i++)
		charged += r->t[i].charged;
	return charged;
}

#define EXPECT_GOOD_TRAVELLER(t)					\
	EXPECT_TRUE((t)->view.back <= 0 && (t)->view.gvt_back <= 0 &&	\
		    clock_agrees(&(t)->begun, &(t)->ended) &&		\
		    is_scaled(&(t)->begun, &(t)->ended, (t)->percent))	\
		TH_LOG("%d percent: fell by %lld, GVT by %lld; charged %lld, by its clock %lld to %lld; ran %lld, a call %lld, %lld",	\
		       (t)->percent, (long long)(t)->view.back,		\
		       (long long)(t)->view.gvt_back,			\
		       (long long)((t)->ended.charged - (t)->begun.charged), \
		       (long long)((t)->ended.before - (t)->begun.after), \
		       (long long)((t)->ended.after - (t)->begun.before), \
		       (long long)((t)->ended.ran - (t)->begun.ran),	\
		       (long long)(t)->begun.call,			\
		       (long long)(t)->ended.call)

/* R1 and R9, for each of them and for all together. */
#define EXPECT_GOOD_TRIP(trip) do {					\
	struct report r;						\
									\
	EXPECT_EQ(trip_end(trip), 0);					\
	for (int i = 0; i < (trip)->n; i++) {				\
		EXPECT_GOOD_TRAVELLER(&(trip)->traveller[i]);		\
	}								\
	await_alone(self->fd);						\
	r = report_read(self->fd);					\
	ASSERT_LE(r.s.threads, THREADS_MAX);				\
	EXPECT_EQ(charged_to_threads(&r), r.s.charged);			\
	EXPECT_EQ(charged_in_slots(&r.s), r.s.charged);			\
} while (0)

#define ROUNDS 20

/* More of them than CPUs, so that the scheduler moves them. */
#define CROWD (2 * cpus_online() + 1)

static struct trip *trip_of_moves(int fd, step_fn *step, unsigned int moves)
{
	struct trip *trip;

	unpin();
	trip = trip_start(CROWD, fd, step);
	while (trip_moves(trip) < moves)
		usleep(1000);
	trip_await(trip, ROUNDS);
	return trip;
}

TEST_F_TIMEOUT(moved, by_load_balancing, PATIENCE)
{
	struct trip *trip = trip_of_moves(self->fd, NULL, 10);

	EXPECT_GOOD_TRIP(trip);
}

TEST_F_TIMEOUT(moved, by_wakeups, PATIENCE)
{
	struct trip *trip = trip_of_moves(self->fd, sleep_a_little, 100);

	EXPECT_GOOD_TRIP(trip);
}

TEST_F_TIMEOUT(moved, by_themselves, PATIENCE)
{
	struct trip *trip = trip_of_moves(self->fd, go_itself, 500);

	EXPECT_GOOD_TRIP(trip);
}

static struct trip *trip_moved_by_others(int fd, step_fn *step)
{
	struct trip *trip = trip_start(CROWD, fd, step);
	unsigned int seed = 1;

	trip_await(trip, 1);
	while (trip_moves(trip) < 100)
		to_any_cpu(trip->traveller[rand_r(&seed) % trip->n].pid, &seed);
	trip_await(trip, ROUNDS);
	return trip;
}

/* While they run, wait for a CPU, or stand at the gate. */
TEST_F_TIMEOUT(moved, by_others, PATIENCE)
{
	struct trip *trip = trip_moved_by_others(self->fd, NULL);

	EXPECT_GOOD_TRIP(trip);
}

TEST_F_TIMEOUT(moved, while_asleep, PATIENCE)
{
	struct trip *trip = trip_moved_by_others(self->fd, sleep_a_little);

	EXPECT_GOOD_TRIP(trip);
}

/* It stays there, with its time, wherever it is to go on. */
TEST_F_TIMEOUT(moved, while_gated, PATIENCE)
{
	struct tense_thread before, after;
	int n = cpus_online();
	struct runner *r;
	pid_t pid;

	pid = runner_start(&r, self->fd, 1);
	before = runner_record(self->fd, pid);
	for (int i = 0; i < 10 * n; i++) {
		ASSERT_EQ(pin_task(pid, i % n), 0);
		ASSERT_TRUE(runner_is_held(r, self->fd));
	}
	after = runner_record(self->fd, pid);
	EXPECT_EQ(after.charged, before.charged);
	EXPECT_EQ(after.ran, before.ran);
	runner_let_go(r, self->fd);
	runner_await(r);
	EXPECT_TRUE(runner_was_right(r));
	EXPECT_EQ(r->cpu, n - 1);
	EXPECT_EQ(reap(pid), 0);
}

/*
 * All CPUs being active all the while, their times move by what is charged and
 * by nothing else, whoever comes and goes. No tolerance: all of it only grows,
 * and the sum was read before and after the times.
 */
struct keeper {
	volatile unsigned int asked, answered;
	volatile int64_t lvt;
};

static void keep(volatile struct keeper *k, int cpu, int fd)
{
	pin(cpu);
	for (;;) {
		while (k->answered == k->asked)
			;
		k->lvt = dev_stats(fd).lvt;
		k->answered++;
	}
}

struct ledger {
	int64_t before, times, after;
};

static struct ledger ledger_of(int fd, volatile struct keeper *keeper, int n)
{
	struct ledger l = { .before = dev_stats(fd).charged };

	for (int i = 1; i < n; i++) {
		keeper[i].asked++;
		while (keeper[i].answered != keeper[i].asked)
			;
		l.times += keeper[i].lvt;
	}
	l.times += dev_stats(fd).lvt;
	l.after = dev_stats(fd).charged;
	return l;
}

TEST_F_TIMEOUT(moved, times_move_by_charges_only, PATIENCE)
{
	int n = cpus_online();
	volatile struct keeper *keeper = shared(n * sizeof(*keeper));
	struct ledger from, to;
	struct trip *trip;
	pid_t pid[n];

	for (int i = 1; i < n; i++) {
		pid[i] = fork_child();
		if (!pid[i])
			keep(&keeper[i], i, self->fd);
	}
	trip = trip_start(n, self->fd, go_itself);
	/* Without blocking: this CPU is to stay active as well. */
	while (trip_moves(trip) < 50)
		;
	from = ledger_of(self->fd, keeper, n);
	while (trip_moves(trip) < 150)
		;
	to = ledger_of(self->fd, keeper, n);
	TH_LOG("times moved by %lld, charged between %lld and %lld",
	       (long long)(to.times - from.times),
	       (long long)(to.before - from.after),
	       (long long)(to.after - from.before));
	EXPECT_GE(to.times - from.times, to.before - from.after);
	EXPECT_LE(to.times - from.times, to.after - from.before);
	for (int i = 1; i < n; i++) {
		ASSERT_EQ(kill(pid[i], SIGKILL), 0);
		EXPECT_EQ(reap(pid[i]), SIGKILL);
	}
	EXPECT_GOOD_TRIP(trip);
}

/* --- a CPU that never was active before --- */

/* A task that arrives there sees the others' time, and all get on so far. */
#define GETS_ON (20 * WINDOW)

struct late {
	volatile int64_t left, arrived, gvt;
	volatile int there, leaves;
	int pipe[2];
};

static void await_gvt(int fd, int64_t gvt)
{
	while ((int64_t)dev_stats(fd).gvt < gvt)
		;
}

static void late_pins_itself(struct late *l, int fd)
{
	l->left = dev_now(fd);
	l->leaves = 1;
	pin(1);
}

static void late_is_pinned(struct late *l, int fd)
{
	while (sched_getcpu() != 1) {
		l->left = dev_now(fd);
		l->leaves = 1;
	}
}

static void late_wakes_there(struct late *l, int fd)
{
	char byte;

	l->left = dev_now(fd);
	l->leaves = 1;
	while (read(l->pipe[0], &byte, 1) != 1)
		;
}

static pid_t late_start(struct late **l, int fd,
			void (*go)(struct late *l, int fd))
{
	pid_t pid;

	*l = shared(sizeof(**l));
	if (pipe((*l)->pipe))
		return -errno;
	lseek(fd, FAR, SEEK_CUR);
	pid = fork_child();
	if (pid)
		return pid;
	go(*l, fd);
	(*l)->arrived = dev_now(fd);
	(*l)->gvt = dev_stats(fd).gvt;
	(*l)->there = sched_getcpu();
	await_gvt(fd, (*l)->gvt + GETS_ON);
	_exit(0);
}

static bool late_has_come(const struct late *l)
{
	while (!l->there)
		;
	return l->there == 1 && l->left >= FAR && l->arrived >= l->left &&
	       l->gvt >= FAR;
}

#define EXPECT_COMES_LATE(l, pid) do {					\
	EXPECT_TRUE(late_has_come(l))					\
		TH_LOG("CPU %d: left %lld, came %lld, GVT %lld", (l)->there, \
		       (long long)(l)->left, (long long)(l)->arrived,	\
		       (long long)(l)->gvt);				\
	await_gvt(self->fd, (l)->gvt + GETS_ON);			\
	EXPECT_EQ(reap(pid), 0);					\
} while (0)

TEST_F_TIMEOUT(moved, to_a_new_cpu_by_itself, PATIENCE)
{
	struct late *l;
	pid_t pid = late_start(&l, self->fd, late_pins_itself);

	EXPECT_COMES_LATE(l, pid);
}

TEST_F_TIMEOUT(moved, to_a_new_cpu_by_others, PATIENCE)
{
	struct late *l;
	pid_t pid = late_start(&l, self->fd, late_is_pinned);

	while (!l->leaves)
		;
	ASSERT_EQ(pin_task(pid, 1), 0);
	EXPECT_COMES_LATE(l, pid);
}

TEST_F_TIMEOUT(moved, to_a_new_cpu_asleep, PATIENCE)
{
	struct late *l;
	pid_t pid = late_start(&l, self->fd, late_wakes_there);
	int64_t woken;

	while (!l->leaves || state_of(pid) != 'S')
		;
	ASSERT_EQ(pin_task(pid, 1), 0);
	woken = dev_now(self->fd);
	ASSERT_EQ(write(l->pipe[1], "", 1), 1);
	EXPECT_COMES_LATE(l, pid);
	/* R3: it was ready then, and no other time held there. */
	EXPECT_GE(l->arrived, woken);
}

/* --- new processes and programs --- */

#define CHILDREN 300
#define AT_ONCE 20

struct children {
	volatile int64_t told;	/* by the parent, right before the fork */
	volatile unsigned int elsewhere, early;
};

static void child_begins(struct children *c, int fd, int64_t told, int cpu)
{
	if (dev_now(fd) < told)
		__atomic_fetch_add(&c->early, 1, __ATOMIC_SEQ_CST);
	if (sched_getcpu() != cpu)
		__atomic_fetch_add(&c->elsewhere, 1, __ATOMIC_SEQ_CST);
	burn(MS / 4);
	_exit(0);
}

/* R9: nothing that it does is before it was forked, wherever it begins. */
TEST_F_TIMEOUT(moved, by_fork, PATIENCE)
{
	struct children *c = shared(sizeof(*c));
	struct tense_stats s;
	int failed = 0;

	unpin();
	lseek(self->fd, FAR, SEEK_CUR);
	for (int i = 0; i < CHILDREN; i++) {
		int cpu = sched_getcpu();
		int64_t told = dev_now(self->fd);

		if (!fork_child())
			child_begins(c, self->fd, told, cpu);
		while (i % AT_ONCE == AT_ONCE - 1 &&
		       dev_stats(self->fd).tasks > 1) {
			int status;

			if (waitpid(-1, &status, WNOHANG) > 0)
				failed += status != 0;
		}
	}
	EXPECT_EQ(failed, 0);
	EXPECT_EQ(c->early, 0);
	TH_LOG("%u of %u began on another CPU", c->elsewhere, CHILDREN);
	EXPECT_GT(c->elsewhere, 0);
	await_alone(self->fd);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.tasks_total, 1 + CHILDREN);
	EXPECT_EQ(charged_in_slots(&s), s.charged);
}

/* At which a CPU's time hardly moves. */
#define FAST "10000"

/* Keeps a CPU active, but nobody waiting for it. */
static void hold_back(volatile int *there, int cpu, int fd)
{
	struct sched_param param = { 0 };

	dev_percent(fd, FAST);
	sched_setscheduler(0, SCHED_IDLE, &param);
	pin(cpu);
	*there = 1;
	for (;;)
		;
}

/* The caller comes from a CPU that is further. Returns what it has seen. */
static int64_t go_where_it_is_earlier(int fd)
{
	pin(0);
	lseek(fd, WINDOW / 2, SEEK_CUR);
	pin(1);
	return dev_now(fd);
}

FIXTURE(earlier)
{
	int fd;
	pid_t pid;
};

FIXTURE_SETUP(earlier)
{
	volatile int *there = shared(sizeof(*there));

	ASSERT_GE(cpus_online(), 2);
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
	self->pid = fork_child();
	if (!self->pid)
		hold_back(there, 1, self->fd);
	while (!*there)
		;
	dev_percent(self->fd, FAST);
}

FIXTURE_TEARDOWN(earlier)
{
	EXPECT_EQ(kill(self->pid, SIGKILL), 0);
	EXPECT_EQ(reap(self->pid), SIGKILL);
	close(self->fd);
}

TEST_F_TIMEOUT(earlier, a_child_sees_what_its_parent_saw, PATIENCE)
{
	for (int i = 0; i < 20; i++) {
		int64_t told = go_where_it_is_earlier(self->fd);
		pid_t child = fork_child();
		int status;

		if (!child)
			_exit(dev_now(self->fd) < told);
		EXPECT_EQ(waitpid(child, &status, 0), child);
		EXPECT_EQ(status, 0);
	}
}

/* R10: who jumps to a time is there; by so much, as if it had run that. */
TEST_F_TIMEOUT(earlier, jumps_end_where_they_say, PATIENCE)
{
	unsigned int behind = 0, jumps = 0;

	for (int i = 0; i < 20; i++) {
		int64_t to = go_where_it_is_earlier(self->fd) + 1000, end;

		behind += (int64_t)dev_stats(self->fd).gvt < to - 2000;
		end = lseek(self->fd, to, SEEK_SET);
		/* Refused only if the time has passed: a host may stand still. */
		EXPECT_GE(end < 0 ? dev_now(self->fd) : end, to);
		jumps += end >= 0;
	}
	TH_LOG("%u jumps of 20, %u times its CPU was behind", jumps, behind);
	EXPECT_GT(behind, 0);
	EXPECT_GE(jumps, 10);
}

TEST_F_TIMEOUT(earlier, a_jump_by_some_charges_no_more, PATIENCE)
{
	unsigned int small = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t before, charged;

		go_where_it_is_earlier(self->fd);
		before = runner_record(self->fd, gettid()).charged;
		EXPECT_GE(lseek(self->fd, 1000, SEEK_CUR), 0);
		charged = runner_record(self->fd, gettid()).charged - before;
		EXPECT_GE(charged, 1000);
		/* A host that stands still is charged as well. */
		small += charged < WINDOW / 4;
	}
	EXPECT_GE(small, 10);
}

#define PROGRAMS 40

/*
 * A program that executes itself again, on any CPU: so many times, told this
 * time and charge by the one before.
 */
static int executed(int left, int64_t told, uint64_t charged)
{
	char argument[3][24], *argv[] = {
		"guest", argument[0], argument[1], argument[2], NULL
	};
	int fd = dev_open();
	struct tense_stats s = dev_stats(fd);
	struct tense_thread t = runner_record(fd, gettid());

	if (dev_now(fd) < told || t.charged < charged || s.flags)
		return 1;
	if (!left)
		return 0;
	burn(MS / 4);
	snprintf(argument[0], sizeof(argument[0]), "%d", left - 1);
	snprintf(argument[1], sizeof(argument[1]), "%lld",
		 (long long)dev_now(fd));
	snprintf(argument[2], sizeof(argument[2]), "%llu",
		 (unsigned long long)runner_record(fd, gettid()).charged);
	to_any_cpu(0, (unsigned int[]) { left });
	execv("/proc/self/exe", argv);
	return 2;
}

TEST_F_TIMEOUT(moved, by_exec, PATIENCE)
{
	struct trip *trip = trip_start(cpus_online(), self->fd, NULL);
	pid_t pid = fork_child();

	if (!pid)
		_exit(executed(PROGRAMS, 0, 0));
	EXPECT_EQ(reap(pid), 0);
	EXPECT_GOOD_TRIP(trip);
}

/* --- CPUs that go and come back --- */

static void go_to_last(struct traveller *t)
{
	/* Which may not be there. */
	pin(sysconf(_SC_NPROCESSORS_CONF) - 1);
	if (t->rounds % 4 == 0)
		sleep_a_little(t);
}

#define EXPECT_GETS_ON(trip) do {					\
	int64_t gvt = dev_stats(self->fd).gvt;				\
									\
	trip_await(trip, ROUNDS / 4);					\
	EXPECT_GT((int64_t)dev_stats(self->fd).gvt, gvt);		\
} while (0)

TEST_F_TIMEOUT(moved, by_hotplug, PATIENCE)
{
	struct trip *free, *bound;
	int n = cpus_online();

	if (!has_hotplug())
		SKIP(return, "this kernel takes no CPU offline");
	free = trip_start(n, self->fd, NULL);
	bound = trip_start(n, self->fd, go_to_last);
	EXPECT_GETS_ON(bound);
	for (int i = 0; i < 3; i++) {
		for (int cpu = n - 1; cpu > 0; cpu--) {
			EXPECT_EQ(outside_do(self->outside, outside_hotplug,
					     -cpu), 0);
			EXPECT_GETS_ON(free);
			EXPECT_GETS_ON(bound);
		}
		EXPECT_EQ(cpus_online(), 1);
		for (int cpu = 1; cpu < n; cpu++) {
			EXPECT_EQ(outside_do(self->outside, outside_hotplug,
					     cpu), 0);
			EXPECT_GETS_ON(free);
			EXPECT_GETS_ON(bound);
		}
	}
	EXPECT_EQ(cpus_online(), n);
	free->over = 1;
	bound->over = 1;
	EXPECT_GOOD_TRIP(free);
	EXPECT_GOOD_TRIP(bound);
}

static long hotplug_soon(long cpu)
{
	usleep(20000);
	return outside_hotplug(cpu);
}

/* All sleep, one of them on the CPU that goes, or that is back. */
TEST_F_TIMEOUT(moved, asleep_while_its_cpu_goes, PATIENCE)
{
	if (!has_hotplug())
		SKIP(return, "this kernel takes no CPU offline");
	for (int i = 0; i < 10; i++) {
		int64_t end;
		pid_t pid;

		if (i % 2)
			EXPECT_EQ(outside_do(self->outside, outside_hotplug, -1),
				  0);
		pid = fork_child();
		if (!pid) {
			pin(1);
			end = dev_now(self->fd) + 200 * MS;
			_exit(lseek(self->fd, 200 * MS, SEEK_HOLE) < end);
		}
		outside_ask(self->outside, hotplug_soon, i % 2 ? 1 : -1);
		EXPECT_EQ(waitpid(pid, &self->status, 0), pid);
		EXPECT_EQ(self->status, 0);
		EXPECT_EQ(outside_answer(self->outside), 0);
		if (i % 2 == 0)
			EXPECT_EQ(outside_do(self->outside, outside_hotplug, 1),
				  0);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4)
		return executed(atoi(argv[1]), atoll(argv[2]),
				strtoull(argv[3], NULL, 10));
	return run_with_module(argc, argv, test_harness_run);
}
