/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the functions in whose calls a sample was taken. */
#ifndef TOOLS_PROFILE_ATTRIBUTE_H
#define TOOLS_PROFILE_ATTRIBUTE_H

#include <stdint.h>

#include "samples.h"
#include "survey.h"
#include "unwind.h"

struct attribution;

/*
 * Fills frames, which has room for UNWIND_MAX, with indices of functions of the survey,
 * the innermost first. Enters functions that the survey does not have yet. Returns
 * their number. *whole: the last one is the beginning of the thread.
 */
uint32_t attribute(struct attribution *a, const struct tense_sample *sample,
		   uint32_t *frames, bool *whole);

/* Fills the survey's blocks, most time first. */
void attribute_blocks(struct attribution *a, struct survey *survey,
		      const struct samples *samples);

#endif
