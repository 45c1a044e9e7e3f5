/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file TENSE_FUNCTIONS_MARKS: the times at which functions were called, in
 * all processes of an experiment. The processes share the mapping, so the marks
 * are in the order of the calls. A process may end in any way without losing
 * marks.
 */
#ifndef TENSE_MARKS_H
#define TENSE_MARKS_H

#include <stdint.h>

#define TENSE_MARK_FROM		1U
#define TENSE_MARK_TO		2U
#define TENSE_MARK_SHIFT	2

struct tense_marks {
	uint64_t room;		/* number of marks, set by the maker of the file */
	uint64_t count;		/* marks that were made; may exceed room */
	/*
	 * Virtual ns << TENSE_MARK_SHIFT | TENSE_MARK_*. 0: the thread ended
	 * before the mark was complete.
	 */
	uint64_t mark[];
};

#endif
