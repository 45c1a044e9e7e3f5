// SPDX-License-Identifier: GPL-2.0
#include "engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "run/memory.h"
#include "names/program.h"
#include "run/setup.h"
#include "slurm.h"

#define GUESTS_MAX	256
/* Each takes 4 descriptors here, of usually 1024. */
#define SLURM_GUESTS_MAX	200

static char *parse_guests(struct engine *engine, const char *text, unsigned int most)
{
	unsigned long guests;
	char *end;

	guests = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || *text == '+' || !guests ||
	    guests > most)
		return xprintf("'%s' is not a number of guests from 1 to %u",
			       text, most);
	engine->guests = guests;
	return NULL;
}

/* Takes a word that is an option of ours or of sbatch. Returns an error or NULL. */
static char *parse_slurm_word(struct engine *engine, const char *word)
{
	const char *before = engine->options ? engine->options : "";

	if (strncmp(word, "dir=", 4) == 0) {
		free(engine->directory);
		engine->directory = xstrdup(word + 4);
		return NULL;
	}
	if (strncmp(word, "guests=", 7) == 0)
		return parse_guests(engine, word + 7, SLURM_GUESTS_MAX);
	if (strncmp(word, "clusters=", 9) == 0 || !strcmp(word, "wait"))
		return xprintf("--engine slurm: tense cannot use the option %s of sbatch: leave it out",
			       word);
	engine->options = xprintf("%s%s%s", before, *before ? "," : "", word);
	return NULL;
}

static char *parse_slurm(struct engine *engine, const char *text)
{
	char *options = xstrdup(text), *rest, *error = NULL;

	engine->slurm = true;
	for (char *word = strtok_r(options, ",", &rest); word && !error;
	     word = strtok_r(NULL, ",", &rest))
		error = parse_slurm_word(engine, word);
	free(options);
	return error;
}

char *engine_parse(struct engine *engine, const char *text)
{
	*engine = (struct engine){
		.asked = true, .batch = engine->batch,
		.batch_cpus = engine->batch_cpus,
	};
	if (!strcmp(text, "local"))
		return NULL;
	if (!strncmp(text, "local:", 6))
		return parse_guests(engine, text + 6, GUESTS_MAX);
	if (!strcmp(text, "slurm") || !strncmp(text, "slurm:", 6))
		return parse_slurm(engine, text[5] ? text + 6 : "");
	return xprintf("'%s' is not an engine: use local, local:N with the number of guests, slurm or slurm:OPTIONS",
		       text);
}

char *engine_parse_batch(struct engine *engine, const char *text)
{
	int at = 0;

	if (sscanf(text, "%u:%n", &engine->batch_cpus, &at) != 1 || text[at] != '/')
		return xprintf("--batch is for tense on the nodes of a cluster");
	engine->batch = text + at;
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

static void check_slurm(const struct backend *backend, const struct run *run)
{
	static const char *const commands[] = { "sbatch", "squeue", "scancel", "sinfo" };

	if (!run->deterministic && backend != &backend_uml)
		die(STATUS_FAILED, "--engine slurm: nodes run guests of User-Mode Linux, not of the back end %s: use --backend uml, or --deterministic",
		    backend->name);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *path = find_command(commands[i]);

		if (!path)
			die(STATUS_FAILED, "--engine slurm: %s is not in PATH: install slurm-client, or use --engine local",
			    commands[i]);
		free(path);
	}
}

/* Asks the cluster only once. */
static unsigned int room_for(const struct engine *engine, unsigned int cpus)
{
	static unsigned int known_cpus, room;

	if (known_cpus != cpus)
		room = slurm_room(engine->options, cpus);
	known_cpus = cpus;
	return room;
}

/* Slurm decides how many of them run at the same time. */
static unsigned int slurm_guests(const struct engine *engine, const struct run *run)
{
	unsigned int guests = engine->guests;

	if (!guests && !run->deterministic)
		guests = room_for(engine, run->cpus);
	return guests && guests < SLURM_GUESTS_MAX ? guests : SLURM_GUESTS_MAX;
}

unsigned int engine_sharers(const struct engine *engine)
{
	if (!engine->asked)
		return 1;
	return engine->guests && !engine->slurm ? engine->guests : UINT_MAX;
}

unsigned int engine_guests(const struct engine *engine,
			   const struct backend *backend, const struct run *run)
{
	unsigned int guests = engine->guests;

	if (!run->deterministic && !engine->asked)
		return 1;
	if (engine->slurm) {
		check_slurm(backend, run);
		return slurm_guests(engine, run);
	}
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
