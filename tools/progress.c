// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

#define WIDTH		30
#define REFRESH_NS	100000000

void progress_show(struct progress *p, unsigned int done, unsigned int total,
		   const char *what)
{
	uint64_t now = now_ns(), left;
	char bar[WIDTH + 1];
	unsigned int full;

	if (!isatty(STDERR_FILENO))
		return;
	if (!total) {
		fprintf(stderr, "\r\033[Ktense: %s", what);
		p->lines = 1;
		return;
	}
	if (!p->start) {
		p->start = now;
		p->first = done;
	} else if (now - p->shown < REFRESH_NS) {
		return;
	}
	p->shown = now;
	p->lines = 1;

	/* The total is an estimate. */
	if (done > total)
		done = total;
	full = (uint64_t)done * WIDTH / total;
	memset(bar, '#', full);
	memset(bar + full, '.', WIDTH - full);
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r\033[Ktense: %s [%s] %3u%%", what,
		bar, (unsigned int)((uint64_t)done * 100 / total));
	if (done > p->first && now - p->start > 3000000000) {
		left = (now - p->start) / (done - p->first) *
		       (total - done) / 1000000000;
		fprintf(stderr, " %llu:%02llu left",
			(unsigned long long)left / 60,
			(unsigned long long)left % 60);
	}
}

void progress_end(struct progress *p)
{
	if (p->lines)
		fprintf(stderr, "\r\033[K");
	p->lines = 0;
}
