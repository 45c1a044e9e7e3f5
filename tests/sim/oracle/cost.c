// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "calls.h"
#include "cost.h"
#include "generate.h"
#include "memory.h"
#include "sort.h"
#include "trial.h"

#define ROUNDS		15
#define ADVANCES	200000

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * ns of a charge that makes GVT go on, as each one does here: all CPUs are
 * active, one ns apart, and the last one takes the lead.
 */
static double advance_ns(struct calls *c)
{
	unsigned int cpu = 0;
	double before;

	before = seconds();
	for (int i = 0; i < ADVANCES; i++) {
		vclock_charge(&c->s.vc, &c->s.task[cpu].v, c->s.cpus);
		if (++cpu == c->s.cpus)
			cpu = 0;
	}
	return (seconds() - before) / ADVANCES * 1e9;
}

static void make_active(struct calls *c, unsigned int cpus)
{
	calls_init(c, cpus, cpus, 100000000, false);
	for (unsigned int k = 0; k < cpus; k++) {
		call(c, CALL_INIT, (int)k, 100);
		call(c, CALL_JOIN, (int)k, k);
	}
	for (unsigned int k = 0; k < cpus; k++)
		call(c, CALL_CHARGE, (int)k, k);
}

/* The two take turns, so that they have the same machine. */
static void print_advance(void)
{
	struct calls few = { 0 }, many = { 0 };
	double of_few[ROUNDS], of_many[ROUNDS], ratio[ROUNDS];

	make_active(&few, 4);
	make_active(&many, 4096);
	for (int i = 0; i < ROUNDS; i++) {
		of_few[i] = advance_ns(&few);
		of_many[i] = advance_ns(&many);
		ratio[i] = of_many[i] / of_few[i];
	}
	calls_free(&few);
	calls_free(&many);
	printf("a charge that advances GVT: %.0f ns on 4 CPUs, %.0f ns on 4096: ratio %.2f (required: at most 4)\n",
	       median_of(of_few, ROUNDS), median_of(of_many, ROUNDS),
	       median_of(ratio, ROUNDS));
}

static void print_run(uint32_t cpus, unsigned int programs)
{
	struct trial t = { .mode = { .timed = true } };
	double virtual, real;

	for (unsigned int seed = 1; seed <= programs; seed++) {
		struct program p;

		generate(&p, seed, STYLE_FLOW, cpus);
		if (trial_run(&t, &p) != TRIAL_GOOD)
			printf("seed %u fails: %s\n", seed, t.why);
		program_free(&p);
	}
	virtual = (double)t.counts.virtual_ns / 1e9;
	real = (double)t.counts.calls_ns / 1e9;
	printf("%4u CPUs: %.3f ms of vclock.c for a second of virtual time, %.1f us a CPU, %.0f ns a call, %.1f calls an operation\n",
	       cpus, real / virtual * 1e3, real / virtual / cpus * 1e6,
	       real / (double)t.counts.calls * 1e9,
	       (double)t.counts.calls / (double)t.operations);
	report_free(&t.exact);
	report_free(&t.given);
}

int cost_print(void)
{
	print_advance();
	print_run(1, 200);
	print_run(4, 200);
	print_run(64, 20);
	print_run(4096, 1);
	return 0;
}
