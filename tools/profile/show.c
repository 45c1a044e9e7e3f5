// SPDX-License-Identifier: GPL-2.0
#include "show.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

#define MS_NS	1000000

void profile_show(struct profile_show *show, const struct profile *p,
		  uint64_t passed_ns, const char *what)
{
	unsigned int done = passed_ns / MS_NS;
	unsigned int total = p->asked.time_ns / MS_NS;
	char *text;

	/* The command's output would mix with the progress. */
	if (p->question.quiet || p->question.show_output)
		return;
	text = xprintf("profile: %s", what);
	if (isatty(STDERR_FILENO))
		progress_show(&show->bar, done, total, text);
	else
		progress_log_show(&show->log, done, total, text);
	free(text);
}

void profile_show_start(const struct profile *p)
{
	if (!p->question.quiet && !isatty(STDERR_FILENO))
		warn("profile: %zu function%s, for up to %.0f s",
		     p->nr_candidates, p->nr_candidates == 1 ? "" : "s",
		     p->asked.time_ns / 1e9);
}
