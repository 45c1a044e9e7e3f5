// SPDX-License-Identifier: GPL-2.0
#include "axis.h"

#include <math.h>

#include "drawing.h"

/* Rounding errors may move a tick at an end by this part of a step. */
#define SLACK	1e-6

void axis_include(struct axis *a, double value)
{
	a->low = fmin(a->low, value);
	a->high = fmax(a->high, value);
}

struct axis axis_in_unit(const struct axis *a, double factor)
{
	struct axis scaled = *a;

	scaled.low *= factor;
	scaled.high *= factor;
	scaled.step *= factor;
	return scaled;
}

void axis_divide(struct axis *a, int most)
{
	a->step = nice_step(a->high - a->low, most);
}

void axis_round(struct axis *a, int most)
{
	axis_divide(a, most);
	a->low = floor(a->low / a->step + SLACK) * a->step;
	a->high = ceil(a->high / a->step - SLACK) * a->step;
}

void axis_finish(struct axis *a, int most, double from, double to)
{
	if (a->high - a->low < 0.01)
		a->high = a->low + 1;
	axis_round(a, most);
	a->from = from;
	a->to = to;
}

double axis_place(const struct axis *a, double value)
{
	return a->from + (value - a->low) / (a->high - a->low) *
			 (a->to - a->from);
}

bool axis_tick(const struct axis *a, unsigned int index, double *value)
{
	double number = ceil(a->low / a->step - SLACK) + index;

	*value = number * a->step;
	/* Avoids the label -0. */
	if (number == 0)
		*value = 0;
	return number <= a->high / a->step + SLACK;
}

int axis_digits(const struct axis *a)
{
	double digits = ceil(-log10(a->step) - SLACK);

	return digits > 0 ? (int)digits : 0;
}
