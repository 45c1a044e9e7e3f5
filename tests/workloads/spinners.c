// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that count as fast as they can on one CPU, each with a percent or
 * a nice level, until the same instant. They see that instant in the cycle
 * counter, in real time: nobody has to be woken to stop them, and their counts
 * are shares of one and the same stretch of time.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cycles.h"
#include "racers.h"

#define DURATIONS_MAX	16
/* Between two looks at the counter; well under a microsecond. */
#define INNER_LOOPS	256

struct shared {
	double rate;			/* cycles per ns */
	uint64_t duration;		/* ns */
	uint64_t end;			/* cycles */
	int stop;
	struct {
		uint64_t loops;
		uint64_t result;	/* or the loop could be left out */
	} spinner[RACERS_MAX];
};

static void spin(int racer, void *data)
{
	struct shared *shared = data;
	uint64_t loops = 0, value = racer;

	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		for (int i = 0; i < INNER_LOOPS; i++)
			value = value * 6364136223846793005 + 1;
		loops++;
		if (cycles() >= shared->end)
			__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	}
	shared->spinner[racer].loops = loops;
	shared->spinner[racer].result = value;
}

static void set_end(void *data)
{
	struct shared *shared = data;

	shared->stop = 0;
	shared->end = cycles() + (uint64_t)(shared->duration * shared->rate);
}

static const char usage[] =
"Usage: spinners --percent P,P,...|--nice N,N,... [-d MS,MS,...] [-n RUNS]\n"
"\n"
"Lets processes spin on one CPU and prints how often each came round, as CSV.\n"
"\n"
"  --percent P,P,...  a process for each percent; needs virtual time\n"
"  --nice N,N,...     a process for each nice level\n"
"  -d MS,MS,...       real time to spin, in ms (100)\n"
"  -n RUNS            runs for each duration (1)\n";

static int parse_durations(const char *list, int *ms)
{
	for (int count = 0; count < DURATIONS_MAX; count++) {
		char *end;
		long value = strtol(list, &end, 10);

		if (end == list || (*end && *end != ',') || value < 1 ||
		    value > 1000000)
			break;
		ms[count] = value;
		if (!*end)
			return count + 1;
		list = end + 1;
	}
	fprintf(stderr,
		"spinners: up to %d durations from 1 to 1000000 ms are needed, not '%s'\n",
		DURATIONS_MAX, list);
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		RACERS_OPTIONS,
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct racers racers = {
		.program = "spinners",
		.run = spin,
		.before = set_end,
	};
	int ms[DURATIONS_MAX] = { 100 }, durations = 1, runs = 1, option;
	struct shared *shared;

	while ((option = getopt_long(argc, argv, "d:n:h", longs, NULL)) >= 0) {
		if (racers_take(&racers, option, optarg))
			continue;
		switch (option) {
		case 'd':
			durations = parse_durations(optarg, ms);
			break;
		case 'n':
			runs = atoi(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs("Try 'spinners --help'.\n", stderr);
			return 2;
		}
	}
	if (!racers.count || runs < 1 || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	shared = racers_memory("spinners", sizeof(*shared));
	shared->rate = cycles_per_ns();
	puts("mode,ms,run,spinner,setting,loops");
	for (int d = 0; d < durations; d++) {
		for (int run = 0; run < runs; run++) {
			shared->duration = ms[d] * 1000000ull;
			racers_run(&racers, shared);
			for (int i = 0; i < racers.count; i++)
				printf("%s,%d,%d,%d,%d,%ju\n",
				       racers.mode == BY_NICE ?
				       "nice" : "percent", ms[d], run, i,
				       racers.setting[i],
				       (uintmax_t)shared->spinner[i].loops);
		}
	}
	return fflush(stdout) ? 1 : 0;
}
