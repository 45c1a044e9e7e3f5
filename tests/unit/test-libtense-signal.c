// SPDX-License-Identifier: GPL-2.0
/*
 * libtense interrupted by a signal handler that uses it as well, after each
 * single instruction. Compiled as it is shipped: without sanitizers.
 */
#include <signal.h>
#include <ucontext.h>

#include "fake-area.h"
#include "in-child.h"

#ifdef __x86_64__

#define TRAP_FLAG 0x100

static struct {
	void (*handler)(void);
	unsigned int left;	/* instructions until it runs */
	bool ran;
} step;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	if (--step.left)
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	step.ran = true;
	step.handler();
}

static inline __attribute__((always_inline)) void trap(bool on)
{
	/* Below what the compiler may have under the stack pointer. */
	if (on)
		asm volatile("lea -128(%%rsp), %%rsp; pushfq;"
			     "orq $0x100, (%%rsp); popfq;"
			     "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
	else
		asm volatile("lea -128(%%rsp), %%rsp; pushfq;"
			     "andq $~0x100, (%%rsp); popfq;"
			     "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
}

/*
 * Runs op with a handler after its first instruction, then after one that is
 * stride later, and so on.
 */
static unsigned int interrupt(unsigned int stride, void (*op)(void),
			      void (*handler)(void), void (*after)(void))
{
	struct sigaction action = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO,
	};
	unsigned int n = 1, times = 0;

	sigaction(SIGTRAP, &action, NULL);
	step.handler = handler;
	do {
		step.ran = false;
		step.left = n;
		trap(true);
		op();
		trap(false);
		if (after)
			after();
		n += stride;
		times++;
	} while (step.ran);
	return times;
}

static unsigned int runs, handled, failed;
static struct fake_area *shown;

static void op_span(void)
{
	struct tense_span s;
	unsigned int slow = 0;

	runs++;
	failed += enter(&s, 50, 1, &slow) != 0;
	failed += leave(&s, &slow) != 0;
	failed += slow != 0;
}

static void span_in_handler(void)
{
	struct tense_span s;
	unsigned int slow = 0;

	handled++;
	failed += enter(&s, 400, 2, &slow) != 0;
	failed += leave(&s, &slow) != 0;
}

static void percent_is_back(void)
{
	failed += fake_percent() != 100 || fake_area()->slot || fake.broken;
}

static void interrupted_push(void)
{
	unsigned int n;

	clock_of(50);
	n = interrupt(1, op_span, span_in_handler, percent_is_back);
	ok(n > 50, "a span in a handler after each of %u instructions", n);
	is_i64(failed, 0, "of a span leaves the percent right");
	is_i64(fake.calls[1], runs, "no call is lost");
	ok(fake.calls[2] <= handled && fake.calls[2] > handled / 4,
	   "nor are the handler's, but for those on top of a change");
}

static void op_scale(void)
{
	failed += tense_scale_percent(50) != 0;
	failed += tense_scale_pop() != 0;
}

static void scale_in_handler(void)
{
	uint64_t ns;

	failed += tense_scale_percent(25) != 0;
	failed += tense_time_ns(&ns) != 0;
	failed += tense_scale_pop() != 0;
}

static void interrupted_scale(void)
{
	unsigned int n;

	clock_of(6);
	n = interrupt(1, op_scale, scale_in_handler, percent_is_back);
	ok(n > 50, "a percent in a handler after each of %u instructions", n);
	is_i64(failed, 0, "of another leaves the percent right");
}

static int64_t reading;
static uint64_t earliest;

static void op_read(void)
{
	earliest = time_at(shown, tense_area_counter());
	reading = tense_page_now();
}

static void read_in_handler(void)
{
	struct tense_span s;

	failed += __tense_span_begin(&s, 400 * TENSE_FINE, 2, 0) != 0;
	failed += !clock_is_right(shown);
	failed += __tense_span_end(&s, 0) != 0;
}

static void reading_is_right(void)
{
	uint64_t latest = time_at(shown, tense_area_counter());

	failed += reading < 0 || (uint64_t)reading + 1 < earliest ||
		  (uint64_t)reading > latest;
	failed += !clock_is_right(shown);
	if (shown->ring->head - shown->clock->tail > 100)
		show(1000, 1ULL << 32, fake_percent());
}

static void interrupted_reading(void)
{
	unsigned int n;

	shown = clock_of(50);
	n = interrupt(1, op_read, read_in_handler, reading_is_right);
	ok(n > 50, "a reading in a handler after each of %u instructions", n);
	is_i64(failed, 0, "of another: both are right");
}

/* Joins and leaves, so that areas are mapped and unmapped. */
static void op_map(void)
{
	failed += tense_init() != 0;
	failed += tense_scale_percent(50) != 0;
	failed += tense_destroy() != 0;
}

/* The fake device's lock may be held: nothing that calls it. */
static void fast_in_handler(void)
{
	struct tense_span s;
	int err = __tense_span_begin(&s, 400 * TENSE_FINE, 2, 0);

	failed += err && err != -EAGAIN;
	if (!err && __tense_span_end(&s, 0))
		failed += __tense_span_end_slow(&s, 0) != 0;
	(void)tense_page_now();
}

static void interrupted_mapping(void)
{
	unsigned int n;

	fake.map_error = 0;
	n = interrupt(397, op_map, fast_in_handler, NULL);
	ok(n > 10, "a handler at each of %u instructions", n);
	is_i64(failed, 0, "of joining, mapping and leaving finds no half of it");
	ok(fake.mapped <= 2, "and nothing is mapped twice");
	is_i64(fake.broken, 0, "nor a rule broken");
}

int main(void)
{
	in_child("interrupted_push", interrupted_push);
	in_child("interrupted_scale", interrupted_scale);
	in_child("interrupted_reading", interrupted_reading);
	in_child("interrupted_mapping", interrupted_mapping);
	return done();
}

#else

int main(void)
{
	skip("no single steps on this machine");
	return done();
}

#endif
