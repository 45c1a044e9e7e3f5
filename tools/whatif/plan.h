/* SPDX-License-Identifier: GPL-2.0 */
/* Plans the conditions that answer a question: baseline, null and variants. */
#ifndef TOOLS_WHATIF_PLAN_H
#define TOOLS_WHATIF_PLAN_H

#include "question.h"

/* Kinds of runs: unmodified, instrumented, and varied. */
enum condition_kind { CONDITION_BASELINE, CONDITION_NULL, CONDITION_VARIANT };

struct whatif_condition {
	char *name;
	enum condition_kind kind;
	/* Part of the time that the varied functions take less; NAN: said. */
	double cut;
	/* In thousandths; 0: not instrumented. */
	unsigned int percent[WHATIF_SLOTS];
};

#define CONDITIONS_FIRST	2	/* variant, after baseline and null */

struct whatif_plan {
	struct whatif_condition *conditions;
	size_t nr_conditions;
};

/* Plans the conditions from the options; ends the program on wrong ones. */
void whatif_plan(const struct whatif_question *q, struct whatif_plan *plan);

/* The part of its time that a function at this percent takes less. */
double whatif_cut(unsigned int percent);
/* Does the condition differ from the null experiment in that slot? */
bool whatif_varied(const struct whatif_plan *plan, size_t condition,
		   unsigned int slot);

const char *whatif_kind(enum condition_kind kind);
void whatif_plan_free(struct whatif_plan *plan);

#endif
