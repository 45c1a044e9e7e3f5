/* SPDX-License-Identifier: GPL-2.0 */
/* Facts and events of a machine that affect measured times. */
#ifndef MEASURE_ENVIRONMENT_H
#define MEASURE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENVIRONMENT_FACTS	16
#define FACT_UNKNOWN		"unknown"

/* The type of a fact whose value is known. */
enum fact_kind {
	FACT_TEXT,
	FACT_NUMBER,
	FACT_SWITCH,		/* on or yes, off or no */
};

struct fact {
	const char *name;
	enum fact_kind kind;
	char *value;		/* FACT_UNKNOWN where the machine does not tell */
	const char *advice;	/* how to improve the fact, or NULL */
};

struct environment {
	struct fact facts[ENVIRONMENT_FACTS];
	size_t count;
};

/* Reads the machine whose / is root, which is "" for this one. */
void environment_read(struct environment *e, const char *root);
void environment_free(struct environment *e);
const char *environment_value(const struct environment *e, const char *name);

/* Is this machine's clock disciplined, as its kernel says? */
bool clock_synchronised(void);

/* Since the machine was booted; 0 where it does not count them. */
struct counters {
	double stolen;		/* seconds of CPU time, by the host */
	uint64_t swapped;	/* pages, in either direction */
	uint64_t throttled;	/* times that a CPU became too hot */
};

void counters_read(struct counters *c, const char *root);

#endif
