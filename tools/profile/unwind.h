/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the callers of the function in which a sample is. */
#ifndef TOOLS_PROFILE_UNWIND_H
#define TOOLS_PROFILE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/tense-samples.h>

#include "code.h"

#define UNWIND_MAX	256	/* frames; those further out are left out */

/* A place in the code of a frame. */
struct unwind_frame {
	uint16_t file;		/* number in the recording */
	uint64_t offset;	/* of a caller: in its call */
};

struct unwind {
	unsigned int depth;
	bool whole;		/* the outermost frame is the thread's beginning */
	struct unwind_frame frame[UNWIND_MAX];	/* the innermost first */
};

/*
 * code() returns the code of a file, or NULL. Where a file has no tables for
 * exceptions, the frame pointer leads to the caller.
 */
void unwind_sample(struct unwind *u, const struct tense_sample *sample,
		   const struct code *(*code)(void *arg, uint16_t file), void *arg);

#endif
