// SPDX-License-Identifier: GPL-2.0
#include "fake-program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "base/util.h"
#include "whatif/log.h"

void fake_program_init(struct fake_program *p, unsigned long seed)
{
	*p = (struct fake_program){
		.seconds = 1, .share = 0.6, .share_sd = 0.003, .drift = 0.05,
		.noise = 0.001, .calls = 1000,
		.rng = gsl_rng_alloc(gsl_rng_mt19937),
	};
	gsl_rng_set(p->rng, seed);
}

void fake_program_free(struct fake_program *p)
{
	gsl_rng_free(p->rng);
}

void fake_program_progress(unsigned int done, unsigned int total, void *arg)
{
	(void)done;
	(void)total;
	(void)arg;
}

/* Less time in the function, as a part of it. */
static double cut_of(const struct whatif_plan *plan, size_t condition)
{
	unsigned int percent = plan->conditions[condition].percent[1];

	return percent ? whatif_cut(percent) : 0;
}

double fake_program_truth(const struct fake_program *p,
			  const struct whatif_plan *plan,
			  size_t condition)
{
	double asked = plan->conditions[condition].cut;
	double cut = isnan(asked) ? cut_of(plan, condition) : asked;
	double work = p->seconds * (1 - p->share * cut +
				    (cut > 0 ? p->more_outside : 0));

	return 100 * ((work + p->idle) / (p->seconds + p->idle) - 1);
}

static void tell(struct whatif_samples *samples, struct whatif_sample *s,
		 bool refuse)
{
	char *log = xprintf("%s\t7\t1\t/lib/libfake.so\tcompress\t0x1a30\t%s\n"
			    "cost\t7\t43.5\t120\n",
			    refuse ? "refused" : "patched",
			    refuse ? "it is shorter than a jump" : "in-process");

	whatif_log_read(samples, log, s);
	free(log);
}

int fake_program_run(struct whatif *w, size_t condition,
		     struct whatif_sample *s, void *arg)
{
	struct fake_program *p = arg;
	double cut = cut_of(&w->plan, condition), slow, inside, outside, share,
		work;
	bool instrumented = w->plan.conditions[condition].percent[1];

	p->order[p->runs++ % 1000] = condition;
	if (p->fail_at && p->runs == (unsigned int)p->fail_at)
		return 1;
	p->speed = 0.7 * p->speed + gsl_ran_gaussian(p->rng, p->drift);
	slow = exp(p->speed);
	share = p->share + gsl_ran_gaussian(p->rng, p->share_sd);
	work = p->seconds * slow;
	inside = work * share;
	outside = work * (1 - share) +
		  (cut > 0 ? work * p->more_outside : 0);
	if (instrumented)
		outside += work * p->bias;
	if (instrumented)
		inside += work * p->bias_inside;
	if (p->time_bound) {
		double longer = p->seconds / (inside * (1 - cut) + outside);

		inside *= longer;
		outside *= longer;
	}
	s->ran = 1e9 * (inside + outside);
	s->charged = 1e9 * (inside * (1 - cut) + outside);
	s->elapsed = (s->charged / (p->cpus > 0 ? p->cpus : 1) + 1e9 * p->idle) *
		     exp(gsl_ran_gaussian(p->rng, p->noise));
	s->real = s->ran + (uint64_t)(1e9 * p->idle);
	s->reference = 1e7 * slow *
		       exp(gsl_ran_gaussian(p->rng, p->drift / 4));
	s->threads = 2;
	if (instrumented) {
		s->slot[1].calls = p->refuse ? 0 : p->time_bound ?
				   p->calls * s->ran / work / 1e9 : p->calls;
		s->slot[1].ran = 1e9 * inside;
		s->slot[1].charged = 1e9 * inside * (1 - cut);
		s->overhead = s->slot[1].calls * 43.5;
		tell(&w->samples, s, p->refuse);
	}
	s->slot[0].ran = s->ran - s->slot[1].ran;
	s->slot[0].charged = s->charged - s->slot[1].charged;
	s->metric = s->elapsed;
	/* The program prints a rate, say: pieces of work per second. */
	if (w->question.metric.kind == METRIC_STDOUT)
		s->metric = 1e9 * s->ran / work / s->elapsed;
	if (w->question.metric.kind == METRIC_LATENCY) {
		s->metric = s->elapsed / 1000.0;
		s->latency = (struct whatif_latency){
			.from = p->calls, .to = p->calls - p->unanswered,
			.pairs = p->calls - p->unanswered,
			.median = s->metric / 2,
		};
	}
	return 0;
}
