// SPDX-License-Identifier: GPL-2.0
/*
 * oracle: generated programs in virtual time, on simulated machines, compared
 * with their exact schedule. Without options, what `make check` runs.
 */
#include <getopt.h>
#include <string.h>
#include <sys/random.h>

#include "cost.h"
#include "generate.h"
#include "memory.h"
#include "shrink.h"
#include "sim.h"
#include "tap.h"

static const char usage[] =
	"usage: oracle [--seed S] [--style NAME] [--cpus N] [--programs K] [--verbose]\n"
	"       oracle --program FILE [--shrink] [--verbose]\n"
	"       oracle --cost\n"
	"\n"
	"  --seed S        of the first program; the next ones count up (random)\n"
	"  --style NAME    flow, spaced or crowd (flow)\n"
	"  --cpus N        1 to 4096 (4)\n"
	"  --programs K    how many (1)\n"
	"  --program FILE  this one, as it is printed when one fails; - is stdin\n"
	"  --shrink        make it smaller if it fails\n"
	"  --print         print the programs\n"
	"  --verbose       tell what happens\n"
	"  --cost          what the calls of vclock.c cost\n"
	"\n"
	"Without options, or with --seed only: the programs of `make check`.\n";

/* More are checked by their results alone: the model would take minutes. */
#define CHECKED_CPUS_MAX	64

struct options {
	uint64_t seed, cpus, programs;
	const char *style, *program;
	bool verbose, print, shrink, cost, plan;
};

static struct mode mode_of(const struct options *o, uint64_t cpus)
{
	return (struct mode) {
		.checked = cpus <= CHECKED_CPUS_MAX,
		.verbose = o->verbose,
	};
}

static void print_program(const struct program *p)
{
	/* As comments of TAP; --program skips what is before a bar. */
	char *text, *line, *rest;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return;
	program_print(p, to);
	fclose(to);
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		printf("# | %s\n", line);
	free(text);
}

static void tell_failure(struct program *p, const struct trial *t,
			 enum verdict verdict, bool smaller)
{
	struct trial again = { .mode = t->mode };

	printf("# %s\n", verdict == TRIAL_SENSELESS ?
	       "the program itself deadlocks" : t->why);
	if (verdict == TRIAL_BAD && smaller) {
		shrink(p, t->mode);
		again.mode.verbose = false;
		if (trial_run(&again, p) == TRIAL_BAD)
			printf("# smaller: %s\n", again.why);
		report_free(&again.exact);
		report_free(&again.given);
	}
	print_program(p);
	printf("# replay: oracle --verbose --program FILE\n");
}

static bool run_one(struct trial *t, uint64_t seed, enum style style,
		    uint64_t cpus, bool print)
{
	struct program p;
	const char *fault;
	enum verdict verdict;

	generate(&p, seed, style, (uint32_t)cpus);
	fault = program_fault(&p);
	if (print)
		print_program(&p);
	if (fault) {
		printf("# seed %llu: %s\n", (unsigned long long)seed, fault);
		program_free(&p);
		return false;
	}
	verdict = trial_run(t, &p);
	if (verdict != TRIAL_GOOD) {
		printf("# seed %llu: oracle --seed %llu --style %s --cpus %llu --programs 1\n",
		       (unsigned long long)seed, (unsigned long long)seed,
		       style_name[style], (unsigned long long)cpus);
		tell_failure(&p, t, verdict, true);
	}
	program_free(&p);
	return verdict == TRIAL_GOOD;
}

/* Adds to what @all tells of the errors. */
static void group(const struct options *o, uint64_t seed, enum style style,
		  uint64_t cpus, uint64_t programs, struct trial *all)
{
	struct trial t = {
		.mode = mode_of(o, cpus),
		.exact = all->exact, .given = all->given,
	};
	uint64_t good = 0;

	/* The first that fails says enough. */
	while (good < programs &&
	       run_one(&t, seed + good, style, cpus, o->print))
		good++;
	ok(good == programs,
	   "%s on %llu CPU%s: each operation ends within its bounds",
	   style_name[style], (unsigned long long)cpus, cpus > 1 ? "s" : "");
	printf("# %u programs, %u determinate, %llu operations; %llu charges, %llu gates, %llu deadlines, %llu waits for outside\n",
	       t.programs, t.determinate, (unsigned long long)t.operations,
	       (unsigned long long)t.counts.charges,
	       (unsigned long long)t.counts.gates,
	       (unsigned long long)t.counts.deadlines,
	       (unsigned long long)t.counts.outside);
	fflush(stdout);
	all->determinate += t.determinate;
	all->counts.gates += t.counts.gates;
	all->exact = t.exact;
	all->given = t.given;
}

