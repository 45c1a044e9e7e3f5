/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a question to its answer, in five parts. Each part has a header that says which
 * file fills it. A function takes only the parts that it needs; the writers of
 * output.h and json.h only read.
 */
#ifndef TOOLS_WHATIF_H
#define TOOLS_WHATIF_H

#include "answer.h"
#include "found.h"
#include "plan.h"
#include "question.h"
#include "samples.h"

struct whatif {
	struct whatif_question question;
	struct whatif_found found;
	struct whatif_plan plan;
	struct whatif_samples samples;
	struct whatif_answer answer;
};

/* Draws the conclusion, unless the measurement has drawn it already. */
void whatif_conclude(struct whatif *w);
void whatif_free(struct whatif *w);

#endif
