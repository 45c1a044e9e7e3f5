// SPDX-License-Identifier: GPL-2.0
/*
 * Digits of pi, once; or in several processes that compete for one CPU, each
 * with a percent or a nice level. Then it prints which process ran when, and
 * when each finished. Each process looks at the cycle counter some times per ms and
 * notes the gaps, the only sign of others that needs no tracing.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cycles.h"
#include "pi-digits.h"
#include "racers.h"

/* Longer than the way from one look to the next; shorter than a slice. */
#define GAP_NS		20000
#define STRETCHES_MAX	65536
#define DIGITS_MAX	100000

struct stretch {
	uint64_t start;
	uint64_t end;
};

struct runner {
	uint64_t stretches;
	struct stretch stretch[STRETCHES_MAX];
	char text[DIGITS_MAX + 1];
};

struct shared {
	double rate;			/* cycles per ns */
	uint64_t gap;			/* cycles */
	uint64_t start;
	int digits;
	struct runner runner[];
};

struct watch {
	struct runner *runner;
	uint64_t gap;
};

static void look(void *data)
{
	struct watch *watch = data;
	struct runner *runner = watch->runner;
	struct stretch *now = &runner->stretch[runner->stretches - 1];
	uint64_t time = cycles();

	if (time - now->end > watch->gap) {
		if (runner->stretches == STRETCHES_MAX) {
			fputs("pi: too many gaps to note\n", stderr);
			exit(1);
		}
		runner->stretches++;
		(++now)->start = time;
	}
	now->end = time;
}

static void no_look(void *data)
{
	(void)data;
}

static void compute(int racer, void *data)
{
	struct shared *shared = data;
	struct runner *runner = &shared->runner[racer];
	struct watch watch = { runner, shared->gap };

	runner->stretches = 1;
	runner->stretch[0].start = runner->stretch[0].end = cycles();
	if (pi_digits(shared->digits, runner->text, look, &watch)) {
		fputs("pi: no memory\n", stderr);
		exit(1);
	}
}

static void set_start(void *data)
{
	struct shared *shared = data;

	shared->start = cycles();
}

static double since_start(const struct shared *shared, uint64_t time)
{
	return (time - shared->start) / shared->rate / 1e6;
}

static bool others_ran(const struct shared *shared, int count, int runner,
		       uint64_t from, uint64_t to)
{
	for (int i = 0; i < count; i++) {
		const struct runner *other = &shared->runner[i];

		if (i == runner)
			continue;
		for (uint64_t j = 0; j < other->stretches; j++)
			if (other->stretch[j].start < to &&
			    other->stretch[j].end > from)
				return true;
	}
	return false;
}

/* A gap in which nobody else ran was an interrupt, or the machine's host. */
static void print_schedule(const struct shared *shared,
			   const struct racers *racers)
{
	puts("runner,setting,start_ms,end_ms");
	for (int i = 0; i < racers->count; i++) {
		const struct runner *runner = &shared->runner[i];
		const struct stretch *stretch = runner->stretch;
		const struct stretch *last = stretch + runner->stretches - 1;

		for (; stretch <= last; stretch++) {
			double start = since_start(shared, stretch->start);

			while (stretch < last &&
			       !others_ran(shared, racers->count, i,
					   stretch->end, stretch[1].start))
				stretch++;
			printf("%d,%d,%.3f,%.3f\n", i, racers->setting[i],
			       start, since_start(shared, stretch->end));
		}
	}
}

static void race(const struct racers *racers, int digits)
{
	struct shared *shared;

	shared = racers_memory("pi", sizeof(*shared) +
			       racers->count * sizeof(shared->runner[0]));
	shared->rate = cycles_per_ns();
	shared->gap = GAP_NS * shared->rate;
	shared->digits = digits;
	racers_run(racers, shared);
	for (int i = 1; i < racers->count; i++) {
		if (strcmp(shared->runner[i].text,
			   shared->runner[0].text) != 0) {
			fputs("pi: the processes disagree\n", stderr);
			exit(1);
		}
	}
	print_schedule(shared, racers);
}

static const char usage[] =
"Usage: pi [-n DIGITS]\n"
"       pi [-n DIGITS] --percent P,P,...|--nice N,N,...\n"
"\n"
"Computes digits of pi (5000). With --percent or --nice, a process for each\n"
"number does, all on one CPU, and the schedule is printed as CSV: a line for\n"
"each stretch of time that a process ran. Its last one ends as it finishes.\n";

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		RACERS_OPTIONS,
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct racers racers = {
		.program = "pi",
		.run = compute,
		.before = set_start,
	};
	static char text[DIGITS_MAX + 1];
	int digits = 5000, option;

	while ((option = getopt_long(argc, argv, "n:h", longs, NULL)) >= 0) {
		if (racers_take(&racers, option, optarg))
			continue;
		switch (option) {
		case 'n':
			digits = atoi(optarg);
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs("Try 'pi --help'.\n", stderr);
			return 2;
		}
	}
	if (digits < 1 || digits > DIGITS_MAX || optind != argc) {
		fputs(usage, stderr);
		return 2;
	}
	if (racers.count) {
		race(&racers, digits);
	} else if (pi_digits(digits, text, no_look, NULL)) {
		fputs("pi: no memory\n", stderr);
		return 1;
	} else {
		printf("%c.%s\n", text[0], text + 1);
	}
	return fflush(stdout) ? 1 : 0;
}
