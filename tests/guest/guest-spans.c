// SPDX-License-Identifier: GPL-2.0
/*
 * libtense by the ring of a real kernel: spans, percents and clocks without
 * system calls. Run as a user in an experiment, with libtense preloaded.
 */
#include "guest.h"

#include <pthread.h>

#include <tense.h>

#include "harness.h"
#include "api/span.h"

#define SPANS 5000

/* In percent, as the stubs of functions do it. */
static int enter(struct tense_span *before, unsigned int percent, int slot)
{
	int err = __tense_span_begin(before, percent * TENSE_FINE, slot, 0);

	return err != -EAGAIN ? err :
		__tense_span_begin_slow(before, percent * TENSE_FINE, slot, 0);
}

static int leave(const struct tense_span *before)
{
	int err = __tense_span_end(before, 0);

	return err != -EAGAIN ? err : __tense_span_end_slow(before, 0);
}

static int count(int slot)
{
	int err = __tense_span_count(slot, 0);

	return err != -EAGAIN ? err : __tense_span_count_slow(slot, 0);
}

static int many_spans(int slot)
{
	struct tense_span outer, inner;
	int errors = 0;

	for (int i = 0; i < SPANS; i++) {
		errors += enter(&outer, 150 + i % 50, slot) != 0;
		if (i % 5 == 0) {
			errors += enter(&inner, 50, slot + 1) != 0;
			errors += count(slot + 2) != 0;
			errors += leave(&inner) != 0;
		}
		errors += leave(&outer) != 0;
	}
	return errors;
}

TEST(spans_are_counted)
{
	struct tense_stats before = my_stats(), after;

	EXPECT_EQ(many_spans(1), 0);
	after = my_stats();
	EXPECT_EQ(after.slot[1].calls - before.slot[1].calls, SPANS);
	EXPECT_EQ(after.slot[2].calls - before.slot[2].calls, SPANS / 5);
	EXPECT_EQ(after.slot[3].calls - before.slot[3].calls, SPANS / 5);
	EXPECT_EQ(after.slot[3].ran, before.slot[3].ran);
	EXPECT_EQ(after.percent, 100);
	EXPECT_EQ(tense_health_check(), 0);
}

static void *spans_of_a_thread(void *arg)
{
	intptr_t errors = many_spans(*(int *)arg);

	errors += my_stats().percent != 100;
	return (void *)errors;
}

TEST(threads_count_their_own)
{
	int slots[4] = { 4, 7, 10, 13 };
	struct tense_stats before = my_stats(), after;
	pthread_t threads[4];
	void *errors;

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(pthread_create(&threads[i], NULL, spans_of_a_thread,
					 &slots[i]), 0);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(pthread_join(threads[i], &errors), 0);
		EXPECT_EQ(errors, NULL);
	}
	after = my_stats();
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(after.slot[slots[i]].calls -
			  before.slot[slots[i]].calls, SPANS);
}

TEST(percents_multiply_and_come_back)
{
	struct tense_span a, b;

	ASSERT_EQ(tense_scale_percent(200), 0);
	ASSERT_EQ(enter(&a, 150, 1), 0);
	EXPECT_EQ(my_stats().percent, 300);
	ASSERT_EQ(tense_scale_percent(50), 0);
	EXPECT_EQ(my_stats().percent, 150);
	ASSERT_EQ(enter(&b, 10, 2), 0);
	EXPECT_EQ(my_stats().percent, 15);
	ASSERT_EQ(tense_scale_pop(), 0);
	EXPECT_EQ(my_stats().percent, 30);
	/* Out of both at once. */
	ASSERT_EQ(leave(&a), 0);
	EXPECT_EQ(my_stats().percent, 200);
	ASSERT_EQ(tense_scale_pop(), 0);
	EXPECT_EQ(my_stats().percent, 100);
	EXPECT_EQ(tense_health_check(), 0);
}

TEST(children_go_on_by_themselves)
{
	struct tense_span a;
	pid_t child;

	ASSERT_EQ(tense_scale_percent(200), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		int bad = my_stats().percent != 200;

		bad += enter(&a, 300, 1) != 0 || my_stats().percent != 600;
		bad += leave(&a) != 0 || my_stats().percent != 200;
		bad += tense_scale_pop() != 0 || my_stats().percent != 100;
		_exit(bad);
	}
	EXPECT_EQ(outcome_of(child), 0);
	EXPECT_EQ(my_stats().percent, 200);
	ASSERT_EQ(tense_scale_pop(), 0);
	EXPECT_EQ(my_stats().percent, 100);
}

