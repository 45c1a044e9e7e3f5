/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file TENSE_FUNCTIONS_MARKS: when functions were called, by all processes of
 * an experiment. They share the mapping, so that the order of the marks is that
 * of the calls, and no process has to end well for its marks to be there.
 */
#ifndef TENSE_MARKS_H
#define TENSE_MARKS_H

#include <stdint.h>

#define TENSE_MARK_FROM		1U
#define TENSE_MARK_TO		2U
#define TENSE_MARK_SHIFT	2

struct tense_marks {
	uint64_t room;		/* marks, as whoever makes the file says */
	uint64_t count;		/* that were made, and may be more than that */
	/*
	 * Virtual ns << TENSE_MARK_SHIFT | what the function is; 0: its thread
	 * ended before the mark was complete.
	 */
	uint64_t mark[];
};

#endif
