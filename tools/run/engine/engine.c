// SPDX-License-Identifier: GPL-2.0
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "run/memory.h"
#include "names/program.h"
#include "run/setup.h"

#define GUESTS_MAX	256
/* Each takes 4 descriptors here, of usually 1024. */
#define SLURM_GUESTS_MAX	200

/* Separates dir=PATH from the options of sbatch. */
static char *parse_slurm(struct engine *engine, const char *text)
{
	char *options = xstrdup(text), *rest;

	engine->slurm = true;
	for (char *word = strtok_r(options, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (strncmp(word, "dir=", 4) == 0) {
			free(engine->directory);
			engine->directory = xstrdup(word + 4);
			continue;
		}
		if (strncmp(word, "clusters=", 9) == 0 || !strcmp(word, "wait")) {
			text = xprintf("--engine slurm: tense cannot use the option %s of sbatch: leave it out",
				       word);
			free(options);
			return (char *)text;
		}
		text = engine->options ? engine->options : "";
		engine->options = xprintf("%s%s%s", text, *text ? "," : "", word);
	}
	free(options);
	return NULL;
}

static char *parse_guests(struct engine *engine, const char *text)
{
	unsigned long guests;
	char *end;

	guests = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || *text == '+' || !guests ||
	    guests > GUESTS_MAX)
		return xprintf("'%s' is not a number of guests from 1 to %d",
			       text, GUESTS_MAX);
	engine->guests = guests;
	return NULL;
}

char *engine_parse(struct engine *engine, const char *text)
{
	*engine = (struct engine){ .asked = true };
	if (!strcmp(text, "local"))
		return NULL;
	if (!strncmp(text, "local:", 6))
		return parse_guests(engine, text + 6);
	if (!strcmp(text, "slurm") || !strncmp(text, "slurm:", 6))
		return parse_slurm(engine, text[5] ? text + 6 : "");
	return xprintf("'%s' is not an engine: use local, local:N with the number of guests, slurm or slurm:OPTIONS",
		       text);
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

/* Slurm decides how many of them run at the same time. */
static unsigned int slurm_guests(void)
{
	static const char *const commands[] = { "sbatch", "squeue", "scancel" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *path = find_command(commands[i]);

		if (!path)
			die(STATUS_FAILED, "--engine slurm: %s is not in PATH: install slurm-client, or use --engine local",
			    commands[i]);
		free(path);
	}
	return SLURM_GUESTS_MAX;
}

unsigned int engine_guests(const struct engine *engine,
			   const struct backend *backend, const struct run *run)
{
	unsigned int guests = engine->guests;

	if (!run->deterministic && !engine->asked)
		return 1;
	if (engine->slurm && !run->deterministic)
		die(STATUS_FAILED, "--engine slurm: only tense whatif --deterministic can use other machines: use --engine local");
	if (engine->slurm)
		return slurm_guests();
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
