// SPDX-License-Identifier: GPL-2.0
/* R6 on several CPUs: who is a window ahead stops, and costs nothing then. */
#include "runner.h"

#include <linux/futex.h>
#include <pthread.h>

#include "harness.h"

FIXTURE(gate)
{
	int fd;
};

FIXTURE_SETUP(gate)
{
	ASSERT_GE(cpus_online(), 2);
	ASSERT_EQ(pin(0), 0);
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0) TH_LOG("open: %s", strerror(errno));
}

FIXTURE_TEARDOWN(gate)
{
	close(self->fd);
}

TEST_F_TIMEOUT(gate, holds_until_the_others_come, PATIENCE)
{
	int64_t gvt = dev_stats(self->fd).gvt;
	struct runner *r;
	pid_t pid = runner_start(&r, self->fd, 1);
	struct tense_stats s = dev_stats(self->fd);

	/* The worst skew is that after the jump. */
	EXPECT_GE((int64_t)s.skew, r->target - (int64_t)s.gvt);
	EXPECT_LE((int64_t)s.skew, r->target - gvt +
		  (int64_t)runner_record(self->fd, pid).charged - FAR);
	EXPECT_TRUE(runner_is_held(r, self->fd));
	/* Nearly there. */
	lseek(self->fd, r->target - 1000 * S, SEEK_SET);
	EXPECT_TRUE(runner_is_held(r, self->fd));
	runner_let_go(r, self->fd);
	runner_await(r);
	EXPECT_TRUE(runner_was_right(r))
		TH_LOG("target %lld, GVT %lld, time %lld",
		       (long long)r->target, (long long)r->gvt,
		       (long long)r->time);
	EXPECT_EQ(r->cpu, 1);
	EXPECT_EQ(reap(pid), 0);
	EXPECT_TRUE(goes_on(self->fd));
}

TEST_F_TIMEOUT(gate, is_not_charged_and_uses_no_cpu, PATIENCE)
{
	struct tense_thread before, during, after;
	int64_t began, held, switches;
	struct runner *r;
	double rate;
	pid_t pid;

	close(self->fd);
	rate = tsc_per_ns();
	self->fd = dev_open();
	pid = runner_start(&r, self->fd, 1);
	before = runner_record(self->fd, pid);
	switches = status_of(pid, "\nvoluntary_ctxt_switches:");
	began = tsc();
	EXPECT_TRUE(runner_is_held(r, self->fd));
	held = (tsc() - began) / rate;
	during = runner_record(self->fd, pid);
	EXPECT_GE(before.charged, FAR);
	EXPECT_EQ(during.charged, before.charged);
	EXPECT_EQ(during.ran, before.ran);
	EXPECT_EQ(during.overhead, before.overhead);
	EXPECT_GE(switches, 0);
	EXPECT_EQ(status_of(pid, "\nvoluntary_ctxt_switches:"), switches);

	runner_let_go(r, self->fd);
	runner_await(r);
	EXPECT_EQ(reap(pid), 0);
	await_alone(self->fd);
	after = runner_record(self->fd, pid);
	/* The rate is what the emulator tells. */
	EXPECT_GE((int64_t)after.gated, held * 9 / 10);
	EXPECT_GE(dev_stats(self->fd).gated, after.gated);
	/* At 100 percent. It has given back the refund after its last call. */
	EXPECT_LE(after.charged, FAR + after.ran);
	EXPECT_TRUE(goes_on(self->fd));
}

/* The order is that of virtual time, not that of arrival. */
TEST_F_TIMEOUT(gate, lets_go_in_virtual_order, PATIENCE)
{
	int n = cpus_online() - 1;
	struct runner *r[n];
	pid_t pid[n];

	/* The one that comes first is the one that is furthest ahead. */
	for (int i = n - 1; i >= 0; i--) {
		lseek(self->fd, 1000 * S, SEEK_CUR);
		pid[i] = runner_start(&r[i], self->fd, i + 1);
		for (int k = i + 1; k < n; k++)
			ASSERT_TRUE(runner_is_gated(r[k]));
	}
	for (int i = 0; i < n; i++)
		EXPECT_TRUE(runner_is_held(r[i], self->fd));
	for (int i = n - 1; i >= 0; i--) {
		runner_let_go(r[i], self->fd);
		runner_await(r[i]);
		EXPECT_TRUE(runner_was_right(r[i]));
		EXPECT_EQ(reap(pid[i]), 0);
		for (int k = 0; k < i; k++)
			EXPECT_TRUE(runner_is_held(r[k], self->fd));
	}
	EXPECT_TRUE(goes_on(self->fd));
}

