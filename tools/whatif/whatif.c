// SPDX-License-Identifier: GPL-2.0
#include "whatif.h"

void whatif_conclude(struct whatif *w)
{
	if (!w->answer.results)
		whatif_assess(&w->question, &w->plan, &w->samples, &w->answer);
}

void whatif_free(struct whatif *w)
{
	whatif_answer_free(&w->answer);
	whatif_question_free(&w->question);
	whatif_found_free(&w->found);
	whatif_plan_free(&w->plan);
	whatif_samples_free(&w->samples);
}
