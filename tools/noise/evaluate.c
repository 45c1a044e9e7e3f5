// SPDX-License-Identifier: GPL-2.0
#include "evaluate.h"

#include <math.h>

/* Sums of one figure over the classes. */
struct fraction {
	double errors;		/* squared, of the predictions */
	double sum, squares;	/* of what was measured */
};

static void add(struct fraction *f, double measured, double predicted)
{
	f->errors += (measured - predicted) * (measured - predicted);
	f->sum += measured;
	f->squares += measured * measured;
}

static double r2_of(const struct fraction *f, size_t count)
{
	double scatter = f->squares - f->sum * f->sum / (double)count;

	return count > 1 && scatter > 0 ? 1 - f->errors / scatter : NAN;
}

struct evaluation evaluate(const struct coefficients *c,
			   const struct held_out *classes, size_t count)
{
	struct evaluation e = { .classes = count, .mean_r2 = NAN,
				.variance_r2 = NAN };
	struct fraction mean = { 0 }, variance = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct held_out *h = &classes[i];
		struct dist levy;

		if (coefficients_predict(c, h->per_core, h->length, &levy)) {
			e.impossible++;
			continue;
		}
		add(&mean, h->mean, dist_mean(&levy));
		add(&variance, h->variance, dist_variance(&levy));
	}
	if (e.impossible)
		return e;
	e.mean_r2 = r2_of(&mean, count);
	e.variance_r2 = r2_of(&variance, count);
	return e;
}

enum form evaluation_better(const struct evaluation *of_forms)
{
	double logs = of_forms[FORM_LOG].mean_r2;
	double linear = of_forms[FORM_LINEAR].mean_r2;

	return linear > logs || (isnan(logs) && !isnan(linear)) ? FORM_LINEAR :
								 FORM_LOG;
}
