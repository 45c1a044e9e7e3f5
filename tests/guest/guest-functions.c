// SPDX-License-Identifier: GPL-2.0
/*
 * Redirected functions in a guest: what the kernel counts of them. f_* run at
 * 200 percent in slot 1, g_* at 50 in slot 2. Nothing here depends on how long
 * anything takes: what is charged is compared with what ran.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/tense.h>

#include "harness.h"

#define NOINLINE __attribute__((noinline))

extern char **environ;

static int device = -1;

static struct tense_stats stats(void)
{
	struct tense_stats s = { 0 };

	if (device < 0)
		device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC);
	if (pread(device, &s, sizeof(s), 0) != sizeof(s))
		memset(&s, 0, sizeof(s));
	return s;
}

static unsigned int percent(void)
{
	return stats().percent;
}

NOINLINE static void work(int n)
{
	for (volatile int i = 0; i < n * 1000; i++)
		;
}

NOINLINE int f_work(int n)
{
	work(n);
	return n + 1;
}

NOINLINE int g_work(int n)
{
	work(n);
	return n + 1;
}

NOINLINE unsigned int f_percent(void)
{
	return percent() + 0 * g_work(0);
}

NOINLINE unsigned int g_percent(void)
{
	return percent() + 0 * g_work(0);
}

NOINLINE unsigned int f_nested(void)
{
	return g_percent() + 0 * g_work(0);
}

NOINLINE int f_recursive(int n)
{
	int ret = 0;

	work(1);
	if (n)
		ret = f_recursive(n - 1) + 1;
	/* Or a compiler makes it a loop. */
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static jmp_buf env;

NOINLINE void f_jump(void)
{
	longjmp(env, percent());
}

static void *percent_of_thread(void *to)
{
	*(unsigned int *)to = percent();
	return NULL;
}

NOINLINE unsigned int f_thread(void)
{
	unsigned int of_thread = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, percent_of_thread, &of_thread))
		return 0;
	pthread_join(thread, NULL);
	return of_thread;
}

NOINLINE int f_fork(void)
{
	int pid = fork();

	if (!pid)
		return -1;
	return pid;
}

static int wait_for(int pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	       WEXITSTATUS(status) : -1;
}

/* By which part is what was charged in a slot more than it should be? */
static double deviation(const struct tense_stats *from,
			const struct tense_stats *to, int slot, double speed)
{
	double ran = to->slot[slot].ran - from->slot[slot].ran;
	double charged = to->slot[slot].charged - from->slot[slot].charged;

	return ran ? charged / ran * speed - 1 : -1;
}

TEST(percents)
{
	EXPECT_EQ(percent(), 100);
	EXPECT_EQ(f_percent(), 200);
	EXPECT_EQ(g_percent(), 50);
	EXPECT_EQ(f_nested(), 100);
	EXPECT_EQ(percent(), 100);
}

TEST(long_calls_are_charged_at_their_percent)
{
	struct tense_stats from = stats(), to;

	f_work(50000);
	g_work(50000);
	to = stats();
	EXPECT_EQ(to.slot[1].calls - from.slot[1].calls, 1);
	EXPECT_EQ(to.slot[2].calls - from.slot[2].calls, 1);
	EXPECT_LT(deviation(&from, &to, 1, 2), 0.001);
	EXPECT_GT(deviation(&from, &to, 1, 2), -0.001);
	EXPECT_LT(deviation(&from, &to, 2, 0.5), 0.001);
	EXPECT_GT(deviation(&from, &to, 2, 0.5), -0.001);
}

TEST(short_calls_are_all_counted)
{
	struct tense_stats from = stats(), to;
	int i, sum = 0;

	for (i = 0; i < 100000; i++)
		sum += f_work(1) + g_work(1);
	to = stats();
	EXPECT_EQ(sum, 400000);
	EXPECT_EQ(to.slot[1].calls - from.slot[1].calls, 100000);
	EXPECT_EQ(to.slot[2].calls - from.slot[2].calls, 100000);
	/* The device's calls that empty the ring are refunded here. */
	EXPECT_LT(deviation(&from, &to, 1, 2), 0.01);
	EXPECT_GT(deviation(&from, &to, 1, 2), -0.3);
	EXPECT_EQ(to.percent, 100);
}

TEST(recursion_is_entered_once)
{
	struct tense_stats from = stats(), to;

	EXPECT_EQ(f_recursive(99), 99);
	to = stats();
	EXPECT_EQ(to.slot[1].calls - from.slot[1].calls, 100);
}

TEST(jumps_leave)
{
	int inside = setjmp(env);

	if (!inside)
		f_jump();
	EXPECT_EQ(inside, 200);
	EXPECT_EQ(percent(), 100);
}

TEST(threads_start_outside)
{
	EXPECT_EQ(f_thread(), 100);
	EXPECT_EQ(percent(), 100);
}

TEST(a_child_of_fork_goes_on_inside)
{
	int pid = f_fork();

	if (pid < 0) {
		struct tense_stats before = stats(), after;

		f_work(1);
		after = stats();
		_exit(before.percent == 100 && after.percent == 100 &&
		      f_percent() == 200 &&
		      after.slot[1].calls == before.slot[1].calls + 1 ? 0 : 1);
	}
	EXPECT_EQ(wait_for(pid), 0);
	EXPECT_EQ(percent(), 100);
}

TEST(programs_start_outside)
{
	char *args[] = { "/proc/self/exe", "--percent", NULL };
	pid_t pid;

	ASSERT_EQ(posix_spawn(&pid, args[0], NULL, NULL, args, environ), 0);
	EXPECT_EQ(wait_for(pid), 200 - 100);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--percent"))
		return f_percent() - percent();
	return test_harness_run(argc, argv);
}