/* A CPU's time is that of all that run on it. */
TEST_F_TIMEOUT(gate, stops_who_comes_to_a_cpu_ahead, PATIENCE)
{
	volatile int64_t *seen = shared(4096);
	volatile pid_t *tid = (pid_t *)(seen + 1);
	struct runner *r;
	pid_t pid = runner_start(&r, self->fd, 1), other;
	int64_t gvt;

	other = fork_child();
	if (!other) {
		*tid = gettid();
		pin(1);
		/* Runs until it is stopped, and then some. */
		for (;;) {
			gvt = dev_stats(self->fd).gvt;
			*seen = gvt;
			if (gvt >= r->target)
				_exit(0);
		}
	}
	while (!*tid || state_of(*tid) == 'R')
		;
	for (int i = 0; i < 50; i++)
		EXPECT_NE(state_of(*tid), 'R');
	gvt = *seen;
	EXPECT_TRUE(runner_is_held(r, self->fd));
	EXPECT_EQ(*seen, gvt);
	lseek(self->fd, r->target + WINDOW, SEEK_SET);
	EXPECT_EQ(reap(pid), 0);
	EXPECT_EQ(reap(other), 0);
	EXPECT_TRUE(runner_was_right(r));
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
}

/*
 * R9: a task that wakes on a CPU ahead must stop before it reads that CPU's
 * time and passes it on. A timer does not ensure this: a busy host may emulate
 * it late.
 */
TEST_F_TIMEOUT(gate, lets_nobody_run_on_a_cpu_ahead, PATIENCE)
{
	struct {
		volatile uint32_t go, ran;
		volatile pid_t tid;
	} *sleeper = shared(sizeof(*sleeper));
	pid_t pid, other = fork_child();
	struct runner *r;

	if (!other) {
		pin(1);
		sleeper->tid = gettid();
		syscall(SYS_futex, &sleeper->go, FUTEX_WAIT, 0, NULL);
		sleeper->ran = 1;
		_exit(0);
	}
	while (!sleeper->tid || state_of(sleeper->tid) != 'S')
		;
	pid = runner_start(&r, self->fd, 1);
	sleeper->go = 1;
	syscall(SYS_futex, &sleeper->go, FUTEX_WAKE, 1);
	while (!sleeper->ran && state_of(sleeper->tid) != 'D')
		;
	EXPECT_EQ(sleeper->ran, 0);
	lseek(self->fd, r->target + WINDOW, SEEK_SET);
	EXPECT_EQ(reap(pid), 0);
	EXPECT_EQ(reap(other), 0);
	EXPECT_EQ(sleeper->ran, 1);
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
}

/* R6: who waits does not hold the others back, and who has gone neither. */
TEST_F_TIMEOUT(gate, opens_when_the_others_block, PATIENCE)
{
	struct runner *r;
	pid_t pid = runner_start(&r, self->fd, 1);

	EXPECT_TRUE(runner_is_held(r, self->fd));
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_TRUE(runner_was_right(r));
	EXPECT_TRUE(goes_on(self->fd));
}

TEST_F_TIMEOUT(gate, opens_when_the_others_exit, PATIENCE)
{
	struct runner *r = shared(sizeof(*r));
	int *held = shared(sizeof(*held)), status = -1;
	pid_t pid, keeper;

	keeper = fork_child();
	if (!keeper) {
		runner_await_gate(r, self->fd);
		*held = runner_is_held(r, self->fd);
		_exit(0);
	}
	/* This process is the parent, since the keeper dies before it. */
	pid = fork_child();
	if (!pid) {
		runner_jump(r, self->fd, 1);
		_exit(0);
	}
	EXPECT_EQ(waitpid(keeper, &status, 0), keeper);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(*held, 1);
	EXPECT_TRUE(runner_was_right(r));
	EXPECT_TRUE(goes_on(self->fd));
}

