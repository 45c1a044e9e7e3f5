// SPDX-License-Identifier: GPL-2.0
#include "answer.h"

#include <stdlib.h>

const struct whatif_result *whatif_result(const struct whatif_answer *answer,
					  size_t condition)
{
	return &answer->results[condition - CONDITIONS_FIRST];
}

bool whatif_converged(const struct whatif_answer *answer, double precision)
{
	for (size_t i = 0; i < answer->nr_results; i++)
		if (whatif_width(&answer->results[i].change) > precision)
			return false;
	return true;
}

double whatif_width(const struct interval *i)
{
	return i->high - i->low;
}

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

void whatif_answer_free(struct whatif_answer *answer)
{
	for (size_t i = 0; i < answer->nr_results; i++) {
		free(answer->results[i].reason.text);
		free(answer->results[i].fallback.text);
		free(answer->results[i].rounds);
		free(answer->results[i].plain_rounds);
	}
	for (size_t i = 0; i < answer->nr_warnings; i++)
		free(answer->warnings[i].text);
	free(answer->results);
	free(answer->warnings);
	*answer = (struct whatif_answer){ 0 };
}