static void print_errors(struct trial *all)
{
	report_print(&all->exact,
		     "determinate programs, against the exact schedule");
	report_print(&all->given,
		     "the others, given who came first on the machine");
	report_free(&all->exact);
	report_free(&all->given);
}

/* `make check` runs this plan. */
static void run_plan(const struct options *o)
{
	static const struct {
		uint32_t cpus, programs[STYLES];
	} plan[] = {
		{ 1, { 150, 150, 150 } }, { 2, { 800, 200, 400 } },
		{ 3, { 600, 200, 300 } }, { 4, { 600, 150, 300 } },
		{ 8, { 400, 100, 200 } }, { 61, { 30, 10, 20 } },
		{ 512, { 4, 1, 2 } }, { 4096, { 1, 0, 1 } },
	};
	struct trial all = { 0 };
	uint64_t seed = o->seed;

	printf("# seed %llu\n", (unsigned long long)seed);
	for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++) {
		for (int style = 0; style < STYLES; style++) {
			uint32_t programs = plan[i].programs[style];

			if (programs)
				group(o, seed, style, plan[i].cpus, programs,
				      &all);
			seed += programs;
		}
	}
	/* Else nothing above says anything. */
	ok(all.determinate && all.counts.gates,
	   "some programs are determinate, and some tasks are gated");
	print_errors(&all);
}

static int run_file(const struct options *o)
{
	FILE *from = strcmp(o->program, "-") ? fopen(o->program, "r") : stdin;
	enum verdict verdict;
	struct program p;
	struct trial t;
	bool read;

	if (!from) {
		fprintf(stderr, "oracle: cannot open %s\n", o->program);
		return 2;
	}
	read = program_read(&p, from, o->program);
	if (from != stdin)
		fclose(from);
	if (!read) {
		program_free(&p);
		return 2;
	}
	t = (struct trial) { .mode = mode_of(o, p.setup.cpus) };
	verdict = trial_run(&t, &p);
	if (verdict != TRIAL_GOOD)
		tell_failure(&p, &t, verdict, o->shrink);
	ok(verdict == TRIAL_GOOD, "each operation of %s ends within its bounds",
	   o->program);
	if (verdict == TRIAL_GOOD)
		printf("# it is %sdeterminate\n", t.determinate ? "" : "not ");
	print_errors(&t);
	program_free(&p);
	return done();
}

static int style_of(const char *name)
{
	for (int style = 0; style < STYLES; style++)
		if (name && !strcmp(style_name[style], name))
			return style;
	fprintf(stderr, "oracle: --style takes flow, spaced or crowd, not '%s'\n",
		name);
	exit(2);
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "style", required_argument, NULL, 't' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "programs", required_argument, NULL, 'k' },
		{ "program", required_argument, NULL, 'f' },
		{ "shrink", no_argument, NULL, 'm' },
		{ "print", no_argument, NULL, 'p' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "cost", no_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 's')
			o->plan = false;
		switch (c) {
		case 's':
			o->seed = sim_number(optarg, "seed", UINT64_MAX);
			break;
		case 't':
			o->style = optarg;
			break;
		case 'c':
			o->cpus = sim_number(optarg, "cpus", CPUS_MAX);
			break;
		case 'k':
			o->programs = sim_number(optarg, "programs", UINT32_MAX);
			break;
		case 'f':
			o->program = optarg;
			break;
		case 'm':
			o->shrink = true;
			break;
		case 'p':
			o->print = true;
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'x':
			o->cost = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind < argc || !o->cpus || !o->programs) {
		fputs(usage, stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options o = {
		.cpus = 4, .programs = 1, .style = "flow", .plan = true,
	};
	struct trial all = { 0 };
	uint32_t chance = 1;

	if (getrandom(&chance, sizeof(chance), 0) == sizeof(chance))
		o.seed = chance;
	parse(&o, argc, argv);
	if (o.cost)
		return cost_print();
	if (o.program)
		return run_file(&o);
	if (o.plan) {
		run_plan(&o);
	} else {
		group(&o, o.seed, style_of(o.style), o.cpus, o.programs, &all);
		print_errors(&all);
	}
	return done();
}
