/* SPDX-License-Identifier: GPL-2.0 */
/* The rows and runs of a race, see race.h. */
#ifndef TOOLS_PROFILE_RACE_DATA_H
#define TOOLS_PROFILE_RACE_DATA_H

#include <math.h>
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
	/* Set by race_look(): the run is much worse than the usual run of its row. */
	bool outlier;
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
	size_t left_out;	/* of these runs: all outliers, or none */
	bool odd;		/* too large a part of its runs are outliers to leave them out */
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
	bool disturbances;	/* something else on the machine may make a run worse */
	/* The expected slope of y by each control; counts as a few runs. */
	double slope[RACE_CONTROLS];
	unsigned long seed;
};

/*
 * Returns the scale for the deviations of a row's runs. A disturbance adds some time to a run. In
 * the logarithm it is larger the shorter the run is, which matters where a function is almost free.
 */
static inline double race_scale(const struct race_row *row, double gain)
{
	return row->kind == RACE_EXTRA ? fmin(exp(-gain), 1) : 1;
}

/* Is any candidate compared by this control? */
static inline bool race_uses(const struct race *race, enum race_control control)
{
	for (size_t i = 0; i < race->nr_rows; i++)
		if (race->rows[i].kind != RACE_NULL &&
		    race->rows[i].control == control)
			return true;
	return false;
}

#endif
