// SPDX-License-Identifier: LGPL-2.1-or-later
#include "functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>

#include "redirect/host.h"
#include "api/span.h"
#include "redirect/stub.h"
#include "stub-mark.h"

/* The file lies beside this library, where RUNPATH leads. */
#define LIBRARY "libtense-redirect.so.0"

static const struct redirect *redirect;

/* CALLS calls in each of ROUNDS rounds; LIMIT ticks in all on slow machines. */
#define ROUNDS		100
#define CALLS		16
#define LIMIT		100000000

#define REAL (TENSE_PERCENT_REAL * TENSE_FINE)

/*
 * Functions that do next to nothing. Their entries are not overwritten: callers
 * call the stubs instead. They are long enough to be overwritten.
 */
void functions_empty(void);
extern const char functions_empty_end[];
__asm__(".text\n"
	".balign 16\n"
	".globl functions_empty\n"
	".hidden functions_empty\n"
	".type functions_empty, @function\n"
	"functions_empty:\n"
	"	.cfi_startproc\n"
	"	nopl 0(%rax,%rax)\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size functions_empty, . - functions_empty\n"
	".globl functions_empty_end\n"
	".hidden functions_empty_end\n"
	"functions_empty_end:\n");

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	/* libc's function shows virtual time. */
	syscall(SYS_clock_gettime, clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Returns the ticks that CALLS calls take. */
__attribute__((noinline)) static uint32_t time_calls(void (*call)(void))
{
	uint64_t start = __builtin_ia32_rdtsc();
	int i;

	for (i = 0; i < CALLS; i++) {
		call();
		__asm__ volatile("" : "+r"(call));
	}
	return __builtin_ia32_rdtsc() - start;
}

static uint32_t median(uint32_t *values, int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/* Returns the ticks between the entry and exit records of the last call. */
static uint32_t time_inside(void)
{
	return __tense_span_stamp(0) - __tense_span_stamp(1);
}

struct call_cost {
	unsigned int call;	/* ticks that a stub adds to a call */
	unsigned int inside;	/* ticks between the stub's two stamps */
};

/* Uses medians, because an interrupt or a full ring may delay a call. */
static struct call_cost measure_both(void (*stub)(void))
{
	static uint32_t with[ROUNDS], without[ROUNDS], inside[ROUNDS];
	uint64_t start = __builtin_ia32_rdtsc();
	struct call_cost cost = { 0 };
	int rounds = 0, difference;

	while (rounds < ROUNDS &&
	       (rounds < 20 || __builtin_ia32_rdtsc() - start < LIMIT)) {
		without[rounds] = time_calls(functions_empty);
		with[rounds] = time_calls(stub);
		inside[rounds++] = time_inside();
	}
	difference = (int)(median(with, rounds) - median(without, rounds)) /
		     CALLS;
	cost.call = difference > 0 ? difference : 1;
	cost.inside = median(inside, rounds);
	if (cost.inside > cost.call)
		cost.inside = cost.call;
	return cost;
}

static unsigned int measure(void (*stub)(void))
{
	return measure_both(stub).call;
}

/* The kernel books these slots to slot 0; the stubs tell them apart. */
#define SLOT_OUTER	(TENSE_SLOTS + 1)
#define SLOT_INNER	(TENSE_SLOTS + 2)

static const struct tense_stub outer_stub = {
	.percent = REAL, .slot = SLOT_OUTER,
};

static const struct tense_stub inner_stub = {
	.percent = REAL, .slot = SLOT_INNER,
};

/* Measures a recursive call: the thread is in this function and in no other. */
static unsigned int measure_count(void (*stub)(void))
{
	return tense_stub_inside(&inner_stub, measure, stub);
}

/* A record has 16 bits for ticks. */
static unsigned int limit(unsigned int ticks)
{
	return ticks < UINT16_MAX ? ticks : UINT16_MAX;
}

static unsigned int beyond(unsigned int more, unsigned int less)
{
	return more > less ? more - less : 0;
}

/*
 * The program's calls cost as much as these, because the work of a stub depends
 * neither on the percent nor on the slot. It does depend on how many scaled
 * functions the thread is in, so each level adds its own cost.
 */
static struct tense_stub_cost measure_stubs(void (*call)(void))
{
	struct call_cost pair = measure_both(call);
	unsigned int deep = tense_stub_inside(&outer_stub, measure, call);
	struct tense_stub_cost cost = {
		.enter = limit(pair.call - pair.inside),
		.leave = limit(pair.inside),
		.enter_level = beyond(deep, pair.call),
		.count = measure_count(call),
	};

	deep = tense_stub_inside(&outer_stub, measure_count, call);
	cost.count_level = beyond(deep, cost.count);
	return cost;
}

static void calibrate(void)
{
	uintptr_t size = (uintptr_t)functions_empty_end -
			 (uintptr_t)functions_empty;
	struct tense_stub_cost cost;
	void (*call)(void);
	unsigned int pair;
	uintptr_t thunk;

	if (redirect->probe((uintptr_t)functions_empty, size, &inner_stub,
			    &thunk))
		return;
	memcpy(&call, &thunk, sizeof(call));
	tense_stub_hold(false);
	cost = measure_stubs(call);
	tense_stub_hold(true);
	tense_stub_cost = cost;
	pair = cost.enter + cost.leave;
	/* No clock can tell: all are virtual, and none of them counts this cost. */
	redirect->log_cost(pair * (__tense_span_rate() / 4294967296.0), pair);
}

/*
 * R13: the search for functions takes ms, and the program must not pay for it. So
 * the search runs at the highest percent. A later refund would come too late for
 * a process that ends, or creates others, before it has run as long itself.
 */
struct aside {
	struct tense_span before;
	uint64_t since;
	int error;
};

/* error: the thread is in no experiment, so that no percent applies. */
static void step_aside(struct aside *aside, int error)
{
	aside->error = error;
	aside->since = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void step_back(const struct aside *aside)
{
	if (aside->error)
		return;
	/* CPU time is virtual, too: it is this much shorter than real time. */
	if (redirect)
		redirect->log_start((clock_ns(CLOCK_THREAD_CPUTIME_ID) -
				     aside->since) *
				    (TENSE_PERCENT_MAX / TENSE_PERCENT_REAL));
	__tense_span_end_slow(&aside->before, 0);
}

/*
 * The loader calls this while it holds its lock. So the thread must not be cancelled in here,
 * and the loader's caller must not see an error of ours.
 */
static void changed(void)
{
	int cancelled, saved = errno;
	struct aside aside;
	int error;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	error = __tense_span_begin_slow(&aside.before,
					TENSE_PERCENT_MAX * TENSE_FINE, 0, 0);
	step_aside(&aside, error);
	if (redirect->scan(false) && !tense_stub_cost.enter)
		calibrate();
	step_back(&aside);
	pthread_setcancelstate(cancelled, NULL);
	errno = saved;
}

static void start(const char *text, bool in_experiment)
{
	static const void *const ours[] = {
		start, __tense_span_begin, NULL,
	};
	static struct redirect_host host = {
		.entry = tense_stub_entry,
		.changed = changed,
		.ours = ours,
	};
	__typeof__(&tense_redirect) init = NULL;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *reason;

	if (library)
		*(void **)&init = dlsym(library, REDIRECT_INIT);
	if (!init) {
		dprintf(STDERR_FILENO, "libtense-functions: %s\n", dlerror());
		return;
	}
	redirect = init(&host);
	if (!redirect || !redirect->parse(text))
		return;
	reason = redirect->marks() ? tense_stub_mark_init() : NULL;
	if (reason)
		dprintf(STDERR_FILENO,
			"libtense-functions: calls cannot be marked: %s\n",
			reason);
	if (!in_experiment)
		host.reason = "the process is in no experiment";
	if (redirect->scan(true))
		calibrate();
	reason = redirect->watch();
	if (reason)
		dprintf(STDERR_FILENO, "libtense-functions: functions of "
			"libraries that are opened later are not found: %s\n",
			reason);
}

__attribute__((constructor)) static void functions_init(void)
{
	const char *text = getenv("TENSE_FUNCTIONS");
	struct aside aside;
	int saved = errno;

	if (!text || !*text) {
		functions_calls_init();
		return;
	}
	step_aside(&aside, __tense_span_rush(&aside.before));
	functions_calls_init();
	tense_stub_init();
	tense_stub_hold(true);
	start(text, !aside.error);
	step_back(&aside);
	tense_stub_hold(false);
	errno = saved;
}