/* R12, and experiments do not affect each other. */
TEST_F_TIMEOUT(gate, stops_no_other_experiment, PATIENCE)
{
	struct {
		volatile int joined, go;
		struct tense_stats s;
	} *other = shared(sizeof(*other));
	struct runner *r;
	pid_t pid, stranger;
	int64_t from;

	close(self->fd);
	stranger = fork_child();
	if (!stranger) {
		pin(1);
		/* Before its parent, whose experiment it would join. */
		self->fd = dev_open();
		other->joined = 1;
		while (!other->go)
			usleep(1000);
		from = dev_now(self->fd);
		lseek(self->fd, FAR, SEEK_CUR);
		burn(5 * MS);
		other->s = dev_stats(self->fd);
		_exit(dev_now(self->fd) < from + FAR + 5 * MS);
	}
	while (!other->joined)
		usleep(1000);
	self->fd = dev_open();
	pid = runner_start(&r, self->fd, 1);
	other->go = 1;
	EXPECT_EQ(reap(stranger), 0);
	EXPECT_EQ(other->s.tasks_total, 1);
	EXPECT_EQ(other->s.gated, 0);
	EXPECT_EQ(other->s.skew, 0);
	EXPECT_TRUE(runner_is_held(r, self->fd));
	runner_let_go(r, self->fd);
	EXPECT_EQ(reap(pid), 0);
	EXPECT_TRUE(runner_was_right(r));
	await_alone(self->fd);
	EXPECT_TRUE(goes_on(self->fd));
}

/*
 * Each thread is often let go just when it stops. It keeps its CPU active all
 * the while: its clock shows what it was charged, since nothing else moves it.
 */
#define LEAPS 1000

static int64_t lvt_beyond_charges(int fd)
{
	struct report r = report_read(fd);

	return r.s.lvt - report_of(&r, getpid())->charged;
}

/* Returns how far its clock was moved by anything but charges. */
static int64_t leap(int fd, int cpu, volatile int *ready, int n)
{
	unsigned int seed = cpu + 1;
	int64_t beyond;

	pin(cpu);
	__atomic_fetch_add(ready, 1, __ATOMIC_SEQ_CST);
	while (*ready < n)
		;
	beyond = lvt_beyond_charges(fd);
	for (int i = 0; i < LEAPS; i++)
		lseek(fd, rand_r(&seed) % (3 * WINDOW), SEEK_CUR);
	return lvt_beyond_charges(fd) - beyond;
}

TEST_F_TIMEOUT(gate, keeps_a_cpu_active, PATIENCE)
{
	volatile int *ready = shared(4096);
	int64_t *moved = shared(4096);
	int n = cpus_online();

	for (int i = 1; i < n; i++) {
		if (fork_child())
			continue;
		moved[i] = leap(self->fd, i, ready, n);
		_exit(0);
	}
	moved[0] = leap(self->fd, 0, ready, n);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < n; i++)
		EXPECT_EQ(moved[i], 0);
	EXPECT_GT(dev_stats(self->fd).gated, 0);
}

/*
 * Several CPUs spin at different percents. The gate let a thread in user mode
 * through when it was last charged. Its time as of then is at most a window ahead
 * of any other thread's later reading of its clock. This bound needs no
 * allowance. The length of one charge depends on how late the machine's
 * interrupts come.
 */
#define SPINNERS_MAX 16
/* A busy machine may let one of them look rarely. */
#define CHECKS 20
#define CHECKS_IN_ALL 2000
/*
 * The race ends after so many real ns, even if some spinners looked less often.
 */
#define LONG_ENOUGH 30000000000ULL

struct spinner {
	volatile int64_t now;		/* virtual */
	volatile unsigned int turn;	/* counts its loops, stored after now */
	int64_t worst;			/* charged less another one's now */
	int64_t longest;		/* virtual: most that it was charged
					 * between two looks
					 */
	uint64_t before, skew;		/* told at the beginning and the end */
	unsigned int checks, wrong;
	/* A look that waits for a later one of each other thread. */
	int64_t charged[SPINNERS_MAX];
	unsigned int after[SPINNERS_MAX];
	bool pending[SPINNERS_MAX];
	int percent, cpu;
};

static struct {
	struct spinner spinner[SPINNERS_MAX];
	int fd, n;
	uint64_t start;			/* counter */
	volatile int ready, started, checks, checked, finished;
	volatile bool gated, late;
} race;

/* All looks may take less time than one of them needs to get a window ahead. */
static bool is_over(void)
{
	return race.checked == race.n &&
	       ((race.checks >= CHECKS_IN_ALL && race.gated) || race.late);
}

static bool is_late(const volatile struct tense_clock *c)
{
	unsigned __int128 ns = (unsigned __int128)(tsc() - race.start) *
			       c->rate >> 32;

	return ns > LONG_ENOUGH;
}

