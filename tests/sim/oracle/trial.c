// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trial.h"

/* The machine's order was the oracle's if all came out alike. */
static bool is_same(struct trial *t, const struct program *p,
		    const struct results *ideal, const struct results *real)
{
	for (unsigned int k = 0; k < p->tasks; k++)
		for (unsigned int i = 0; i < p->task[k].ops; i++) {
			const struct span *a = &result_of(ideal, (int)k, i)->span;
			const struct span *b = &result_of(real, (int)k, i)->span;

			if (a->exact == b->exact)
				continue;
			snprintf(t->why, sizeof(t->why),
				 "task %u, operation %u: in its order exactly at %llu, not at %llu",
				 k, i, (unsigned long long)fixed_ns(b->exact),
				 (unsigned long long)fixed_ns(a->exact));
			return false;
		}
	return true;
}

static enum verdict compare(struct trial *t, const struct program *p,
			    const struct results *ideal, struct results *real)
{
	bool determinate;

	if (!oracle_run(p, (struct results *)ideal, &determinate))
		return TRIAL_SENSELESS;
	if (!machine_run(p, real, t->mode, &t->counts, t->why))
		return TRIAL_BAD;
	if (determinate && !is_same(t, p, ideal, real))
		return TRIAL_BAD;
	t->programs++;
	t->determinate += determinate;
	t->operations += ideal->ops;
	if (determinate)
		report_add(&t->exact, p, ideal, real);
	else
		report_add(&t->given, p, real, real);
	return TRIAL_GOOD;
}

enum verdict trial_run(struct trial *t, const struct program *p)
{
	struct results ideal, real;
	enum verdict verdict;

	results_init(&ideal, p);
	results_init(&real, p);
	verdict = compare(t, p, &ideal, &real);
	results_free(&ideal);
	results_free(&real);
	return verdict;
}
