// SPDX-License-Identifier: GPL-2.0
#include "duration.h"

#include "util.h"

int parse_duration(const char *text, double *seconds)
{
	static const struct unit units[] = {
		{ "", 1 }, { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 },
		{ "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 },
		{ "d", 86400 },
	};

	return parse_with_unit(text, units, sizeof(units) / sizeof(units[0]),
			       seconds);
}
