/* SPDX-License-Identifier: GPL-2.0 */
/* Shows how far a profile is: on a terminal as a line, elsewhere as messages. */
#ifndef TOOLS_PROFILE_SHOW_H
#define TOOLS_PROFILE_SHOW_H

#include "base/progress.h"
#include "profile.h"

struct profile_show {
	struct progress bar;
	struct progress_log log;
};

/* Shows a text, which ends with no full stop, and the time that is left. */
void profile_show(struct profile_show *show, const struct profile *p,
		  uint64_t passed_ns, const char *what);

/* Says how many functions there are, where standard error is no terminal. */
void profile_show_start(const struct profile *p);

#endif
