/* SPDX-License-Identifier: GPL-2.0 */
/* Turns samples of blocks and wake-ups into the waits of the threads. */
#ifndef TOOLS_PROFILE_BLOCKS_H
#define TOOLS_PROFILE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "samples.h"
#include "survey.h"

struct attribution;

/*
 * Finds the functions in whose calls a sample was taken. Fills frames, which has room
 * for UNWIND_MAX, with their indices in the survey, the innermost first. Enters functions
 * that the survey does not have yet. Returns their number. *whole: the last one is the
 * beginning of the thread.
 */
typedef uint32_t (*attribute_fn)(struct attribution *a, const struct tense_sample *sample,
				 uint32_t *frames, bool *whole);

/* Fills the survey's blocks, most time first. */
void survey_blocks_fill(struct survey *survey, const struct samples *samples,
			attribute_fn attribute, struct attribution *a);

#endif
