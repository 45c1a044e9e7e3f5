/* SPDX-License-Identifier: GPL-2.0 */
/* Finds a number in the output of a program by a Perl-compatible expression. */
#ifndef TOOLS_WHATIF_METRIC_H
#define TOOLS_WHATIF_METRIC_H

#include <stddef.h>

/* NULL, or an error in the expression, which the caller frees. */
char *whatif_metric_check(const char *pattern);

/*
 * The first group of the last match, or the whole match if there is no group.
 * NULL and *value, or what is wrong, which the caller frees.
 */
char *whatif_metric_find(const char *pattern, const char *text, size_t len,
			 double *value);

#endif
