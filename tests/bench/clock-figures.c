// SPDX-License-Identifier: GPL-2.0
/*
 * clock-figures FIGURE LONGEST_MS: numbers for the figures of the chapter on measuring
 * program time, as a table of comma-separated values.
 *
 * steps: the steps of gettimeofday(). LONGEST_MS has no effect.
 * k: K-best for K = 1 to 5, without compensation.
 * k-beside: the same beside a busy process on the same CPU.
 * compensated: K-best that subtracts timer interrupts, and that does not.
 * together: one process that measures, and two at once on the same CPU, without
 * compensation.
 *
 * A routine does its work m times, for 0.05 ms to LONGEST_MS. A short routine right
 * before and after tells the time of a unit, and m units are expected to take m times
 * as long. The speed of a CPU may change between two lengths.
 */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tense-measure.h>

#define LENGTHS		12
#define FROM_MS		0.05
#define REFERENCE_MS	0.2
#define SERIES		5
#define READINGS	400
#define WINDOWS		50

struct point {
	double expected_ns;
	struct tense_kbest_result r;
};

struct series {
	char name[40];
	struct point points[LENGTHS];
};

/* Shared with children that measure. */
static struct series *series;
static double longest_ms;

static void work(void *arg)
{
	const double *m = arg;

	for (volatile uint64_t i = 0; i < (uint64_t)*m; i++)
		;
}

static void measure(double m, const struct tense_kbest_options *options,
		    struct tense_kbest_result *r)
{
	if (tense_kbest(work, &m, options, r))
		exit(1);
}

/* In ns. The routine is too short to be interrupted each time. */
static double time_of_unit(double units)
{
	const struct tense_kbest_options raw = { .flags = TENSE_KBEST_RAW };
	struct tense_kbest_result r;

	measure(units, &raw, &r);
	return r.ns / units;
}

static double units_per_ms(void)
{
	return 1e6 / time_of_unit(1e5);
}

static void measure_point(struct point *p, double m, double reference,
			  const struct tense_kbest_options *options)
{
	double before = time_of_unit(reference);

	measure(m, options, &p->r);
	p->expected_ns = m * fmin(before, time_of_unit(reference));
}

static void measure_series(struct series *s, const char *name, double per_ms,
			   const struct tense_kbest_options *options)
{
	snprintf(s->name, sizeof(s->name), "%s", name);
	for (int i = 0; i < LENGTHS; i++) {
		double ms = FROM_MS * pow(longest_ms / FROM_MS,
					  (double)i / (LENGTHS - 1));

		measure_point(&s->points[i], floor(ms * per_ms),
			      floor(REFERENCE_MS * per_ms), options);
	}
}

static void print_series(int count)
{
	puts("series,expected_ms,measured_ms,error_percent,converged");
	for (int i = 0; i < count; i++) {
		for (int j = 0; j < LENGTHS; j++) {
			const struct point *p = &series[i].points[j];

			printf("%s,%.5f,%.5f,%.4f,%d\n", series[i].name,
			       p->expected_ns / 1e6, p->r.ns / 1e6,
			       (p->r.ns / p->expected_ns - 1) * 100,
			       p->r.converged);
		}
	}
}

static void figure_k(void)
{
	double per_ms = units_per_ms();

	for (unsigned int k = 1; k <= SERIES; k++) {
		const struct tense_kbest_options options = {
			.k = k, .flags = TENSE_KBEST_RAW,
		};
		char name[20];

		snprintf(name, sizeof(name), "K = %u", k);
		measure_series(&series[k - 1], name, per_ms, &options);
	}
	print_series(SERIES);
}

/* A child of this process, which dies with it. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(1);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void figure_k_beside(void)
{
	pid_t pid = start();

	if (!pid)
		for (;;)
			;
	figure_k();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void figure_compensated(void)
{
	const struct tense_kbest_options raw = { .flags = TENSE_KBEST_RAW };
	double per_ms = units_per_ms();

	measure_series(&series[0], "raw", per_ms, &raw);
	measure_series(&series[1], "compensated", per_ms, NULL);
	print_series(2);
}

static void figure_together(void)
{
	static const char *const names[] = { "first of two", "second of two" };
	const struct tense_kbest_options raw = { .flags = TENSE_KBEST_RAW };
	double per_ms = units_per_ms();
	int status, failed = 0;

	measure_series(&series[0], "alone", per_ms, &raw);
	for (int i = 0; i < 2; i++) {
		if (start())
			continue;
		measure_series(&series[i + 1], names[i], per_ms, &raw);
		_exit(0);
	}
	while (wait(&status) > 0)
		failed += status != 0;
	if (failed)
		exit(1);
	print_series(3);
}

struct reading {
	double real_us;
	double told_us;
};

static double real_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void read_window(struct reading *readings)
{
	double origin = real_us();
	struct timeval first, now;

	gettimeofday(&first, NULL);
	for (int i = 0; i < READINGS; i++) {
		gettimeofday(&now, NULL);
		readings[i].real_us = real_us() - origin;
		readings[i].told_us =
			(double)(now.tv_sec - first.tv_sec) * 1e6 +
			(double)(now.tv_usec - first.tv_usec);
	}
}

/* The shortest of several windows: nothing came in between. */
static void figure_steps(void)
{
	static struct reading readings[READINGS], best[READINGS];

	for (int i = 0; i < WINDOWS; i++) {
		read_window(readings);
		if (!i || readings[READINGS - 1].real_us <
			  best[READINGS - 1].real_us)
			memcpy(best, readings, sizeof(best));
	}
	puts("real_us,gettimeofday_us");
	for (int i = 0; i < READINGS; i++)
		printf("%.3f,%.0f\n", best[i].real_us, best[i].told_us);
}

static const struct {
	const char *name;
	void (*draw)(void);
} figures[] = {
	{ "steps", figure_steps }, { "k", figure_k },
	{ "k-beside", figure_k_beside },
	{ "compensated", figure_compensated },
	{ "together", figure_together },
};

int main(int argc, char **argv)
{
	longest_ms = argc > 2 ? atof(argv[2]) : 0;
	series = mmap(NULL, SERIES * sizeof(*series), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc != 3 || !(longest_ms > FROM_MS) || series == MAP_FAILED) {
		fprintf(stderr, "bench: clock-figures FIGURE LONGEST_MS, which is more than %g\n",
			FROM_MS);
		return 1;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (strcmp(argv[1], figures[i].name) != 0)
			continue;
		figures[i].draw();
		return fflush(stdout) ? 1 : 0;
	}
	fprintf(stderr, "bench: clock-figures: no figure '%s'\n", argv[1]);
	return 1;
}
