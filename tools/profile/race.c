// SPDX-License-Identifier: GPL-2.0
#include "race.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>

#include "base/util.h"
#include "outliers.h"

#define RESAMPLES	2000
/* With fewer residuals, resamples are of a normal distribution instead. */
#define RESIDUALS_MIN	20
/* The expected slope counts as 4 runs in which the control deviates by 3 %. */
#define SLOPE_WEIGHT	(4 * 0.03 * 0.03)
/* The variance of all rows together counts as so many runs of each. */
#define POOLED_WEIGHT	4
#define VARIANCE_MIN	1e-12
#define NULL_RUNS_MIN	3
/* A row with so few runs may be doubtful, and with fewer than these if one is an outlier. */
#define DOUBTFUL_RUNS	2
#define DOUBTFUL_ODD_RUNS	4

/* The runs of a row, for one control. */
struct summary {
	size_t n;
	double mean;		/* of y without what the control explains */
	double control;		/* mean of the control */
	double squares;		/* of deviations from the mean */
	double scale;		/* makes deviations of all rows comparable */
};

/* The runs of all rows, for one control. */
struct pool {
	struct summary *rows;
	double slope;
	double weight;		/* inverse variance of the slope, of unit noise */
	double variance;
	double df;
	double *residuals;
	size_t nr_residuals;
};

size_t race_add_row(struct race *race, enum race_kind kind, size_t null)
{
	race->rows = xrealloc(race->rows, (race->nr_rows + 1) *
					  sizeof(*race->rows));
	race->rows[race->nr_rows] = (struct race_row){
		.kind = kind, .null = null,
		.low = -INFINITY, .high = INFINITY,
	};
	return race->nr_rows++;
}

void race_add_run(struct race *race, const struct race_run *run)
{
	race->runs = xrealloc(race->runs, (race->nr_runs + 1) *
					  sizeof(*race->runs));
	race->runs[race->nr_runs++] = *run;
	race->rows[run->row].runs++;
}

bool race_counts(const struct race *race, const struct race_run *run)
{
	return !(run->outlier && race->rows[run->row].left_out);
}

size_t race_left_out(const struct race *race)
{
	size_t n = 0;

	for (size_t i = 0; i < race->nr_rows; i++)
		n += race->rows[i].left_out;
	return n;
}

static void add_means(const struct race *race, enum race_control control,
		      struct summary *rows, double slope)
{
	for (size_t i = 0; i < race->nr_rows; i++)
		rows[i] = (struct summary){ .scale = 1 };
	for (size_t i = 0; i < race->nr_runs; i++) {
		const struct race_run *run = &race->runs[i];
		struct summary *row = &rows[run->row];

		if (!race_counts(race, run))
			continue;
		row->n++;
		row->mean += run->y - slope * run->control[control];
		row->control += run->control[control];
	}
	for (size_t i = 0; i < race->nr_rows; i++) {
		if (!rows[i].n)
			continue;
		rows[i].mean /= rows[i].n;
		rows[i].control /= rows[i].n;
	}
}

/* Least squares within rows, with the expected slope as a few more runs. */
static void fit_slope(const struct race *race, enum race_control control,
		      struct pool *pool)
{
	double squares = SLOPE_WEIGHT;
	double products = SLOPE_WEIGHT * race->slope[control];

	add_means(race, control, pool->rows, 0);
	for (size_t i = 0; i < race->nr_runs; i++) {
		const struct race_run *run = &race->runs[i];
		const struct summary *row = &pool->rows[run->row];
		double x = run->control[control] - row->control;

		if (!race_counts(race, run) || race->rows[run->row].odd)
			continue;
		squares += x * x;
		products += x * (run->y - row->mean);
	}
	pool->slope = products / squares;
	pool->weight = squares;
	add_means(race, control, pool->rows, pool->slope);
}

static double scale_of(const struct race *race, const struct pool *pool, size_t row)
{
	const struct race_row *r = &race->rows[row];

	if (!pool->rows[row].n || !pool->rows[r->null].n)
		return 1;
	return race_scale(r, pool->rows[row].mean - pool->rows[r->null].mean);
}

