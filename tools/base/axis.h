/* SPDX-License-Identifier: GPL-2.0 */
/* An axis of a picture: where values are, and its ticks. */
#ifndef TOOLS_AXIS_H
#define TOOLS_AXIS_H

#include <stdbool.h>

struct axis {
	double low, high;	/* the values at its ends */
	double from, to;	/* where these are in the picture */
	double step;		/* between two ticks, at multiples of it */
};

/* Makes the axis long enough for a value. */
void axis_include(struct axis *a, double value);

/* Sets the step for at most so many intervals. */
void axis_divide(struct axis *a, int most);

/* The same, and moves the ends to ticks. */
void axis_round(struct axis *a, int most);

double axis_place(const struct axis *a, double value);

/* The value of a tick, counted from 0. False if it is beyond the axis. */
bool axis_tick(const struct axis *a, unsigned int index, double *value);

/* Digits behind the decimal point that tell two ticks apart. */
int axis_digits(const struct axis *a);

#endif
