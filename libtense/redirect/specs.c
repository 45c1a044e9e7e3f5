// SPDX-License-Identifier: LGPL-2.1-or-later
/* The functions that TENSE_FUNCTIONS names, and the library that asks for them. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct redirect_specs redirect_specs;
const struct redirect_host *redirect_host;

bool redirect_parse(const char *text)
{
	struct redirect_specs *specs = &redirect_specs;
	const char *error;
	size_t lines = 1;
	char *copy, *line, *next;

	for (line = strchr(text, '\n'); line; line = strchr(line + 1, '\n'))
		lines++;
	specs->spec = calloc(lines, sizeof(*specs->spec));
	copy = specs->spec ? strdup(text) : NULL;
	for (line = copy; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!*line)
			continue;
		if (tense_spec_parse_line(line, &specs->spec[specs->count],
					  &error))
			dprintf(STDERR_FILENO, "libtense-functions: %s: %s\n",
				line, error);
		else
			specs->count++;
	}
	free(copy);
	return specs->count;
}

bool redirect_marks(void)
{
	for (size_t i = 0; i < redirect_specs.count; i++)
		if (redirect_specs.spec[i].marks)
			return true;
	return false;
}
