/* SPDX-License-Identifier: GPL-2.0 */
/* An axis of a picture: it gives values their places, and has ticks. */
#ifndef TOOLS_AXIS_H
#define TOOLS_AXIS_H

#include <stdbool.h>

struct axis {
	double low, high;	/* the values at its ends */
	double from, to;	/* their places in the picture */
	double step;		/* ticks are at its multiples */
};

/* Makes the axis long enough for a value. */
void axis_include(struct axis *a, double value);

/* Returns the axis with its values in another unit, for labels in that unit. */
struct axis axis_in_unit(const struct axis *a, double factor);

/* Sets the step so that the axis has at most this many intervals. */
void axis_divide(struct axis *a, int most);

/* Does the same, and moves the ends to ticks. */
void axis_round(struct axis *a, int most);

/*
 * Rounds the axis, which is at least 0.01 long afterwards, and gives its ends their
 * places.
 */
void axis_finish(struct axis *a, int most, double from, double to);

double axis_place(const struct axis *a, double value);

/* Gets the value of a tick, counted from 0. Returns false beyond the axis. */
bool axis_tick(const struct axis *a, unsigned int index, double *value);

/* Returns the digits after the point that tell two ticks apart. */
int axis_digits(const struct axis *a);

#endif