static void look_at(struct spinner *s, int64_t charged, int j)
{
	struct spinner *other = &race.spinner[j];
	unsigned int turn = __atomic_load_n(&other->turn, __ATOMIC_ACQUIRE);
	int64_t ahead;

	if (!s->pending[j]) {
		s->charged[j] = charged;
		/* This turn ends the first loop that begins after this look. */
		s->after[j] = turn + 2;
		s->pending[j] = true;
	} else if ((int)(turn - s->after[j]) >= 0) {
		ahead = s->charged[j] - other->now;
		s->worst = ahead > s->worst ? ahead : s->worst;
		s->wrong += ahead > WINDOW;
		s->checks++;
		__atomic_fetch_add(&race.checks, 1, __ATOMIC_SEQ_CST);
		s->pending[j] = false;
	}
}

static void turn(struct spinner *s, const volatile struct tense_clock *c,
		 int64_t *last)
{
	struct page_time t = page_read(c, race.fd);

	if (t.charged - *last > s->longest)
		s->longest = t.charged - *last;
	*last = t.charged;
	s->now = t.now;
	__atomic_store_n(&s->turn, s->turn + 1, __ATOMIC_RELEASE);
	if (race.started < race.n || is_over())
		return;
	for (int j = 0; j < race.n; j++)
		if (&race.spinner[j] != s)
			look_at(s, t.charged, j);
}

static void *spin(void *arg)
{
	const volatile struct tense_clock *c = page_map(race.fd);
	struct spinner *s = arg;
	bool enough = false;
	char text[16];
	int64_t last;

	pin(s->cpu);
	snprintf(text, sizeof(text), "%d", s->percent);
	dev_percent(race.fd, text);
	last = page_read(c, race.fd).charged;
	/* From when nobody does anything else all that is charged is seen. */
	__atomic_fetch_add(&race.ready, 1, __ATOMIC_SEQ_CST);
	while (race.ready < race.n)
		turn(s, c, &last);
	s->before = dev_stats(race.fd).skew;
	__atomic_fetch_add(&race.started, 1, __ATOMIC_SEQ_CST);
	while (race.started < race.n)
		turn(s, c, &last);
	while (!is_over()) {
		turn(s, c, &last);
		if (s->turn % 16 == 0) {
			race.gated |= dev_stats(race.fd).gated > 0;
			race.late |= is_late(c);
		}
		if (!enough && s->checks >= CHECKS) {
			enough = true;
			__atomic_fetch_add(&race.checked, 1, __ATOMIC_SEQ_CST);
		}
	}
	s->skew = dev_stats(race.fd).skew;
	/*
	 * Others may still read a skew that includes this CPU: look until they
	 * have.
	 */
	__atomic_fetch_add(&race.finished, 1, __ATOMIC_SEQ_CST);
	while (race.finished < race.n)
		turn(s, c, &last);
	return NULL;
}

TEST_F_TIMEOUT(gate, keeps_spinners_within_the_window, PATIENCE)
{
	static const int percent[] = { 100, 400, 25, 150 };
	int64_t longest = 0, worst = 0;
	pthread_t thread[SPINNERS_MAX] = { 0 };
	uint64_t skew = 0, before = 0;

	race.fd = self->fd;
	race.start = tsc();
	race.n = cpus_online() < SPINNERS_MAX ? cpus_online() : SPINNERS_MAX;
	for (int i = race.n - 1; i >= 0; i--) {
		race.spinner[i].percent = percent[i % 4];
		race.spinner[i].cpu = i;
		if (i)
			ASSERT_EQ(pthread_create(&thread[i], NULL, spin,
						 &race.spinner[i]), 0);
	}
	spin(&race.spinner[0]);
	for (int i = 1; i < race.n; i++)
		pthread_join(thread[i], NULL);

	for (int i = 0; i < race.n; i++) {
		struct spinner *s = &race.spinner[i];

		TH_LOG("CPU %d, %d percent: %u looks, at most %lld ns ahead, charged at most %lld ns at once",
		       i, s->percent, s->checks, (long long)s->worst,
		       (long long)s->longest);
		EXPECT_GE(s->checks, CHECKS);
		EXPECT_EQ(s->wrong, 0);
		worst = s->worst > worst ? s->worst : worst;
		longest = s->longest > longest ? s->longest : longest;
		skew = s->skew > skew ? s->skew : skew;
		before = s->before > before ? s->before : before;
	}
	TH_LOG("%d looks%s", race.checks, race.late ? ", and no time for more" : "");
	TH_LOG("skew told: %llu ns, %llu ns before", (unsigned long long)skew,
	       (unsigned long long)before);
	/* Some were ahead, and what the device tells agrees with what was seen. */
	EXPECT_GT(worst, 0);
	EXPECT_GT(dev_stats(self->fd).gated, 0);
	EXPECT_GE((int64_t)skew, worst);
	if (skew > before)
		EXPECT_LE((int64_t)skew, WINDOW + longest);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
