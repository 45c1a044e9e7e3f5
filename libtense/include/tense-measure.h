/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a function takes, by the K-best protocol: it is run until the K
 * shortest of its times agree. What else a machine does makes a time longer,
 * never shorter, so that times that agree at the low end are those of the
 * function alone.
 *
 * Compile and link with what pkg-config --cflags --libs libtense-measure says,
 * which is -ltense-measure. No call of this library is meant to be used by several
 * threads at the same time.
 */
#ifndef TENSE_MEASURE_H
#define TENSE_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The caches are emptied before each run; else the first run does not count. */
#define TENSE_KBEST_COLD	1u
/* Timer interrupts are not taken out. */
#define TENSE_KBEST_RAW		2u

/* 0 stands for the default. */
struct tense_kbest_options {
	unsigned int k;			/* so many have to agree; 3, at most 64 */
	unsigned int max_samples;	/* then give up; 30 */
	double epsilon;			/* to this part of the shortest; 0.001 */
	unsigned int flags;		/* TENSE_KBEST_* */
};

enum tense_clock {
	TENSE_CLOCK_COUNTER,	/* the CPU's cycle counter */
	TENSE_CLOCK_GETTIME,	/* clock_gettime(CLOCK_MONOTONIC) */
};

/* Of a clock; 0 where there is none. */
struct tense_clock_quality {
	double resolution_ns;	/* the shortest time that it can tell */
	double latency_ns;	/* what it takes to read it */
};

struct tense_kbest_result {
	double ns;		/* the shortest time */
	double spread;		/* (the K-th shortest - it) / it */
	unsigned int samples;
	int converged;		/* whether spread is within epsilon */
	enum tense_clock clock;	/* the one that was used */
	struct tense_clock_quality counter;
	struct tense_clock_quality gettime;
	double tick_ns;		/* taken out for each timer interrupt */
	unsigned int ticks;	/* that were counted, in all samples */
};

/*
 * Runs function(arg) again and again. options may be NULL. Returns 0, whether or
 * not the times agreed, or -ENOMEM, or -EINVAL if function or result is NULL or
 * options are out of range: k over 64 or over max_samples (of which either may
 * be the default), epsilon negative or not finite, unknown flags.
 */
int tense_kbest(void (*function)(void *arg), void *arg,
		const struct tense_kbest_options *options,
		struct tense_kbest_result *result);

enum tense_protocol {
	TENSE_PROTOCOL_KBEST,	/* tense_kbest() */
	TENSE_PROTOCOL_PROCESS,	/* process time, as tense measure has it */
};

/*
 * Which protocol suits what takes about so long, on a machine that does much
 * else meanwhile (loaded) or does not.
 */
enum tense_protocol tense_protocol(double ns, int loaded);

#ifdef __cplusplus
}
#endif

#endif