static void pool_free(struct pool *pool)
{
	free(pool->rows);
	free(pool->residuals);
}

static struct pool pool_runs(const struct race *race, enum race_control control)
{
	struct pool pool = {
		.rows = xmalloc((race->nr_rows + 1) * sizeof(*pool.rows)),
		.residuals = xmalloc((race->nr_runs + 1) *
				     sizeof(*pool.residuals)),
	};
	double squares = 0;

	fit_slope(race, control, &pool);
	for (size_t i = 0; i < race->nr_rows; i++)
		pool.rows[i].scale = scale_of(race, &pool, i);
	for (size_t i = 0; i < race->nr_runs; i++) {
		const struct race_run *run = &race->runs[i];
		struct summary *row = &pool.rows[run->row];
		double r = (run->y - pool.slope * run->control[control] -
			    row->mean) * row->scale;

		if (!race_counts(race, run))
			continue;
		row->squares += r * r;
		/* An odd row scatters in its own way. */
		if (race->rows[run->row].odd)
			continue;
		squares += r * r;
		if (row->n < 2)
			continue;
		/* Residuals lie closer together than the errors. */
		pool.residuals[pool.nr_residuals++] =
			r * sqrt((double)row->n / (row->n - 1));
	}
	for (size_t i = 0; i < race->nr_rows; i++)
		pool.df += pool.rows[i].n && !race->rows[i].odd ? pool.rows[i].n - 1 : 0;
	/* The slope costs a degree of freedom, but its expectation returns most of it. */
	pool.variance = pool.df > 0 ? fmax(squares / pool.df, VARIANCE_MIN) :
				      INFINITY;
	return pool;
}

/*
 * Combines the variance within a row with that of all rows, because a row with a
 * single run has none of its own.
 */
static double variance_of(double pooled, const struct summary *row)
{
	return (POOLED_WEIGHT * pooled + row->squares) /
	       (POOLED_WEIGHT + row->n - 1) / (row->scale * row->scale);
}

/* The standard error of a row's difference from its null row. */
static double error_of(const struct race *race, const struct pool *pool, size_t row)
{
	size_t null = race->rows[row].null;
	const struct summary *a = &pool->rows[row], *b = &pool->rows[null];
	double spread = race->rows[row].spread, common = race->rows[row].common;
	double apart = a->control - b->control;

	return sqrt(fmax(variance_of(pool->variance, a), spread * spread) / a->n +
		    variance_of(pool->variance, b) / b->n + common * common +
		    pool->variance * apart * apart / pool->weight);
}

static double draw(gsl_rng *rng, const struct pool *pool)
{
	if (pool->nr_residuals < RESIDUALS_MIN)
		return gsl_ran_gaussian_ziggurat(rng, 1);
	return pool->residuals[gsl_rng_uniform_int(rng, pool->nr_residuals)];
}

/* Fills rows with as many runs as the real ones have, but without any effect. */
static double resample(const struct race *race, const struct pool *pool,
		       gsl_rng *rng, struct summary *rows)
{
	double squares = 0;

	for (size_t i = 0; i < race->nr_rows; i++) {
		struct summary *row = &rows[i];

		*row = (struct summary){ .n = pool->rows[i].n, .scale = 1 };
		for (size_t k = 1; k <= row->n; k++) {
			double y = draw(rng, pool), off = y - row->mean;

			row->mean += off / k;
			row->squares += off * (y - row->mean);
		}
		/* The pooled variance lacks odd rows. */
		if (!race->rows[i].odd)
			squares += row->squares;
	}
	return fmax(squares / pool->df, VARIANCE_MIN);
}

static double largest_t(const struct race *race, double variance,
			const struct summary *rows)
{
	double most = 0;

	for (size_t i = 0; i < race->nr_rows; i++) {
		const struct summary *a = &rows[i];
		const struct summary *b = &rows[race->rows[i].null];
		double error;

		if (race->rows[i].kind == RACE_NULL || !a->n || !b->n)
			continue;
		error = sqrt(variance_of(variance, a) / a->n +
			     variance_of(variance, b) / b->n);
		most = fmax(most, fabs(a->mean - b->mean) / error);
	}
	return most;
}

