/* SPDX-License-Identifier: GPL-2.0 */
/* The layout and the helpers that both pictures share. */
#ifndef PERIODS_PICTURE_H
#define PERIODS_PICTURE_H

#include <stdio.h>

enum {
	PICTURE_WIDTH = 1120,
	PICTURE_LEFT = 84,
	PICTURE_RIGHT = 1090,
};

/*
 * Styles of text and lines; fills f0 to f3 are colours. svg_end() ends the
 * picture.
 */
void picture_begin(FILE *f, int height, const char *title);

/* Text whose place is its start, or with a class of start, middle or end that. */
void picture_text(FILE *f, double x, double y, const char *class,
		  const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* A key: a square of a colour and its name. Returns where the next one goes. */
double picture_key(FILE *f, double x, double y, int colour, const char *name);

#endif
