// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util.h"

#define WIDTH		30
#define WIDTH_MIN	5	/* a shorter bar says nothing */
#define REFRESH_NS	100000000

/* The progress whose line is on the terminal. */
static const struct progress *shown;

static void clear_line(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = NULL;
}

static size_t columns(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ?
	       size.ws_col : 80;
}

/* Cuts the line at the terminal's width: clear_line() clears one line only. */
static void show_line(const struct progress *p, const char *line)
{
	clear_line();
	fprintf(stderr, "%.*s", (int)columns() - 1, line);
	shown = p;
	before_message = clear_line;
}

/* Empty until it can be told. */
static void time_left(const struct progress *p, unsigned int done,
		      unsigned int total, char *text, size_t size)
{
	uint64_t took = p->shown - p->start, left;

	*text = '\0';
	if (done <= p->first || took <= 3000000000)
		return;
	left = took / (done - p->first) * (total - done) / 1000000000;
	snprintf(text, size, " %llu:%02llu left", (unsigned long long)left / 60,
		 (unsigned long long)left % 60);
}

/* As wide as there is room for, with a space before it; or none. */
static void draw_bar(unsigned int done, unsigned int total, size_t others,
		     char bar[WIDTH + 4])
{
	size_t room = columns() - 1, width, full;

	*bar = '\0';
	if (room < others + 3 + WIDTH_MIN)
		return;
	width = room - others - 3;
	if (width > WIDTH)
		width = WIDTH;
	full = (size_t)done * width / total;
	memcpy(bar, " [", 2);
	memset(bar + 2, '#', full);
	memset(bar + 2 + full, '.', width - full);
	memcpy(bar + 2 + width, "]", 2);
}

static void show_counted(const struct progress *p, unsigned int done,
			 unsigned int total, const char *what)
{
	char bar[WIDTH + 4], left[40], percent[16], *line;

	time_left(p, done, total, left, sizeof(left));
	snprintf(percent, sizeof(percent), " %3u%%",
		 (unsigned int)((uint64_t)done * 100 / total));
	draw_bar(done, total, strlen("tense: ") + strlen(what) +
		 strlen(percent) + strlen(left), bar);
	line = xprintf("tense: %s%s%s%s", what, bar, percent, left);
	show_line(p, line);
	free(line);
}

void progress_show(struct progress *p, unsigned int done, unsigned int total,
		   const char *what)
{
	uint64_t now = now_ns();
	char *line;

	if (!isatty(STDERR_FILENO))
		return;
	if (!total) {
		line = xprintf("tense: %s", what);
		show_line(p, line);
		free(line);
		return;
	}
	if (!p->start) {
		p->start = now;
		p->first = done;
	} else if (now - p->shown < REFRESH_NS) {
		return;
	}
	p->shown = now;
	/* The total is an estimate. */
	show_counted(p, done < total ? done : total, total, what);
}

void progress_end(struct progress *p)
{
	if (shown == p)
		clear_line();
}