#ifdef __x86_64__
/* The stubs do not save the vector registers. */
TEST(vector_registers_stay)
{
	uint64_t in[16][2], out[16][2];
	struct tense_span s;
	long (*volatile calls[])(void *, long, long, long) = {
		(void *)__tense_span_begin, (void *)__tense_span_end,
		(void *)__tense_span_count,
	};
	const long percent = 150 * TENSE_FINE;

	ASSERT_EQ(enter(&s, 100, 1), 0);
	ASSERT_EQ(leave(&s), 0);
	for (int i = 0; i < 32; i++)
		in[i / 2][i % 2] = 0x0101010101010101 * (i + 1);
	for (int round = 0; round < 300; round++) {
		int which = round % 3;
		long first = which == 2 ? 5 : (long)&s, ret;

#define LOAD(n) "movdqu " #n "*16(%[in]), %%xmm" #n ";"
#define STORE(n) "movdqu %%xmm" #n ", " #n "*16(%[out]);"
#define ALL(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) \
	m(8) m(9) m(10) m(11) m(12) m(13) m(14) m(15)
		asm volatile(ALL(LOAD)
			     "mov %%rsp, %%r14; and $-16, %%rsp; sub $256, %%rsp;"
			     "call *%[call]; mov %%r14, %%rsp;"
			     ALL(STORE)
			     : "=a"(ret)
			     : [call] "r"(calls[which]), [in] "r"(in),
			       [out] "r"(out), "D"(first),
			       "S"(which == 0 ? percent : 1L), "d"(1L), "c"(0L)
			     : "memory", "cc", "r8", "r9", "r10", "r11", "r14",
			       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
		ASSERT_EQ((int)ret, 0);
		ASSERT_EQ(memcmp(in, out, sizeof(in)), 0);
	}
	EXPECT_EQ(my_stats().percent, 100);
}
#endif

TEST(clock_never_runs_backwards)
{
	uint64_t now, last = 0;
	struct timespec ts;
	int64_t before = 0;

	for (int i = 0; i < 100000; i++) {
		if (i % 100 == 0)
			ASSERT_EQ(tense_scale_percent(i % 300 ? 1000 : 20), 0);
		if (i % 100 == 50)
			ASSERT_EQ(tense_scale_pop(), 0);
		if (i % 1000 == 7)
			ASSERT_EQ(tense_sleep_ns(20000), 0);
		if (i % 3000 == 9)
			ASSERT_EQ(tense_move_ns(i % 2 ? 5000 : -5000), 0);
		ASSERT_EQ(tense_time_ns(&now), 0);
		ASSERT_GE(now, last);
		last = now;
		/* And the one of the libc, which is the same. */
		if (i % 10 == 0) {
			clock_gettime(CLOCK_MONOTONIC, &ts);
			ASSERT_GE(ts.tv_sec * S + ts.tv_nsec, before);
			before = ts.tv_sec * S + ts.tv_nsec;
		}
	}
	EXPECT_EQ(my_stats().percent, 100);
}

TEST(sleeps_are_never_early)
{
	for (int i = 0; i < 300; i++) {
		int64_t until = clock_ns(CLOCK_MONOTONIC) + 1000 * (i % 100);
		struct timespec ts = { until / S, until % S };
		uint64_t from, to;

		ASSERT_EQ(tense_scale_percent(i % 3 ? 400 : 30), 0);
		ASSERT_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts,
					  NULL), 0);
		ASSERT_GE(clock_ns(CLOCK_MONOTONIC), until);
		ASSERT_EQ(tense_time_ns(&from), 0);
		ASSERT_EQ(tense_sleep_ns(700 * (i % 50)), 0);
		ASSERT_EQ(tense_time_ns(&to), 0);
		ASSERT_GE(to - from, 700 * (i % 50));
		ASSERT_EQ(tense_scale_pop(), 0);
	}
}

/* Interrupted by one that uses libtense as well. */
static volatile int ticks, tick_errors;

static void on_tick(int sig)
{
	struct tense_span s;
	uint64_t ns;
	int saved = errno;

	(void)sig;
	ticks++;
	tick_errors += enter(&s, 500, 9) != 0;
	tick_errors += tense_time_ns(&ns) != 0;
	tick_errors += leave(&s) != 0;
	errno = saved;
}

TEST(signals_come_in_between)
{
	struct tense_stats before = my_stats(), after;
	struct sigaction action = { .sa_handler = on_tick };
	pid_t parent = getpid(), child;
	volatile int *stop = shared(4096);
	int rounds = 0;

	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		while (!*stop) {
			kill(parent, SIGUSR1);
			usleep(300);
		}
		_exit(0);
	}
	for (; rounds < 20 || ticks < 50; rounds++)
		EXPECT_EQ(many_spans(1), 0);
	*stop = 1;
	waitpid(child, NULL, 0);
	after = my_stats();
	EXPECT_EQ(tick_errors, 0);
	EXPECT_EQ(after.percent, 100);
	EXPECT_EQ(after.slot[1].calls - before.slot[1].calls, rounds * SPANS);
	EXPECT_GT(after.slot[9].calls, before.slot[9].calls);
	EXPECT_LE(after.slot[9].calls - before.slot[9].calls, ticks);
	EXPECT_EQ(tense_health_check(), 0);
}

TEST_HARNESS_MAIN
