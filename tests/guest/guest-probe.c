// SPDX-License-Identifier: GPL-2.0
/*
 * Functions at a percent of their own by the kernel's breakpoints, for which
 * the kernel needs CONFIG_UPROBES. This program probes functions of its own.
 */
#include "guest.h"

#include <pthread.h>
#include <setjmp.h>

#include "../lib/sort.h"
#include "harness.h"

#define CALLS 50

#define FUNCTION __attribute__((noinline, noipa))

static volatile unsigned int sink;
static jmp_buf back;

FUNCTION static void empty(void)
{
	sink++;
}

FUNCTION static void work(int n)
{
	while (n--)
		sink++;
}

/* In no slot. */
FUNCTION static void turn(int n)
{
	while (n--)
		sink++;
}

FUNCTION static void recurse(int n)
{
	if (n)
		recurse(n - 1);
	work(1000);
}

FUNCTION static void jump_out(int n)
{
	work(n);
	longjmp(back, 1);
}

static int probe_at(int fd, int slot, int percent, int file,
		    unsigned long long offset)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "probe %d %d %d %llu", slot,
			 percent * TENSE_FINE, file, offset);

	return write(fd, text, n) == n ? 0 : -errno;
}

static int probe(int fd, int slot, int percent, void (*function)(void))
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err;

	err = probe_at(fd, slot, percent, self, offset_of(function));
	close(self);
	return err;
}

#define PROBE(fd, slot, percent, f) probe(fd, slot, percent, (void (*)(void))f)

static bool is_about(uint64_t a, uint64_t b)
{
	/* Each change rounds down once. */
	return (a > b ? a - b : b - a) <= 4 * CALLS;
}

FIXTURE(probed)
{
	int fd;
};

FIXTURE_SETUP(probed)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(probed)
{
	close(self->fd);
}

TEST_F(probed, calls_are_counted_and_scaled)
{
	struct tense_stats s;

	ASSERT_EQ(PROBE(self->fd, 3, 200, work), 0);
	for (int i = 0; i < CALLS; i++) {
		work(20000);
		empty();
	}
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[3].calls, CALLS);
	EXPECT_GT(s.slot[3].ran, 0);
	EXPECT_TRUE(is_about(2 * s.slot[3].charged, s.slot[3].ran));
	EXPECT_TRUE(is_about(s.slot[0].charged, s.slot[0].ran));
	EXPECT_EQ(s.percent, 100);
}

TEST_F(probed, percents_multiply)
{
	struct tense_stats s;

	ASSERT_TRUE(dev_percent(self->fd, "50"));
	ASSERT_EQ(PROBE(self->fd, 1, 200, work), 0);
	work(1000000);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[1].calls, 1);
	EXPECT_TRUE(is_about(s.slot[1].charged, s.slot[1].ran));
	EXPECT_EQ(s.percent, 50);
}

TEST_F(probed, recursion_is_entered_once)
{
	struct tense_stats s;

	ASSERT_EQ(PROBE(self->fd, 1, 200, recurse), 0);
	recurse(20);
	recurse(100);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[1].calls, 122);
	EXPECT_TRUE(is_about(2 * s.slot[1].charged, s.slot[1].ran));
	EXPECT_EQ(s.percent, 100);
}

TEST_F(probed, functions_nest)
{
	struct tense_stats s;

	ASSERT_EQ(PROBE(self->fd, 1, 200, recurse), 0);
	ASSERT_EQ(PROBE(self->fd, 2, 300, work), 0);
	recurse(10);
	s = dev_stats(self->fd);
	EXPECT_EQ(s.slot[1].calls, 11);
	EXPECT_EQ(s.slot[2].calls, 11);
	EXPECT_TRUE(is_about(6 * s.slot[2].charged, s.slot[2].ran));
	EXPECT_EQ(s.percent, 100);
}

