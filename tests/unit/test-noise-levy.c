// SPDX-License-Identifier: GPL-2.0
/*
 * The truncated Levy distribution by its formulas, beside the integrals that they
 * stand for; and a server's work with such noise.
 */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>

#include "noise/levy.h"
#include "noise/service.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define INTERVALS	4000
#define ATOMS		1000000

struct moment {
	double scale;
	double range;
	double about;
	int power;
};

/* The variable is the logarithm of y. */
static double integrand(double log_y, void *arg)
{
	const struct moment *m = arg;
	double y = exp(log_y);

	return exp(levy_log_density(y, m->scale, m->range)) * y *
	       pow(y - m->about, m->power);
}

static double integral(struct moment m, double to)
{
	gsl_integration_workspace *w = gsl_integration_workspace_alloc(INTERVALS);
	gsl_function f = { .function = integrand, .params = &m };
	double a2 = m.scale / 2 / to, result, error;

	/* Below, the density is exp(-50) of what it is at the end, or less. */
	gsl_integration_qag(&f, log(m.scale / 2 / (a2 + 50)), log(to), 0, 1e-11,
			    INTERVALS, GSL_INTEG_GAUSS61, w, &result, &error);
	gsl_integration_workspace_free(w);
	return result;
}

static bool near(double got, double expected, double relative)
{
	if (fabs(got - expected) <= relative * fabs(expected))
		return true;
	printf("# got %.12g, expected %.12g\n", got, expected);
	return false;
}

static void test_moments(double scale, double range)
{
	double mean = levy_mean(scale, range);
	struct moment m = { .scale = scale, .range = range };

	ok(near(integral(m, range), 1, 1e-8),
	   "scale %g, range %g: the density adds up to 1", scale, range);
	m.power = 1;
	ok(near(mean, integral(m, range), 1e-8), "the mean");
	m.power = 2;
	m.about = mean;
	ok(near(levy_variance(scale, range), integral(m, range), 1e-8),
	   "the variance");
}

static void test_probabilities(double scale, double range)
{
	static const double p[] = { 1e-6, 0.01, 0.5, 0.9, 0.999, 1 - 1e-6 };
	struct moment m = { .scale = scale, .range = range };
	bool quantiles = true, below = true, above = true;

	for (size_t i = 0; i < COUNT(p); i++) {
		double y = levy_quantile(p[i], scale, range);

		quantiles &= y > 0 && y <= range;
		below &= near(exp(levy_log_below(y, scale, range)), p[i], 1e-9);
		above &= near(exp(levy_log_above(y, scale, range)), 1 - p[i],
			      1e-8);
		quantiles &= near(integral(m, y), p[i], 1e-8);
	}
	ok(quantiles, "scale %g, range %g: the density up to a quantile", scale,
	   range);
	ok(below, "the probability below it");
	ok(above, "and above it");
	ok(levy_quantile(1, scale, range) == range &&
	   levy_quantile(0, scale, range) == 0, "the ends");
	ok(levy_log_below(range, scale, range) == 0 &&
	   levy_log_above(range, scale, range) == -INFINITY &&
	   levy_log_density(range * 1.001, scale, range) == -INFINITY,
	   "nothing is beyond the range");
	ok(levy_log_below(0, scale, range) == -INFINITY &&
	   levy_log_above(-1, scale, range) == 0 &&
	   levy_log_density(0, scale, range) == -INFINITY,
	   "nor below the location");
}

/* In the far tails, where 1 - p is 1. */
static void test_tails(void)
{
	/* erfc(t) of t = sqrt(1 / 2y), and as many digits from its series. */
	double y = 1e-3, t2 = 500;
	double series = -t2 - log(t2 * M_PI) / 2 +
			log1p(-1 / (2 * t2) + 3 / (4 * t2 * t2));

	ok(near(levy_log_below(y, 1, INFINITY), series, 1e-9),
	   "a probability of exp(-500)");
	ok(near(levy_log_above(1e20, 1, INFINITY), log(2e-10 / sqrt(2 * M_PI)),
		1e-9), "and one of 1e-10");
	ok(isinf(levy_mean(1, INFINITY)) && isinf(levy_variance(1, INFINITY)),
	   "without an end, the moments are infinite");
}

/*
 * The noise as so many equal parts of certainty: between two, the density of the
 * sum only decays, and f log f has an integral.
 */
static double divergence_of_atoms(double scale, double range)
{
	double f = 0, at = 0, sum = 0, mean = 1;

	for (int i = 0; i < ATOMS; i++) {
		double y = levy_quantile((i + 0.5) / ATOMS, scale, range);
		double d = y - at, less = exp(-d);

		if (f > 0)
			sum += f * (log(f) * (1 - less) - 1 + less * (1 + d));
		f = f * less + 1.0 / ATOMS;
		at = y;
		mean += y / ATOMS;
	}
	return sum + f * (log(f) - 1) + log(mean) + 1;
}

static void test_divergence(double scale, double range)
{
	double expected = divergence_of_atoms(scale, range);
	double got = service_divergence(1, scale, range);

	/* So many atoms leave out at most 5e-4, judged by half of them. */
	ok(near(got, expected, 1e-3), "scale %g, range %g: %.3g nats", scale,
	   range, got);
	ok(near(service_divergence(1e-3, scale * 1e-3, range * 1e-3), got, 1e-5),
	   "in any unit");
}

static void test_service(void)
{
	test_divergence(0.01, 0.5);
	test_divergence(0.1, 3);
	test_divergence(0.1, 100);
	test_divergence(2, 20);
	test_divergence(20, 1);
	test_divergence(1280, 1e4);
	ok(fabs(service_divergence(1, 1e-9, 1e-6)) < 1e-6,
	   "next to no noise is next to no divergence");
	ok(isnan(service_divergence(0, 1, 10)), "of no work there is none");
	ok(near(service_waits(1, 0, 0), 1, 1e-12),
	   "without noise the queue is M/M/1");
	ok(near(service_waits(1, 1e9, 0), 0.5, 1e-6),
	   "with nothing but a constant it is M/D/1");
	ok(near(service_waits(1, 1, 7), 1.5, 1e-12), "and with a variance longer");
}

int main(void)
{
	static const double ranges[] = { 0.02, 0.1, 1, 10, 1e3, 1e6, 1e9 };

	gsl_set_error_handler_off();
	for (size_t i = 0; i < COUNT(ranges); i++)
		test_moments(1, ranges[i]);
	test_moments(3e-6, 2e-3);
	for (size_t i = 0; i < COUNT(ranges); i++)
		test_probabilities(1, ranges[i]);
	test_tails();
	test_service();
	return done();
}
