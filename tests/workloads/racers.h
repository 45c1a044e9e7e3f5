/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RACERS_H
#define RACERS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* The racers differ in speed by this. */
enum racer_mode { BY_PERCENT, BY_NICE };

#define RACERS_MAX	64

struct racers {
	const char *program;		/* for messages */
	enum racer_mode mode;
	int count;
	int setting[RACERS_MAX];	/* percent or nice level of each */
	/* In each process, once all of them are there; then it exits. */
	void (*run)(int racer, void *shared);
	/* In the parent, just before they start; may be NULL. */
	void (*before)(void *shared);
};

/*
 * Runs the processes, all on one CPU, from the same instant. Returns when
 * all are done, or ends the program with a message.
 */
void racers_run(const struct racers *racers, void *shared);

/* Memory that the processes of racers_run() share, zeroed. */
void *racers_memory(const char *program, size_t size);

/* getopt_long() returns these. A program's own options are letters. */
enum racers_option { RACERS_PERCENT = 256, RACERS_NICE };

#define RACERS_OPTIONS \
	{ "percent", required_argument, NULL, RACERS_PERCENT }, \
	{ "nice", required_argument, NULL, RACERS_NICE }

/*
 * Takes an option of the above, with a list such as "100,50,33". Returns false
 * if it is another option.
 */
bool racers_take(struct racers *racers, int option, const char *list);

#endif
