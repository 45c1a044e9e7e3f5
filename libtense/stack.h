/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of nested percents of one thread.
 *
 * Each level holds the product of the percents up to it as a decimal
 * fixed-point number: a percent of a percent then has a finite expansion, so
 * that nesting is exact as far as the digits reach, six levels of any
 * percents, and is rounded to 1e-12 of a percent at each level after.
 */
#ifndef LIBTENSE_STACK_H
#define LIBTENSE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include <tense.h>

#define TENSE_STACK_ONE 1000000000000ULL	/* one percent */

struct tense_stack {
	bool based;	/* level[0] is known */
	unsigned int depth;
	uint64_t level[TENSE_SCALE_DEPTH + 1];
};

/* Starts afresh: percent is what the thread has with nothing pushed. */
void tense_stack_base(struct tense_stack *s, unsigned int percent);

/*
 * The product that pushing percent would give. -EINVAL, -ENOSPC or -ERANGE as
 * tense_scale_percent() documents.
 */
int tense_stack_product(const struct tense_stack *s, int percent,
			uint64_t *product);

/* The whole percent, which is what the kernel knows, nearest to a product. */
static inline unsigned int tense_stack_round(uint64_t product)
{
	return (product + TENSE_STACK_ONE / 2) / TENSE_STACK_ONE;
}

#endif
