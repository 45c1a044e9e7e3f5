/* SPDX-License-Identifier: GPL-2.0 */
/* Pages for a browser that need nothing else: their frame and their style. */
#ifndef TOOLS_WHATIF_PAGE_H
#define TOOLS_WHATIF_PAGE_H

#include <stdio.h>

#include "environment.h"
#include "question.h"

/* title is that of the command of tense. The text is escaped. */
void page_begin(FILE *f, const char *title, const char *command);

/* Ends the page with the machine of the runs. 0, or -1 with errno. */
int page_end(FILE *f, const struct whatif_question *q,
	     const struct whatif_environment *e);

/* Writes text escaped, between tags. */
void page_element(FILE *f, const char *open, const char *text,
		  const char *close);

#endif