TEST_F(probed, longjmp_leaves)
{
	ASSERT_EQ(PROBE(self->fd, 1, 200, jump_out), 0);
	ASSERT_EQ(PROBE(self->fd, 2, 300, work), 0);
	for (volatile int i = 0; i < CALLS; i++)
		if (!setjmp(back))
			jump_out(10);
	/* Noticed at the next probe. */
	work(10);
	EXPECT_EQ(dev_stats(self->fd).percent, 100);
	EXPECT_EQ(dev_stats(self->fd).slot[1].calls, CALLS);
}

static struct tense_stats seen;

static void *look(void *fd)
{
	seen = dev_stats((intptr_t)fd);
	return NULL;
}

FUNCTION static void start_thread(int fd)
{
	pthread_t thread;

	pthread_create(&thread, NULL, look, (void *)(intptr_t)fd);
	pthread_join(thread, NULL);
}

TEST_F(probed, threads_begin_outside)
{
	ASSERT_EQ(PROBE(self->fd, 1, 200, start_thread), 0);
	start_thread(self->fd);
	EXPECT_EQ(seen.percent, 100);
	EXPECT_EQ(dev_stats(self->fd).slot[1].calls, 1);
}

FUNCTION static pid_t fork_inside(void)
{
	return fork();
}

TEST_F(probed, processes_go_on_inside)
{
	int status;
	pid_t pid;

	ASSERT_EQ(PROBE(self->fd, 1, 200, fork_inside), 0);
	pid = fork_inside();
	if (!pid)
		_exit(dev_stats(self->fd).percent == 100 ? 42 : 1);
	waitpid(pid, &status, 0);
	EXPECT_EQ(WEXITSTATUS(status), 42);
	EXPECT_EQ(dev_stats(self->fd).percent, 100);
}

