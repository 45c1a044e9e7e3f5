/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the candidates with the largest gains by few runs. Pure functions: the same
 * runs give the same decisions.
 *
 * The race follows O. Maron and A. W. Moore, "Hoeffding races", NIPS 1993: all
 * candidates are run, and after each stage a candidate is dropped if its interval
 * shows that it is not among the best. Each stage doubles the runs of those that are
 * left, as successive halving does: Z. Karnin, T. Koren, O. Somekh, "Almost optimal
 * exploration in multi-armed bandits", ICML 2013. Runs scatter little but without
 * a bound, so the intervals are not Hoeffding's. They use the variance within all
 * conditions together, and the largest |t| over all rows (max-T) by a bootstrap:
 * P. H. Westfall and S. S. Young, "Resampling-based multiple testing", 1993. So all
 * intervals of a look hold together. Each of at most RACE_LOOKS looks has an equal
 * part of the 5 % that may fail.
 */
#ifndef TOOLS_PROFILE_RACE_H
#define TOOLS_PROFILE_RACE_H

#include <stdbool.h>
#include <stddef.h>

#define RACE_LOOKS	12
#define RACE_ALPHA	0.05

enum race_kind {
	RACE_NULL,		/* its group's rows are compared with it */
	RACE_CANDIDATE,
	RACE_EXTRA,		/* has an interval, but is in no race */
	RACE_UNUSED,		/* is in no stage */
};

/* A control variate goes up and down with y from run to run. */
enum race_control { RACE_CPU, RACE_REFERENCE, RACE_CONTROLS };

struct race_run {
	size_t row;
	double y;		/* a logarithm: more is better */
	double control[RACE_CONTROLS];
};

struct race_row {
	enum race_kind kind;
	size_t null;		/* row to compare with; of a null, itself */
	enum race_control control;	/* the caller chooses */
	/*
	 * The caller's bound on how much the mean of the control differs between this
	 * row and its null row for another reason than the machine. The interval
	 * includes it. Infinite: unknown.
	 */
	double doubt;
	/*
	 * The caller's deviation of y between runs of this row, if they may scatter more
	 * than those of other rows; else 0.
	 */
	double spread;
	/* The standard error of what the caller has subtracted from all y of this row. */
	double common;
	/* Set by race_look(). */
	size_t runs;
	double gain, low, high;	/* in y, with the interval; infinite: unknown */
	bool racing;		/* needs more runs */
};

struct race {
	struct race_row *rows;
	size_t nr_rows;
	struct race_run *runs;
	size_t nr_runs;
	unsigned int top;	/* how many of the best are to be told apart */
	double precision;	/* of y: a narrower interval needs no more runs */
	/* The expected slope of y by each control; counts as a few runs. */
	double slope[RACE_CONTROLS];
	unsigned long seed;
};

/* Adds a row and returns its index. The null row of a group comes before its others. */
size_t race_add_row(struct race *race, enum race_kind kind, size_t null);
void race_add_run(struct race *race, const struct race_run *run);

/*
 * Says that the program would be slower, but one run alone says so. A disturbance makes a
 * run longer, too. Such a row runs again, and until then its interval does not count.
 */
bool race_is_doubtful(const struct race_row *row);

/* Computes gains and intervals, and which rows need more runs. */
void race_look(struct race *race);

/* The null runs of a first stage, for a group with so many rows. */
size_t race_first_nulls(size_t rows);

/* Is any candidate still racing? */
bool race_is_on(const struct race *race);

/* How many of the best candidates have intervals above all candidates behind them. */
unsigned int race_separated(const struct race *race);

/*
 * Lists the rows of the next stage, one for each run, in random order. extra: of
 * extra rows, else of candidates. The caller frees *rows. Returns the number.
 */
size_t race_stage(const struct race *race, bool extra, size_t **rows);

void race_free(struct race *race);

#endif
