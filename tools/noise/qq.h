/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A panel with the quantiles of times over those of a fit. Points are on the diagonal
 * where the fit is right.
 */
#ifndef NOISE_QQ_H
#define NOISE_QQ_H

#include <stdio.h>

#include "fit.h"

enum {
	QQ_PANEL = 300, QQ_LEFT = 76, QQ_TOP = 34, QQ_GAP_X = 96,
	QQ_GAP_Y = 70,
};

#define QQ_STYLE \
	"text{font:12px sans-serif;fill:#222}.x{text-anchor:middle}.y{text-anchor:end}\n" \
	".frame{fill:#fff;stroke:#666}.grid{stroke:#ddd}.same{stroke:#666;stroke-dasharray:4 3}\n" \
	"circle{fill:#2a6f97}.out{fill:none;stroke:#c0392b}"

struct qq {
	const double *sorted;
	size_t count;
	const struct fit *fit;
	const char *title;
};

/* The size in pixels of so many panels beside or below each other. */
int qq_width(int columns);
int qq_height(int rows);

/* Draws panel number, counted from 0, of a picture with so many columns. */
void qq_panel(FILE *f, const struct qq *qq, int number, int columns);

#endif
