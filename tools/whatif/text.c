// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "whatif.h"

const char *whatif_verdict(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PREDICTION] = "prediction",
		[VERDICT_NO_EFFECT] = "no effect distinguishable",
		[VERDICT_NOT_CONVERGED] = "not converged",
		[VERDICT_NOT_TRUSTED] = "not trusted",
	};

	return names[verdict];
}

const char *whatif_estimator(enum estimator estimator)
{
	static const char *const names[] = {
		[ESTIMATOR_CPU] = "control variates: CPU time",
		[ESTIMATOR_CPU_PER_CALL] =
			"control variates: CPU time per call",
		[ESTIMATOR_REFERENCE] = "control variate: reference loop",
		[ESTIMATOR_MEDIAN] = "median of the rounds",
	};

	return names[estimator];
}

const char *whatif_verdict_id(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PREDICTION] = "prediction",
		[VERDICT_NO_EFFECT] = "no-effect",
		[VERDICT_NOT_CONVERGED] = "not-converged",
		[VERDICT_NOT_TRUSTED] = "not-trusted",
	};

	return names[verdict];
}

const char *whatif_estimator_id(enum estimator estimator)
{
	static const char *const names[] = {
		[ESTIMATOR_CPU] = "cpu",
		[ESTIMATOR_CPU_PER_CALL] = "cpu-per-call",
		[ESTIMATOR_REFERENCE] = "reference-loop",
		[ESTIMATOR_MEDIAN] = "median",
	};

	return names[estimator];
}

double whatif_own_ran(const struct whatif_sample *s)
{
	return s->ran > s->start ? s->ran - s->start : 1;
}

double whatif_mean(const struct whatif *w, size_t condition,
		   double (*figure)(const struct whatif_sample *))
{
	size_t rounds = whatif_rounds(w);
	double sum = 0;

	for (size_t r = 0; r < rounds; r++)
		sum += figure(whatif_at(w, condition, r));
	return rounds ? sum / rounds : 0;
}

void whatif_free(struct whatif *w)
{
	whatif_forget(w);
	whatif_question_free(&w->question);
	whatif_found_free(&w->found);
	whatif_plan_free(&w->plan);
	for (size_t i = 0; i < w->nr_patches; i++) {
		free(w->patches[i].object);
		free(w->patches[i].symbol);
		free(w->patches[i].how);
	}
	whatif_environment_free(&w->environment);
	free(w->samples);
	free(w->patches);
	free(w->spoiled);
}

size_t whatif_rounds(const struct whatif *w)
{
	size_t rounds = w->nr_samples / w->plan.nr_conditions;

	return rounds ? rounds - 1 : 0;
}

/* Samples lie by round, and in a round by condition; the first is discarded. */
const struct whatif_sample *whatif_at(const struct whatif *w, size_t condition,
				      size_t round)
{
	return &w->samples[(round + 1) * w->plan.nr_conditions + condition];
}
