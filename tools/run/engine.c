// SPDX-License-Identifier: GPL-2.0
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "memory.h"
#include "setup.h"

#define GUESTS_MAX	256

char *engine_parse(struct engine *engine, const char *text)
{
	const char *local = "local";
	size_t len = strlen(local);
	unsigned long guests;
	char *end;

	*engine = (struct engine){ .asked = true };
	if (!strcmp(text, local))
		return NULL;
	if (strncmp(text, "local:", len + 1) != 0)
		return xprintf("'%s' is not an engine: use local or local:N, with the number of guests",
			       text);
	text += len + 1;
	guests = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || *text == '+' || !guests ||
	    guests > GUESTS_MAX)
		return xprintf("'%s' is not a number of guests from 1 to %d",
			       text, GUESTS_MAX);
	engine->guests = guests;
	return NULL;
}

/* A guest takes what its program uses, but its memory must not exceed the machine's. */
static void check_memory(unsigned int guests, const struct run *run)
{
	unsigned long long mib = memory_choose_mib(run, EXACT_MEMORY_MIB);
	unsigned long long all = memory_machine_mib();

	if (all && guests * mib > all)
		die(STATUS_FAILED, "--engine local:%u: %u guests with %llu MiB each need more than the %llu MiB of this machine: use fewer guests, or --memory",
		    guests, guests, mib, all);
}

unsigned int engine_guests(const struct engine *engine,
			   const struct backend *backend, const struct run *run)
{
	unsigned int guests = engine->guests;

	if (!run->deterministic && !engine->asked)
		return 1;
	if (!run->deterministic && backend == &backend_native) {
		if (guests > 1)
			die(STATUS_FAILED, "--engine local:%u: the back end native has no guests: use --backend uml or qemu",
			    guests);
		return 1;
	}
	if (!guests)
		return setup_guests(run);
	if (run->deterministic)
		check_memory(guests, run);
	return guests;
}
