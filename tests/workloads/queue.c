// SPDX-License-Identifier: GPL-2.0
/*
 * A queue in front of one server: jobs arrive at random times, by a thread that
 * sleeps, and each takes the CPU for a known time. How long do they wait?
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "queue.h"

#define LIST_MAX	32

struct options {
	struct queue_system system;
	int utilisations, seeds;
	double utilisation[LIST_MAX];
	double seed[LIST_MAX];
	size_t jobs, batch;
	bool dry;
};

static const char usage[] =
"Usage: queue [OPTION...]\n"
"\n"
"Prints, as CSV, means of each batch of jobs, in ns: how long they waited, and\n"
"what that would be if everything took exactly as long as it should. 'measured' is\n"
"the wait between the stamps of the two threads.\n"
"\n"
"  -u U,U,...         utilisations (0.3,0.4,0.5,0.6,0.7,0.8,0.9)\n"
"  --seeds N,N,...    of the random numbers; a run for each (1,2,3)\n"
"  --jobs N           jobs of a run (90)\n"
"  --batch N          jobs of a batch (15)\n"
"  --service US       work of a job, mean, in us (5000)\n"
"  --model d|m        all of the same length, or exponential ones (d)\n"
"  --speed P,P,...    server that is really P % fast, in turns by job (100)\n"
"  --percent P,P,...  server that is imagined so; needs virtual time\n"
"  --room N           of the queue; a producer that finds none waits (no bound)\n"
"  --dry-run          run nothing, and print what would be exact\n";

static __attribute__((noreturn)) void misuse(const char *what, const char *text)
{
	fprintf(stderr, "queue: %s, not '%s': see queue --help\n", what, text);
	exit(2);
}

/* Into a list of at most LIST_MAX; returns how many. */
static int parse_list(const char *text, double min, double max,
		      double list[LIST_MAX], const char *what)
{
	const char *next = text;

	for (int count = 0; count < LIST_MAX; count++) {
		char *end;
		double value = strtod(next, &end);

		if (end == next || (*end && *end != ',') ||
		    !(value >= min && value <= max))
			break;
		list[count] = value;
		if (!*end)
			return count + 1;
		next = end + 1;
	}
	misuse(what, text);
}

static double parse_number(const char *text, double min, double max,
			   const char *what)
{
	double list[LIST_MAX];

	if (parse_list(text, min, max, list, what) != 1)
		misuse(what, text);
	return list[0];
}

static void parse_speeds(const char *text, struct queue_speeds *speeds)
{
	static const char what[] = "up to 16 percents from 1 to 100000 are needed";
	double list[LIST_MAX];

	speeds->count = parse_list(text, TENSE_SCALE_MIN, TENSE_SCALE_MAX, list,
				   what);
	if (speeds->count > QUEUE_SPEEDS_MAX)
		misuse(what, text);
	for (int i = 0; i < speeds->count; i++)
		speeds->percent[i] = list[i];
}