/* How far the control may lead the gain astray. */
static double doubt_of(const struct pool *pool, const struct race_row *row)
{
	if (!pool->slope || !row->doubt)
		return 0;
	return fabs(pool->slope) * row->doubt;
}

/* The |t| that the largest of all rows exceeds by chance as rarely as allowed. */
static double critical_t(const struct race *race, const struct pool *pool)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct summary *rows = xmalloc(race->nr_rows * sizeof(*rows));
	double *t = xmalloc(RESAMPLES * sizeof(*t)), critical;

	gsl_rng_set(rng, race->seed);
	for (size_t b = 0; b < RESAMPLES; b++) {
		double variance = resample(race, pool, rng, rows);

		t[b] = largest_t(race, variance, rows);
	}
	gsl_sort(t, 1, RESAMPLES);
	critical = t[(size_t)(RESAMPLES * (1 - RACE_ALPHA / RACE_LOOKS))];
	gsl_rng_free(rng);
	free(rows);
	free(t);
	return critical;
}

static void set_interval(struct race_row *row, double gain, double half)
{
	row->gain = gain;
	row->low = gain - half;
	row->high = gain + half;
}

static void estimate(struct race *race, enum race_control control)
{
	struct pool pool = pool_runs(race, control);
	double critical = pool.df > 0 ? critical_t(race, &pool) : INFINITY;

	for (size_t i = 0; i < race->nr_rows; i++) {
		struct race_row *row = &race->rows[i];
		const struct summary *null = &pool.rows[row->null];

		if (row->control != control)
			continue;
		set_interval(row, 0, INFINITY);
		if (row->kind == RACE_NULL || !row->runs || !null->n)
			continue;
		row->gain = pool.rows[i].mean - null->mean;
		if (pool.df > 0)
			set_interval(row, row->gain,
				     hypot(critical * error_of(race, &pool, i),
					   doubt_of(&pool, row)));
	}
	pool_free(&pool);
}

