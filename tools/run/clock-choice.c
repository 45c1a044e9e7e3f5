// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "launch.h"

const char *const clock_names[] = { "all", "monotonic", "none", NULL };
const char *const order_names[] = { "ordered", "unordered", NULL };
const char *const idle_names[] = { "real", "skip", NULL };

int clock_name_find(const char *text, const char *const *names)
{
	for (int i = 0; text && names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	return -1;
}
