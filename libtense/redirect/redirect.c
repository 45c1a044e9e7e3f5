// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code.h"
#include "internal.h"
#include "object.h"

struct redirect_specs redirect_specs;
const struct redirect_host *redirect_host;

static bool parse(const char *text)
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

static bool marks(void)
{
	for (size_t i = 0; i < redirect_specs.count; i++)
		if (redirect_specs.spec[i].marks)
			return true;
	return false;
}

static const char *probe(uintptr_t address, size_t size,
			 const struct tense_stub *stub, uintptr_t *entry)
{
	return redirect_probe(address, size, stub, false, entry);
}

__attribute__((visibility("default")))
const struct redirect *tense_redirect(const struct redirect_host *host)
{
	static const struct redirect redirect = {
		.parse = parse,
		.marks = marks,
		.scan = redirect_scan,
		.watch = redirect_watch,
		.probe = probe,
		.log_cost = redirect_log_cost,
		.log_start = redirect_log_start,
	};

	redirect_host = host;
	return redirect_code_init() ? &redirect : NULL;
}
