/* SPDX-License-Identifier: GPL-2.0 */
/* Takes samples of commands for `tense measure`. */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "command.h"
#include "measure.h"

/* The parts of a larger measurement share one progress bar. */
struct sampler_part {
	const char *what;
	double before;		/* seconds that other parts take before */
	double seconds;		/* that this one takes */
	double total;		/* that all take; 0: this is all */
};

struct sampler_options {
	const char *prepare;	/* run in a shell before each sample, or NULL */
	const char *input;
	double timeout;
	bool show_output;
	bool ignore_failure;
	bool quiet;
	struct sampler_part part;
	uint64_t until;		/* now_ns(): no sample begins later; 0: any may */
	size_t least;		/* number of samples to take even after that */
};

/*
 * Takes all samples of m, whose subjects have their commands, by turns. 0, or
 * the status to exit with after a message.
 */
int sampler_run(struct measurement *m, const struct sampler_options *options);

#endif
