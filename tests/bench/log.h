/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs under measurement print, line by line:
 *
 *	run VARIANT ROUND
 *	KEY NUMBER
 *	...
 *
 * Other lines are errors: a program that complains is not measured.
 */
#ifndef LOG_H
#define LOG_H

#include <stddef.h>
#include <stdio.h>

struct log_run {
	char variant[32];
	int round;
	size_t pairs;
	struct {
		char key[32];
		double value;
	} pair[24];
};

struct log {
	size_t runs;
	struct log_run *run;
};

/* All of these end the program with a message when something is missing. */
void log_read(struct log *log, FILE *file);
void log_free(struct log *log);
int log_rounds(const struct log *log);
double log_get(const struct log *log, const char *variant, int round,
	       const char *key);

/* The same, or NAN when it is missing. */
double log_find(const struct log *log, const char *variant, int round,
		const char *key);

#endif
