// SPDX-License-Identifier: GPL-2.0
#include "drawing.h"

#include <math.h>
#include <string.h>

#include "json-text.h"

static void put_char(FILE *f, char c)
{
	switch (c) {
	case '&':
		fputs("&amp;", f);
		break;
	case '<':
		fputs("&lt;", f);
		break;
	case '>':
		fputs("&gt;", f);
		break;
	case '"':
		fputs("&quot;", f);
		break;
	default:
		/* No other control character is allowed. */
		if ((unsigned char)c >= ' ' || c == '\n' || c == '\t')
			fputc(c, f);
	}
}

void xml_text(FILE *f, const char *text)
{
	json_t *clean = json_text(text, strlen(text));

	for (const char *p = json_string_value(clean); p && *p; p++) {
		/* U+FFFE and U+FFFF are no characters. */
		if (!strncmp(p, "\xef\xbf\xbe", 3) ||
		    !strncmp(p, "\xef\xbf\xbf", 3))
			p += 2;
		else
			put_char(f, *p);
	}
	json_decref(clean);
}

void svg_begin(FILE *f, int width, int height, const char *style)
{
	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, height, width, height, style);
}

void svg_end(FILE *f)
{
	fputs("</svg>\n", f);
}

double nice_step(double span, int most)
{
	double step;

	if (!(span > 0) || !isfinite(span))
		return 1;
	step = pow(10, floor(log10(span / most)));
	for (int i = 0; span / step > most; i++)
		step *= i % 3 == 1 ? 2.5 : 2;
	return step;
}
