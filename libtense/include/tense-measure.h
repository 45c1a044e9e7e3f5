/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures how long a function takes, by the K-best protocol: runs it until the K
 * shortest times agree. Other work of the machine makes a time longer, never
 * shorter. So times that agree at the low end are those of the function alone.
 *
 * Compile and link with the output of pkg-config --cflags --libs
 * libtense-measure, which is -ltense-measure. Only one thread at a time may call
 * this library.
 */
#ifndef TENSE_MEASURE_H
#define TENSE_MEASURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Empty the caches before each run. Without this flag, the first run does not count. */
#define TENSE_KBEST_COLD	1u
/* Do not subtract timer interrupts. */
#define TENSE_KBEST_RAW		2u

/* 0 selects the default. */
struct tense_kbest_options {
	unsigned int k;			/* times that have to agree; 3, at most 64 */
	unsigned int max_samples;	/* give up after so many; 30 */
	double epsilon;			/* agree to this fraction of the shortest; 0.001 */
	unsigned int flags;		/* TENSE_KBEST_* */
};

enum tense_clock {
	TENSE_CLOCK_COUNTER,	/* the CPU's cycle counter */
	TENSE_CLOCK_GETTIME,	/* clock_gettime(CLOCK_MONOTONIC) */
};

/* Quality of a clock; 0 if there is no such clock. */
struct tense_clock_quality {
	double resolution_ns;	/* its smallest step */
	double latency_ns;	/* time that reading it takes */
};

struct tense_kbest_result {
	double ns;		/* the shortest time */
	double spread;		/* (K-th shortest - shortest) / shortest */
	unsigned int samples;	/* with those during which another thread had the CPU */
	int converged;		/* whether spread is within epsilon */
	enum tense_clock clock;	/* the clock that was used */
	struct tense_clock_quality counter;
	struct tense_clock_quality gettime;
	double tick_ns;		/* subtracted for each timer interrupt; below its least cost */
	unsigned int ticks;	/* timer interrupts in all samples */
};

/*
 * Runs function(arg) again and again. options may be NULL. Returns 0, whether or
 * not the times agreed, or -ENOMEM or -EINVAL. -EINVAL: function or result is
 * NULL, or options are out of range. k may be at most 64 and max_samples,
 * defaults included. epsilon must not be negative or infinite. Unknown flags are
 * an error.
 */
int tense_kbest(void (*function)(void *arg), void *arg,
		const struct tense_kbest_options *options,
		struct tense_kbest_result *result);

/*
 * The functions of the chapter on measuring program time in "Computer Systems: A
 * Programmer's Perspective", by its names. Times are in cycles of the CPU's counter
 * and, if ns is not NULL, also in nanoseconds there. Without a counter of constant
 * rate, a cycle is a nanosecond of clock_gettime().
 */

/* Starts the cycle counter. */
void tense_start_counter(void);
/* Returns the cycles since then. */
double tense_get_counter(double *ns);
/* Returns the rate of the cycle counter in MHz, and prints it if verbose is set. */
double tense_mhz(int verbose);

/* Starts the timer, clock_gettime(CLOCK_MONOTONIC). */
void tense_start_timer(void);
/* Returns the seconds since then. */
double tense_get_timer(double *ns);

/*
 * Returns the cycles that function(arg) takes, by tense_kbest(), whether or not the
 * times agreed. options may be NULL. Returns -EINVAL or -ENOMEM like it.
 */
double tense_fcyc(void (*function)(void *arg), void *arg,
		  const struct tense_kbest_options *options, double *ns);

/*
 * Reads the cycle counter until two readings are at least threshold cycles apart,
 * because something else ran. Returns the cycles between them. 0 if threshold is
 * below 1, or if nothing else ran for 10 s.
 */
double tense_inactiveduration(double threshold, double *ns);

enum tense_protocol {
	TENSE_PROTOCOL_KBEST,	/* tense_kbest() */
	TENSE_PROTOCOL_PROCESS,	/* process time, as in tense measure */
};

/*
 * Returns the protocol that suits work of about so many ns. loaded: the machine
 * does much other work meanwhile.
 */
enum tense_protocol tense_protocol(double ns, int loaded);

#ifdef __cplusplus
}
#endif

#endif
