// SPDX-License-Identifier: GPL-2.0
/*
 * sim: random programs in virtual time, checked at every step. Without
 * options, the schedules that `make check` runs.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "tap.h"

static const char usage[] =
	"usage: sim [--seed S] [--cpus N] [--steps M] [--schedules K] [--verbose]\n"
	"\n"
	"  --seed S       of the first schedule; the next ones count up (1)\n"
	"  --cpus N       1 to 4096 (4)\n"
	"  --steps M      of each schedule, before its tasks exit (1000)\n"
	"  --schedules K  how many (1)\n"
	"  --verbose      tell what happens\n"
	"\n"
	"Without options: the schedules of `make check`.\n";

#define CPUS_MAX	4096

_Noreturn void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	printf("# seed %llu, step %llu: ", (unsigned long long)s->seed,
	       (unsigned long long)s->step);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n# replay: sim --seed %llu --cpus %u --steps %llu --verbose\n",
	       (unsigned long long)s->seed, s->cpus,
	       (unsigned long long)s->steps);
	longjmp(s->failed, 1);
}

static void run(struct sim *s)
{
	unsigned int first;

	machine_init(s);
	/* Half of the schedules are pure: a few actions, many times. */
	s->mix = (unsigned int)rng_next(&s->rng);
	if (rng_chance(&s->rng, 50))
		s->mix &= (unsigned int)rng_next(&s->rng);
	first = 1 + (unsigned int)rng_below(&s->rng, s->cpus + 1);
	for (unsigned int i = 0; i < first; i++)
		action_start(s, NONE, i % s->cpus);
	while (s->step < s->steps && machine_step(s))
		check_step(s);
	s->draining = true;
	while (machine_step(s)) {
		check_step(s);
		/* Each of them has at most some gates and waits before it. */
		if (s->step > s->steps + 1000 + 100 * (uint64_t)s->tasks)
			sim_fail(s, "stall: %u tasks do not come to their end",
				 s->alive);
	}
	check_end(s);
}

/* True if the schedule of this seed kept every rule. Adds up what it had. */
static bool sim_run(uint64_t seed, unsigned int cpus, uint64_t steps,
		    bool verbose, struct sim *sum)
{
	struct sim s = {
		.seed = seed, .cpus = cpus, .tasks = 2 * cpus + 6,
		.steps = steps, .apart = 100,
		.verbose = verbose, .rng = { seed * 4099 + cpus },
	};
	struct sim *volatile sp = &s;
	volatile bool good = false;

	sim_alloc(&s);
	if (!setjmp(s.failed)) {
		run(sp);
		good = true;
	}
	sum->ops += sp->ops;
	sum->fired += sp->fired;
	sum->gates += sp->gates;
	sum->held += sp->held;
	sum->skips += sp->skips;
	sum->outside += sp->outside;
	sim_free(sp);
	return good;
}

static void group(uint64_t seed, unsigned int cpus, uint64_t steps,
		  unsigned int schedules, bool verbose)
{
	struct sim sum = { 0 };
	unsigned int good = 0;

	/* The first that fails says enough. */
	while (good < schedules &&
	       sim_run(seed + good, cpus, steps, verbose, &sum))
		good++;
	ok(good == schedules,
	   "%u CPU%s, %u schedules of %llu steps, seeds from %llu", cpus,
	   cpus > 1 ? "s" : "", schedules, (unsigned long long)steps, (unsigned long long)seed);
	printf("# %llu changes: %llu deadlines, %llu gates, %llu waits for outside (%llu held), %llu skips\n",
	       (unsigned long long)sum.ops, (unsigned long long)sum.fired,
	       (unsigned long long)sum.gates, (unsigned long long)sum.outside,
	       (unsigned long long)sum.held, (unsigned long long)sum.skips);
	fflush(stdout);
}

static void check_all_sizes(void)
{
	static const struct {
		unsigned int cpus, schedules, steps;
	} plan[] = {
		{ 1, 1500, 300 }, { 2, 1500, 300 }, { 3, 800, 300 },
		{ 4, 400, 1000 }, { 8, 200, 1000 }, { 61, 20, 2000 },
		{ 256, 4, 3000 }, { 4096, 2, 6000 },
	};

	for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
		group(1, plan[i].cpus, plan[i].steps, plan[i].schedules,
		      false);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "steps", required_argument, NULL, 'm' },
		{ "schedules", required_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t seed = 1, cpus = 4, steps = 1000, schedules = 1;
	bool verbose = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			seed = sim_number(optarg, "seed", UINT64_MAX);
			break;
		case 'c':
			cpus = sim_number(optarg, "cpus", CPUS_MAX);
			break;
		case 'm':
			steps = sim_number(optarg, "steps", UINT32_MAX);
			break;
		case 'k':
			schedules = sim_number(optarg, "schedules", UINT32_MAX);
			break;
		case 'v':
			verbose = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc || !cpus || !schedules) {
		fputs(usage, stderr);
		return 2;
	}
	if (argc == 1)
		check_all_sizes();
	else
		group(seed, (unsigned int)cpus, steps, (unsigned int)schedules,
		      verbose);
	return done();
}
