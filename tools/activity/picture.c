// SPDX-License-Identifier: GPL-2.0
#include "picture.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/drawing.h"
#include "base/util.h"

static const char style[] =
SVG_TEXT
"text.title{font-size:17px;font-weight:600;fill:#1d2025}"
"text.head{fill:#1d2025;font-weight:600}"
"text.middle{text-anchor:middle}text.end{text-anchor:end}"
".grid{stroke:#ebe8e1}.axis{stroke:#b3b1ab;fill:none}"
".f0{fill:#e0314b}.f1{fill:#f0a860}.f2{fill:#1d2025}.f3{fill:#7da2f0}";

void picture_text(FILE *f, double x, double y, const char *class,
		  const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvprintf(format, args);
	va_end(args);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	xml_text(f, text);
	fputs("</text>\n", f);
	free(text);
}

void picture_begin(FILE *f, int height, const char *title)
{
	svg_begin(f, PICTURE_WIDTH, height, style);
	picture_text(f, PICTURE_LEFT, 30, "title", "%s", title);
}

double picture_key(FILE *f, double x, double y, int colour, const char *name)
{
	fprintf(f, "<rect class=\"f%d\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\"/>\n",
		colour, x, y - 9);
	picture_text(f, x + 15, y, "start", "%s", name);
	return x + 38 + 6.6 * (double)strlen(name);
}
