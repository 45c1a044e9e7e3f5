/* SPDX-License-Identifier: GPL-2.0 */
/* Compares the rounds of two variants of a log. */
#ifndef COMPARE_H
#define COMPARE_H

#include "whatif/estimate.h"
#include "../bench/log.h"

/* Ends the program with a message. */
__attribute__((noreturn)) void fail(const char *what, const char *detail);

/*
 * By how many percent the figure of a key is smaller in the variant than in the
 * baseline, with its 95 % interval. The runs of a round are compared, without the part
 * of their difference that the speed of the machine explains. Ends the program if the
 * log has too few rounds or lacks the figure.
 */
struct interval faster(const struct log *input, const char *key,
		       const char *baseline, const char *variant);

#endif