TEST_F(probed, others_are_left_alone)
{
	int status;
	pid_t pid;

	ASSERT_EQ(PROBE(self->fd, 1, 200, work), 0);
	pid = fork();
	if (!pid) {
		/* Not the parent's: it leaves that for one of its own. */
		work(10);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(dev_stats(self->fd).slot[1].calls, 1);
}

/* Short enough that a host with others to run leaves most of them alone. */
#define ROUNDS 201
#define CALLS_IN_ROUND 20

/*
 * How much of what calls of nearly nothing take is not charged to who makes them.
 * A host that is slow, or has others to run, makes all of it longer.
 */
static double given_back_of_calls(int fd)
{
	double part[ROUNDS];

	for (int round = 0; round < ROUNDS;) {
		struct tense_stats before = dev_stats(fd), after;

		for (int i = 0; i < CALLS_IN_ROUND; i++)
			work(1);
		after = dev_stats(fd);
		after.overhead -= before.overhead;
		after.ran -= before.ran;
		/* After a host stole time a task's clock stands still. */
		if (after.ran + after.overhead)
			part[round++] = (double)after.overhead /
					(after.ran + after.overhead);
	}
	return median_of(part, ROUNDS);
}

/* Real ns of a call, which has a probe at its entry and one at its return. */
static uint64_t cost_of_empty_calls(int fd)
{
	struct tense_stats before = dev_stats(fd), after;

	for (int i = 0; i < 1000; i++)
		empty();
	after = dev_stats(fd);
	return (after.ran + after.overhead - before.ran - before.overhead) /
	       1000;
}

/* The way into a probe and back takes far longer than the probe's own work. */
TEST_F(probed, cost_is_given_back)
{
	double unknown, known;

	ASSERT_EQ(PROBE(self->fd, 1, 100, work), 0);
	unknown = given_back_of_calls(self->fd);
	ASSERT_EQ(PROBE(self->fd, 0, 100, empty), 0);
	/* The module takes no way for one that takes longer than 100 us. */
	if (cost_of_empty_calls(self->fd) > 200000)
		SKIP(return, "a probe takes so long here that it may be the caller's work");
	known = given_back_of_calls(self->fd);
	EXPECT_TRUE(known > 2 * unknown)
		TH_LOG("%.3f of it, then %.3f", unknown, known);
}

/*
 * Half of a probe's cost belongs to the function and half to its caller, each
 * at its own percent, whoever runs when the module refunds it.
 */
TEST_F(probed, and_to_the_slot_that_had_it)
{
	struct tense_stats s;

	ASSERT_EQ(PROBE(self->fd, 0, 100, empty), 0);
	for (int i = 0; i < 1000; i++)
		empty();
	ASSERT_EQ(PROBE(self->fd, 1, 200, work), 0);
	for (int i = 0; i < CALLS; i++) {
		work(100000);
		turn(100000);
	}
	/* Use up the last refund. */
	burn(2000000);
	s = dev_stats(self->fd);
	EXPECT_GT(s.overhead, 0);
	for (int i = 0; i < 2; i++) {
		EXPECT_TRUE(is_about((i + 1) * s.slot[i].charged,
				     s.slot[i].ran))
			TH_LOG("slot %d: %lld ns charged, %lld ns run", i,
			       (long long)s.slot[i].charged,
			       (long long)s.slot[i].ran);
	}
}

TEST_F(probed, errors)
{
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int write_only = open("/tmp/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	unsigned long long at = offset_of((void *)work);

	EXPECT_EQ(probe_at(self->fd, 16, 100, self_fd, at), -EINVAL);
	EXPECT_EQ(probe_at(self->fd, 1, 0, self_fd, at), -EINVAL);
	EXPECT_EQ(probe_at(self->fd, 1, 100001, self_fd, at), -EINVAL);
	EXPECT_EQ(write(self->fd, "probe 1 999 3 0", 15), -1);
	EXPECT_EQ(probe_at(self->fd, 1, 100, 999, at), -EBADF);
	EXPECT_EQ(probe_at(self->fd, 1, 100, write_only, 0), -EBADF);
	EXPECT_EQ(probe_at(self->fd, 1, 100, self->fd, 0), -EINVAL);
	EXPECT_EQ(probe_at(self->fd, 1, 100, self_fd, 1ULL << 40), -EINVAL);
	EXPECT_EQ(probe_at(self->fd, 1, 100, self_fd, ~0ULL), -EINVAL);
	EXPECT_EQ(write(self->fd, "probe", 5), -1);
	EXPECT_EQ(write(self->fd, "probe 1 100 3 4 5", 17), -1);
	EXPECT_EQ(write(self->fd, "probe 1 100 3", 13), -1);
	close(self_fd);
	close(write_only);
}

/* None of them is taken for what is left of it in fewer bits. */
TEST_F(probed, numbers_that_are_too_large)
{
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned long long at = offset_of((void *)work);
	char text[96];

	snprintf(text, sizeof(text), "probe 4294967297 100000 %d %llu", self_fd, at);
	EXPECT_FALSE(dev_percent(self->fd, text));
	snprintf(text, sizeof(text), "probe 1 4295067296 %d %llu", self_fd, at);
	EXPECT_FALSE(dev_percent(self->fd, text));
	snprintf(text, sizeof(text), "probe 1 100000 %llu %llu",
		 (1ULL << 32) + self_fd, at);
	EXPECT_FALSE(dev_percent(self->fd, text));
	snprintf(text, sizeof(text), "probe 1 100000 %d 1844674407370%llu",
		 self_fd, 9551616 + at);
	EXPECT_FALSE(dev_percent(self->fd, text));
	close(self_fd);
}

TEST_F(probed, a_thousand_and_no_more)
{
	int self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err = 0, n;
	unsigned long long at = offset_of((void *)empty);

	for (n = 0; n <= TENSE_PROBES_MAX && !err; n++)
		err = probe_at(self->fd, 1, 100, self_fd, at);
	EXPECT_EQ(err, -ENOSPC);
	EXPECT_EQ(n, TENSE_PROBES_MAX + 1);
	close(self_fd);
}

int main(int argc, char **argv)
{
	return run_with_module(argc, argv, test_harness_run);
}