static void parse(int argc, char **argv, struct options *o)
{
	enum { SEEDS = 256, JOBS, BATCH, SERVICE, MODEL, SPEED, PERCENT, ROOM,
	       DRY_RUN, HELP };
	static const struct option longs[] = {
		{ "seeds", required_argument, NULL, SEEDS },
		{ "jobs", required_argument, NULL, JOBS },
		{ "batch", required_argument, NULL, BATCH },
		{ "service", required_argument, NULL, SERVICE },
		{ "model", required_argument, NULL, MODEL },
		{ "speed", required_argument, NULL, SPEED },
		{ "percent", required_argument, NULL, PERCENT },
		{ "room", required_argument, NULL, ROOM },
		{ "dry-run", no_argument, NULL, DRY_RUN },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	struct queue_system *s = &o->system;
	int option;

	while ((option = getopt_long(argc, argv, "u:h", longs, NULL)) >= 0) {
		switch (option) {
		case 'u':
			o->utilisations = parse_list(
				optarg, 0.01, 0.99, o->utilisation,
				"utilisations from 0.01 to 0.99 are needed");
			break;
		case SEEDS:
			o->seeds = parse_list(optarg, 0, 1e9, o->seed,
					      "seeds from 0 are needed");
			break;
		case JOBS:
			o->jobs = parse_number(optarg, 1, 1e7,
					       "the number of jobs is needed");
			break;
		case BATCH:
			o->batch = parse_number(optarg, 1, 1e7,
						"the size of a batch is needed");
			break;
		case SERVICE:
			s->service = 1e3 * parse_number(
				optarg, 50, 1e7,
				"50 to 1e7 us of work are needed");
			break;
		case MODEL:
			if (strcmp(optarg, "d") != 0 && strcmp(optarg, "m") != 0)
				misuse("a model is d or m", optarg);
			s->exponential = *optarg == 'm';
			break;
		case SPEED:
			parse_speeds(optarg, &s->really);
			break;
		case PERCENT:
			parse_speeds(optarg, &s->imagined);
			break;
		case ROOM:
			s->room = parse_number(optarg, 1, 1e7,
					       "room for 1 job or more is needed");
			break;
		case DRY_RUN:
			o->dry = true;
			break;
		case 'h':
		case HELP:
			fputs(usage, stdout);
			exit(0);
		default:
			fputs("Try 'queue --help'.\n", stderr);
			exit(2);
		}
	}
	if (optind != argc)
		misuse("no argument is known", argv[optind]);
	if (o->jobs % o->batch) {
		fputs("queue: the jobs must be a multiple of a batch\n", stderr);
		exit(2);
	}
}

static void print_batches(const struct options *o, double utilisation,
			  double seed, const struct queue_job *jobs)
{
	double formula = queue_formula(&o->system, utilisation);

	for (size_t first = 0; first < o->jobs; first += o->batch) {
		struct queue_job sum = { 0 };

		for (size_t i = first; i < first + o->batch; i++) {
			sum.wait += jobs[i].wait;
			sum.ideal += jobs[i].ideal;
			sum.own += jobs[i].own;
			sum.served += jobs[i].served;
			sum.length += jobs[i].length;
			sum.late += jobs[i].late;
			sum.measured += jobs[i].measured;
		}
		printf("%s,%g,%g,%zu,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n",
		       o->system.exponential ? "m" : "d", utilisation, seed,
		       first / o->batch, sum.wait / o->batch,
		       sum.own / o->batch, sum.ideal / o->batch, formula,
		       sum.served / o->batch, sum.length / o->batch,
		       sum.late / o->batch, sum.measured / o->batch);
	}
	fflush(stdout);
}

/* As if they had been run, and all had taken as long as it should. */
static void be_exact(struct queue_job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		jobs[i].served = jobs[i].length;
	queue_judge(jobs, count);
	for (size_t i = 0; i < count; i++)
		jobs[i].wait = jobs[i].measured = jobs[i].ideal;
}

int main(int argc, char **argv)
{
	struct options o = {
		.system = {
			.service = 5e6,
			.really = { .count = 1, .percent = { 100 } },
		},
		.utilisations = 7,
		.utilisation = { 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 },
		.seeds = 3,
		.seed = { 1, 2, 3 },
		.jobs = 90,
		.batch = 15,
	};
	struct queue_job *jobs;

	parse(argc, argv, &o);
	jobs = calloc(o.jobs, sizeof(*jobs));
	if (!jobs) {
		fprintf(stderr, "queue: no memory for %zu jobs\n", o.jobs);
		return 1;
	}
	puts("model,utilisation,seed,batch,wait,own,ideal,formula,served,length,late,measured");
	for (int u = 0; u < o.utilisations; u++) {
		for (int s = 0; s < o.seeds; s++) {
			queue_plan(&o.system, o.utilisation[u], o.seed[s], jobs,
				   o.jobs);
			if (o.dry)
				be_exact(jobs, o.jobs);
			else
				queue_run(&o.system, jobs, o.jobs);
			print_batches(&o, o.utilisation[u], o.seed[s], jobs);
		}
	}
	free(jobs);
	return fflush(stdout) ? 1 : 0;
}
