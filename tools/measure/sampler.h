/* SPDX-License-Identifier: GPL-2.0 */
/* Takes samples of commands for `tense measure`. */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "command.h"
#include "measure.h"

struct sampler_options {
	const char *prepare;	/* run in a shell before each sample, or NULL */
	const char *input;
	double timeout;
	bool show_output;
	bool ignore_failure;
	bool quiet;
};

/*
 * Takes all samples of m, whose subjects have their commands, by turns. 0, or
 * the status to exit with after a message.
 */
int sampler_run(struct measurement *m, const struct sampler_options *options);

#endif
