/* SPDX-License-Identifier: GPL-2.0 */
/* A report on times: where they come from, the fits, a server's queue. */
#ifndef NOISE_REPORT_H
#define NOISE_REPORT_H

#include <stdio.h>

#include "bootstrap.h"
#include "collect.h"
#include "fit.h"

#define NOISE_JSON_VERSION	1

struct report {
	/* Where the times are from. */
	const char *file;	/* NULL: they were collected */
	struct workload workload;
	struct nops nops;
	unsigned int cores;

	double nominal;		/* seconds; 0 where it is not known */
	double *values;		/* times less that, in the order of the samples */
	double *sorted;
	double *switches[NR_SWITCHES];	/* of each sample, or NULL */
	size_t count;

	/* Between times and switches; NAN where either is always the same. */
	struct correlation {
		double linear;	/* of Pearson */
		double rank;	/* of Spearman */
	} correlations[NR_SWITCHES];

	struct fit fits[NR_FAMILIES];
	const struct fit *closest;	/* one of these, or NULL */
	size_t replicates;		/* behind each p-value; 0: none */
	void (*progress)(void *arg);	/* after each of them; may be NULL */
	void *progress_arg;
	double p_values[NR_FAMILIES];	/* see bootstrap.h, or NAN */

	/* A server whose work, without the noise, is exponential. */
	double work;		/* its mean, seconds, or NAN */
	double divergence;	/* see service.h */
	double waits;
};

/* The name in JSON and tables. */
const char *switches_name(enum switches kind);

/*
 * Fits all families to the values. bound, in seconds, is the Levy's; NAN to
 * choose it. Also computes p-values if there are replicates: each family is fitted as
 * many times. 0, or -1 after a message.
 */
int report_assess(struct report *r, double bound);
/* The fits only. */
int report_fit(struct report *r, double bound);
void report_free(struct report *r);

/*
 * These write a table, JSON, the times only, quantiles over those of each fit, and a
 * histogram with the densities. Each returns 0, or -1 with errno.
 */
int report_text(FILE *f, const struct report *r);
int report_json(FILE *f, const struct report *r);
int report_csv(FILE *f, const struct report *r);
int report_svg(FILE *f, const struct report *r);
int report_histogram(FILE *f, const struct report *r);

#endif
