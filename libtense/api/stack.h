/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of nested percents of one thread.
 *
 * Each level holds the product of the percents up to it, as a decimal fixed-point
 * number. A percent of a percent then has a finite expansion. So six levels of
 * any percents are exact, and each further level is rounded to 1e-12 of a
 * percent.
 */
#ifndef LIBTENSE_STACK_H
#define LIBTENSE_STACK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <tense.h>

#define TENSE_STACK_ONE 1000000000000ULL	/* one percent */

_Static_assert(TENSE_SCALE_MAX < UINT64_MAX / 100 / TENSE_STACK_ONE,
	       "100 times the largest product fits");

struct tense_stack {
	bool based;	/* level[0] is known */
	unsigned int depth;
	uint64_t level[TENSE_SCALE_DEPTH + 1];
	/* The levels rounded for the kernel, times TENSE_FINE. */
	uint32_t percent[TENSE_SCALE_DEPTH + 1];
};

/* Starts with an empty stack. percent: the thread's percent with nothing pushed. */
void tense_stack_base(struct tense_stack *s, unsigned int percent);

/*
 * Returns the product that pushing percent would give. -EINVAL, -ENOSPC or
 * -ERANGE as tense_scale_percent() documents.
 */
static inline int tense_stack_product(const struct tense_stack *s, int percent,
				      uint64_t *product)
{
	const uint64_t min = TENSE_SCALE_MIN * TENSE_STACK_ONE;
	const uint64_t max = TENSE_SCALE_MAX * TENSE_STACK_ONE;
	uint64_t p;

	if (percent < TENSE_SCALE_MIN || percent > TENSE_SCALE_MAX)
		return -EINVAL;
	if (s->depth == TENSE_SCALE_DEPTH)
		return -ENOSPC;
	if (__builtin_mul_overflow(s->level[s->depth], (uint64_t)percent, &p))
		return -ERANGE;
	if (p > max * 100)
		return -ERANGE;
	p = (p + 50) / 100;
	if (p < min)
		return -ERANGE;
	*product = p;
	return 0;
}

/* Returns the whole percent nearest to a product: the kernel knows whole ones only. */
static inline unsigned int tense_stack_round(uint64_t product)
{
	return (product + TENSE_STACK_ONE / 2) / TENSE_STACK_ONE;
}

#endif
