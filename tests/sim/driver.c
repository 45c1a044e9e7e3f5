// SPDX-License-Identifier: GPL-2.0
/* Both drivers, sim and oracle, tell what happens and read options alike. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

void sim_say(const struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->verbose)
		return;
	printf("# step %llu real %llu gvt %llu: ", (unsigned long long)s->step,
	       (unsigned long long)s->real, (unsigned long long)vclock_reached(&s->vc));
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

uint64_t sim_number(const char *text, const char *option, uint64_t most)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > most) {
		fprintf(stderr, "%s: --%s takes a number up to %llu, not '%s'\n",
			program_invocation_short_name, option,
			(unsigned long long)most, text);
		exit(2);
	}
	return n;
}
