/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_SPEEDS_MAX	16

/* Successive jobs run at these percents, in turns. */
struct queue_speeds {
	int count;
	int percent[QUEUE_SPEEDS_MAX];
};

struct queue_system {
	bool exponential;		/* service; else deterministic: M/D/1 */
	double service;			/* ns of real work, mean */
	struct queue_speeds really;	/* so much less work than that */
	struct queue_speeds imagined;	/* none: no call of libtense */
	size_t room;			/* places in the queue; 0: no bound */
};

/* All in ns from the first job's clock reading zero. */
struct queue_job {
	double due;		/* when it arrives */
	double work;		/* real time that the server has to run */
	double length;		/* how long that is to take */
	double late;		/* from due until the producer queued it */
	double wait;		/* from due until the server began */
	uint64_t stamp;		/* by the producer, when it put the job */
	/*
	 * Time from the stamp until the server began. Unsigned, as in many
	 * programs: huge if the server's reading is earlier.
	 */
	double measured;
	double served;		/* how long that took */
	double ideal;		/* wait if all had taken its length */
	double own;		/* wait if all began at once when they could */
};

/* Arrivals and lengths: the same ones from the same seed. */
void queue_plan(const struct queue_system *system, double utilisation,
		uint64_t seed, struct queue_job *jobs, size_t count);

/*
 * Pollaczek and Khinchine's mean waiting time, in ns; NAN where jobs take turns,
 * whose lengths are not independent.
 */
double queue_formula(const struct queue_system *system, double utilisation);

/* Computes the waits that served jobs should have had. */
void queue_judge(struct queue_job *jobs, size_t count);

/* Does what was planned. Ends the program with a message if that fails. */
void queue_run(const struct queue_system *system, struct queue_job *jobs,
	       size_t count);

#endif
