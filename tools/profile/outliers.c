// SPDX-License-Identifier: GPL-2.0
#include "outliers.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "base/util.h"

/* By so many standard deviations, and by so much of y, an outlier is worse than the usual run. */
#define OUTLIER_DEVIATIONS	10
#define OUTLIER_MIN		0.05
/* If a larger part of all runs are outliers, the program is like that, and all runs count. */
#define OUTLIERS_MAX		0.05
/* At most one of so many runs of a row is left out. Null runs say more of what is usual. */
#define OUTLIERS_OF		4
#define OUTLIERS_OF_NULL	3
/* Fewer deviations do not tell how much runs scatter. */
#define DEVIATIONS_MIN		6
/* A normal distribution's standard deviation is so many median absolute deviations. */
#define MAD_TO_DEVIATION	1.4826

/* How far runs are from the usual runs of their rows. One control explains a part of it. */
struct deviations {
	enum race_control control;
	double *usual;		/* by row */
	double *worse;		/* by run */
	double *sizes;		/* in rows that have a middle run */
	size_t nr_sizes;
};

/* y without what the control is expected to explain. */
static double adjusted(const struct race *race, const struct race_run *run,
		       enum race_control control)
{
	return run->y - race->slope[control] * run->control[control];
}

/* Fills *y, sorted, with the runs of a row. Returns their number. */
static size_t sorted_runs(const struct race *race, size_t row, enum race_control control,
			  double *y)
{
	size_t n = 0;

	for (size_t i = 0; i < race->nr_runs; i++)
		if (race->runs[i].row == row)
			y[n++] = adjusted(race, &race->runs[i], control);
	gsl_sort(y, 1, n);
	return n;
}

/* Null rows serve rows of each control. */
static bool has_control(const struct race_row *row, enum race_control control)
{
	return row->runs && (row->kind == RACE_NULL || row->control == control);
}

static double usual_scale(const struct race *race, const struct deviations *d, size_t row)
{
	const struct race_row *r = &race->rows[row];

	if (!race->rows[r->null].runs)
		return 1;
	return race_scale(r, d->usual[row] - d->usual[r->null]);
}

/* The middle run of a row is usual; of two runs, the better one. */
static void add_deviations(const struct race *race, size_t row, struct deviations *d)
{
	double *y = xmalloc((race->rows[row].runs + 1) * sizeof(*y)), scale;
	size_t n = sorted_runs(race, row, d->control, y);

	d->usual[row] = n == 2 ? y[1] : gsl_stats_median_from_sorted_data(y, 1, n);
	scale = usual_scale(race, d, row);
	for (size_t i = 0; i < race->nr_runs; i++)
		if (race->runs[i].row == row)
			d->worse[i] = scale * (d->usual[row] -
					       adjusted(race, &race->runs[i], d->control));
	/* The deviation of the middle run is always 0. */
	for (size_t i = 0; i < n && n > 2; i++)
		if (n % 2 == 0 || i != n / 2)
			d->sizes[d->nr_sizes++] = scale * fabs(y[i] - d->usual[row]);
	free(y);
}

/* The deviation beyond which runs are outliers. */
static double limit_of(struct deviations *d)
{
	if (d->nr_sizes < DEVIATIONS_MIN)
		return INFINITY;
	gsl_sort(d->sizes, 1, d->nr_sizes);
	return fmax(OUTLIER_MIN, OUTLIER_DEVIATIONS * MAD_TO_DEVIATION *
		    gsl_stats_median_from_sorted_data(d->sizes, 1, d->nr_sizes));
}

/* A run is an outlier if it is one by each control that its row is compared by. */
static void find_by_control(struct race *race, enum race_control control)
{
	struct deviations d = {
		.control = control,
		.usual = xmalloc((race->nr_rows + 1) * sizeof(*d.usual)),
		.worse = xmalloc((race->nr_runs + 1) * sizeof(*d.worse)),
		.sizes = xmalloc((race->nr_runs + 1) * sizeof(*d.sizes)),
	};
	double limit;

	for (size_t i = 0; i < race->nr_rows; i++)
		if (has_control(&race->rows[i], control))
			add_deviations(race, i, &d);
	limit = limit_of(&d);
	for (size_t i = 0; i < race->nr_runs; i++) {
		struct race_run *run = &race->runs[i];
		const struct race_row *row = &race->rows[run->row];

		if (!has_control(row, control))
			continue;
		run->outlier &= d.worse[i] > hypot(limit, OUTLIER_DEVIATIONS * row->spread);
	}
	free(d.usual);
	free(d.worse);
	free(d.sizes);
}

/* Leaves the outliers out of a row, unless they are too large a part of it. */
static void leave_out(struct race_row *row, size_t outliers)
{
	size_t of = row->kind == RACE_NULL ? OUTLIERS_OF_NULL : OUTLIERS_OF;

	row->odd = outliers > row->runs / of;
	row->left_out = row->odd ? 0 : outliers;
}

void race_find_outliers(struct race *race)
{
	size_t *outliers = xmalloc((race->nr_rows + 1) * sizeof(*outliers)), all = 0;
	bool rare;

	for (size_t i = 0; i < race->nr_runs; i++)
		race->runs[i].outlier = race->disturbances;
	for (int c = 0; c < RACE_CONTROLS && race->disturbances; c++)
		if (race_uses(race, c))
			find_by_control(race, c);
	for (size_t i = 0; i < race->nr_rows; i++)
		outliers[i] = 0;
	for (size_t i = 0; i < race->nr_runs; i++) {
		outliers[race->runs[i].row] += race->runs[i].outlier;
		all += race->runs[i].outlier;
	}
	rare = all <= ceil(OUTLIERS_MAX * race->nr_runs);
	for (size_t i = 0; i < race->nr_rows; i++)
		leave_out(&race->rows[i], rare ? outliers[i] : 0);
	free(outliers);
}
