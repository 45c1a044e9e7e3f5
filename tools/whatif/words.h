/* SPDX-License-Identifier: GPL-2.0 */
/* An answer in words. The caller frees each text. */
#ifndef TOOLS_WHATIF_WORDS_H
#define TOOLS_WHATIF_WORDS_H

#include "whatif.h"

/* The functions that a condition varies, as in "deflate and crc32". */
char *whatif_varied_names(const struct whatif_question *q,
			  const struct whatif_plan *plan, size_t condition);

/* "took 20 % less time" */
char *whatif_cut_words(double cut);

/* "take 3.1 % less time", of a change in percent. */
char *whatif_change_words(const struct whatif_question *q, double change);

/* "time that the program takes less, %", for the axis of a picture. */
const char *whatif_gain_title(const struct whatif_question *q);

/* The sentence "If ... took ..., the program would ... [...]". */
char *whatif_sentence(const struct whatif *w, size_t condition);

#endif
