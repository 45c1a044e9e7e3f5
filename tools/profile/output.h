/* SPDX-License-Identifier: GPL-2.0 */
/* The answer of a profile, for readers. */
#ifndef TOOLS_PROFILE_OUTPUT_H
#define TOOLS_PROFILE_OUTPUT_H

#include <stdio.h>

#include "profile.h"

void profile_table(FILE *f, const struct profile *p, bool colour);

/* A line for each function. 0, or -1 with errno. */
int profile_csv(FILE *f, const struct profile *p);

/* A page that needs nothing else. 0, or -1 with errno. */
int profile_html(FILE *f, const struct profile *p);

/* The pictures of the page, as <svg>: the ranking, and a curve for each finalist. */
void profile_bars(FILE *f, const struct profile *p);
void profile_curves(FILE *f, const struct profile *p);

/* The functions and what they call, as <svg> and <script>. Not without the survey's stacks. */
bool profile_has_flame(const struct profile *p);
void profile_flame(FILE *f, const struct profile *p);

#endif
