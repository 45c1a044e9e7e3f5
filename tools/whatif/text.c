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

void whatif_free(struct whatif *w)
{
	whatif_forget(w);
	whatif_question_free(&w->question);
	whatif_found_free(&w->found);
	whatif_plan_free(&w->plan);
	whatif_samples_free(&w->samples);
}
