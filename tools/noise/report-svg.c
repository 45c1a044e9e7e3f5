// SPDX-License-Identifier: GPL-2.0
/* Quantiles of the times over those of each fit. */
#include <math.h>
#include <stdlib.h>

#include "base/drawing.h"
#include "base/util.h"
#include "qq.h"
#include "report.h"

enum { COLUMNS = 2 };

static char *title_of(const struct report *r, int family)
{
	const struct fit *fit = &r->fits[family];

	if (!fit->converged)
		return xprintf("%s: no maximum of the likelihood was found",
			       family_name(family));
	if (isnan(r->p_values[family]))
		return xprintf("%s, Anderson-Darling %.4g", family_name(family),
			       fit->anderson_darling);
	return xprintf("%s, Anderson-Darling %.4g, p %.2g", family_name(family),
		       fit->anderson_darling, r->p_values[family]);
}

int report_svg(FILE *f, const struct report *r)
{
	svg_begin(f, qq_width(COLUMNS), qq_height(NR_FAMILIES / COLUMNS),
		  QQ_STYLE);
	for (int i = 0; i < NR_FAMILIES; i++) {
		char *title = title_of(r, i);
		struct qq qq = { .sorted = r->sorted, .count = r->count,
				 .fit = &r->fits[i], .title = title };

		qq_panel(f, &qq, i, COLUMNS);
		free(title);
	}
	svg_end(f);
	return ferror(f) ? -1 : 0;
}
