// SPDX-License-Identifier: GPL-2.0
#include "page.h"

#include <stdlib.h>

#include "base/drawing.h"
#include "run/time-unit.h"

static const char style[] =
#include "whatif/report.css.h"
;

void page_element(FILE *f, const char *open, const char *text,
		  const char *close)
{
	fputs(open, f);
	xml_text(f, text);
	fputs(close, f);
}

void page_begin(FILE *f, const char *title, const char *command)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
	      f);
	page_element(f, "<title>", title, ": ");
	page_element(f, "", command, "</title>\n<style>\n");
	fputs(style, f);
	page_element(f, "</style>\n</head>\n<body>\n<main>\n<p class=\"brand\">",
		     title, " &middot; <code>");
	page_element(f, "", command, "</code></p>\n");
}

static void footer(FILE *f, const struct whatif_question *q,
		   const struct whatif_environment *e)
{
	const struct machine m = whatif_environment_machine(e);
	char *machine = machine_text(&m);

	fputs("<footer>", f);
	page_element(f, "<p>tense ", e->tense ? e->tense : "", "");
	if (e->date)
		page_element(f, ", ", e->date, "");
	if (q->deterministic)
		page_element(f, "; times are counts of ", time_unit_text(), "");
	page_element(f, "<br>back end ", e->backend ? e->backend : "", "");
	page_element(f, ", ", machine, "");
	free(machine);
	if (e->host)
		page_element(f, ", on ", e->host, "");
	if (e->cpu && *e->cpu)
		page_element(f, ", ", e->cpu, "");
	if (whatif_has_load(e))
		fprintf(f, ", load %.2f %.2f %.2f", e->load[0], e->load[1],
			e->load[2]);
	fputs("</p></footer>\n", f);
}

int page_end(FILE *f, const struct whatif_question *q,
	     const struct whatif_environment *e)
{
	footer(f, q, e);
	fputs("</main>\n</body>\n</html>\n", f);
	return fflush(f) || ferror(f) ? -1 : 0;
}
