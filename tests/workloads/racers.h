/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RACERS_H
#define RACERS_H

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

/* "100,50,33": into setting[] and count. */
void racers_parse(struct racers *racers, enum racer_mode mode,
		  const char *list);

#endif
