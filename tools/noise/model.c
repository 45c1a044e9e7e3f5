// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <gsl/gsl_multifit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

#include "levy.h"

const char *parameter_name(enum parameter parameter)
{
	static const char *const names[] = {
		[BEST] = "best", [SCALE] = "scale", [RANGE] = "range",
	};

	return names[parameter];
}

const char *form_name(enum form form)
{
	static const char *const names[] = {
		[FORM_LOG] = "log", [FORM_LINEAR] = "linear",
	};

	return names[form];
}

static void terms(enum form form, unsigned int per_core, double length,
		  double *x)
{
	bool logs = form == FORM_LOG;

	x[0] = 1;
	x[1] = logs ? log(per_core) : per_core;
	x[2] = logs ? log(length) : length;
}

static double seconds_of(enum parameter parameter, const struct cell *cell)
{
	switch (parameter) {
	case BEST:
		return cell->length + cell->levy.location;
	case SCALE:
		return cell->levy.scale;
	default:
		return cell->levy.bound - cell->levy.location;
	}
}

static double value(enum form form, enum parameter parameter,
		    const struct cell *cell)
{
	double seconds = seconds_of(parameter, cell);

	return form == FORM_LOG ? log(seconds) : seconds;
}

static void regress(struct law *law, enum form form, enum parameter parameter,
		    const struct cell *cells, size_t count)
{
	gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(count, TERMS);
	gsl_matrix *x = gsl_matrix_alloc(count, TERMS);
	gsl_matrix *covariances = gsl_matrix_alloc(TERMS, TERMS);
	gsl_vector *y = gsl_vector_alloc(count);
	gsl_vector_view of = gsl_vector_view_array(law->of, TERMS);
	double rest, all;

	for (size_t i = 0; i < count; i++) {
		terms(form, cells[i].per_core, cells[i].length,
		      gsl_matrix_ptr(x, i, 0));
		gsl_vector_set(y, i, value(form, parameter, &cells[i]));
	}
	gsl_multifit_linear(x, y, &of.vector, covariances, &rest, w);
	all = gsl_stats_tss(y->data, 1, count);
	law->r2 = all > 0 ? 1 - rest / all : NAN;
	law->error = sqrt(rest / (double)(count - TERMS));
	gsl_vector_free(y);
	gsl_matrix_free(covariances);
	gsl_matrix_free(x);
	gsl_multifit_linear_free(w);
}

int coefficients_regress(struct coefficients *c, enum form form,
			 const struct cell *cells, size_t count)
{
	bool numbers = false, lengths = false;

	for (size_t i = 1; i < count; i++) {
		numbers |= cells[i].per_core != cells[0].per_core;
		lengths |= cells[i].length != cells[0].length;
	}
	if (count <= TERMS || !numbers || !lengths)
		return -1;
	c->form = form;
	for (int i = 0; i < NR_PARAMETERS; i++)
		regress(&c->laws[i], form, i, cells, count);
	return 0;
}

static double evaluate(const struct coefficients *c, enum parameter parameter,
		       unsigned int per_core, double length)
{
	double x[TERMS], sum = 0;

	terms(c->form, per_core, length, x);
	for (int i = 0; i < TERMS; i++)
		sum += c->laws[parameter].of[i] * x[i];
	return c->form == FORM_LOG ? exp(sum) : sum;
}

int coefficients_predict(const struct coefficients *c, unsigned int per_core,
			 double length, struct dist *levy)
{
	double range = evaluate(c, RANGE, per_core, length);
	double best = evaluate(c, BEST, per_core, length);

	*levy = (struct dist){
		.family = LEVY,
		.location = best - length,
		.scale = evaluate(c, SCALE, per_core, length),
	};
	levy->bound = levy->location + range;
	if (best > 0 && isfinite(best) && isfinite(range) && range > 0 &&
	    levy->scale > 0 && levy->scale <= LEVY_SCALE_MAX * range)
		return 0;
	return -1;
}