static bool is_candidate(const struct race_row *row)
{
	return row->kind == RACE_CANDIDATE && row->runs;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The lower bound of the last of the best. A row below it is not one of them. */
static double bar(const struct race *race)
{
	double *low = xmalloc((race->nr_rows + 1) * sizeof(*low)), result;
	size_t n = 0;

	for (size_t i = 0; i < race->nr_rows; i++)
		if (is_candidate(&race->rows[i]))
			low[n++] = race->rows[i].low;
	qsort(low, n, sizeof(*low), descending);
	result = n < race->top || !race->top ? -INFINITY : low[race->top - 1];
	free(low);
	return result;
}

static bool overlap(const struct race_row *a, const struct race_row *b)
{
	return a->low <= b->high && b->low <= a->high;
}

/* May the row be one of the best, with a gain that matters? */
static bool is_contender(const struct race *race, const struct race_row *row,
			 double at_least)
{
	return is_candidate(row) && row->high >= at_least &&
	       row->high > race->precision;
}

static bool has_rival(const struct race *race, size_t index, double at_least)
{
	const struct race_row *row = &race->rows[index];

	for (size_t i = 0; i < race->nr_rows; i++)
		if (i != index &&
		    is_contender(race, &race->rows[i], at_least) &&
		    overlap(row, &race->rows[i]))
			return true;
	return false;
}

bool race_is_doubtful(const struct race *race, const struct race_row *row)
{
	if (!is_candidate(row) || !race->disturbances)
		return false;
	return row->odd ? row->runs < DOUBTFUL_ODD_RUNS :
			  row->runs - row->left_out <= DOUBTFUL_RUNS && row->high < 0;
}

void race_look(struct race *race)
{
	double at_least;

	race_find_outliers(race);
	for (int c = 0; c < RACE_CONTROLS; c++)
		if (race_uses(race, c))
			estimate(race, c);
	at_least = bar(race);
	for (size_t i = 0; i < race->nr_rows; i++) {
		struct race_row *row = &race->rows[i];

		row->racing = race_is_doubtful(race, row) ||
			      (is_contender(race, row, at_least) &&
			       row->high - row->low > race->precision &&
			       has_rival(race, i, at_least));
	}
}

bool race_is_on(const struct race *race)
{
	for (size_t i = 0; i < race->nr_rows; i++)
		if (race->rows[i].racing)
			return true;
	return false;
}

/* Is the row, with the given gain, above all candidates with a smaller one? */
static bool is_above(const struct race *race, const struct race_row *row)
{
	for (size_t i = 0; i < race->nr_rows; i++)
		if (is_candidate(&race->rows[i]) && &race->rows[i] != row &&
		    race->rows[i].gain <= row->gain &&
		    race->rows[i].high >= row->low)
			return false;
	return true;
}

unsigned int race_separated(const struct race *race)
{
	double below = INFINITY;
	unsigned int count = 0;

	for (;;) {
		const struct race_row *best = NULL;

		for (size_t i = 0; i < race->nr_rows; i++) {
			const struct race_row *row = &race->rows[i];

			if (is_candidate(row) && row->gain < below &&
			    (!best || row->gain > best->gain))
				best = row;
		}
		if (!best || isinf(best->low) || !is_above(race, best))
			return count;
		below = best->gain;
		count++;
	}
}

struct stage {
	size_t *rows;
	size_t count;
};

static void add_times(struct stage *stage, size_t row, size_t times)
{
	stage->rows = xrealloc(stage->rows, (stage->count + times + 1) *
					    sizeof(*stage->rows));
	while (times--)
		stage->rows[stage->count++] = row;
}

/* How often a row of the stage runs; 0 for rows that are in no stage. */
static size_t times_of(const struct race *race, const struct race_row *row,
		       bool extra)
{
	if (extra)
		return row->kind != RACE_EXTRA ||
		       row->high - row->low <= race->precision ? 0 :
		       row->runs ? row->runs : 1;
	if (row->kind != RACE_CANDIDATE)
		return 0;
	return !row->runs ? 1 : row->racing ? row->runs : 0;
}

/*
 * The null row serves all n rows of its group. For a given total of runs, the errors
 * are smallest if the null row has sqrt(n) times as many runs as each of the others.
 */
static size_t null_times(size_t runs, size_t rows, size_t each)
{
	size_t wanted = ceil(each * sqrt(rows));

	if (!rows)
		return 0;
	if (wanted < NULL_RUNS_MIN)
		wanted = NULL_RUNS_MIN;
	return wanted > runs ? wanted - runs : 0;
}

size_t race_first_nulls(size_t rows)
{
	return null_times(0, rows, 1);
}

static void add_nulls(const struct race *race, struct stage *stage, bool extra)
{
	for (size_t null = 0; null < race->nr_rows; null++) {
		size_t rows = 0, each = 0;

		if (race->rows[null].kind != RACE_NULL)
			continue;
		for (size_t i = 0; i < race->nr_rows; i++) {
			const struct race_row *row = &race->rows[i];
			size_t more = row->null == null ?
				      times_of(race, row, extra) : 0;

			rows += more > 0;
			if (more && row->runs + more > each)
				each = row->runs + more;
		}
		add_times(stage, null,
			  null_times(race->rows[null].runs, rows, each));
	}
}

static void shuffle(const struct race *race, struct stage *stage)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, race->seed + race->nr_runs);
	if (stage->count)
		gsl_ran_shuffle(rng, stage->rows, stage->count,
				sizeof(*stage->rows));
	gsl_rng_free(rng);
}

size_t race_stage(const struct race *race, bool extra, size_t **rows)
{
	struct stage stage = { 0 };

	for (size_t i = 0; i < race->nr_rows; i++)
		if (race->rows[i].kind != RACE_NULL)
			add_times(&stage, i,
				  times_of(race, &race->rows[i], extra));
	add_nulls(race, &stage, extra);
	shuffle(race, &stage);
	*rows = stage.rows;
	return stage.count;
}

void race_free(struct race *race)
{
	free(race->rows);
	free(race->runs);
	*race = (struct race){ 0 };
}
