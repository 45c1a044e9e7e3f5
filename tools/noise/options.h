/* SPDX-License-Identifier: GPL-2.0 */
/* The options of `tense noise`. */
#ifndef NOISE_OPTIONS_H
#define NOISE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"
#include "collect.h"
#include "model.h"

#define LENGTHS_MAX	20

enum action { FIT, PREDICT, REFIT, NR_ACTIONS };
enum output { OUT_JSON, OUT_CSV, OUT_SVG, OUT_HISTOGRAM, OUT_QUEUE, NR_OUTPUTS };

struct noise_options {
	enum action action;
	unsigned int per_core[PER_CORE_MAX];
	size_t nr_per_core;
	double lengths[LENGTHS_MAX];	/* seconds */
	size_t nr_lengths;
	size_t samples;
	size_t replicates;		/* of each bootstrap; 0: none */
	double bound;			/* seconds, or NAN */
	const char *input;		/* NULL: collect times */
	const char *column;
	bool quiet;
	const char *outputs[NR_OUTPUTS];
	const char *coefficients;	/* a file, NULL for that of the machine */
	int form;			/* of coefficients, or -1: the better */
	bool by_hand;			/* coefficients are these */
	struct coefficients hand;
};

extern const struct option_row noise_option_rows[];

/* 0, or -1 after a message. */
int noise_parse(const struct subcommand *command, int argc, char **argv,
		struct noise_options *o);

#endif
