// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "libtense/symbols/debug-file.h"
#include "names/program.h"
#include "names/resolve.h"
#include "base/util.h"
#include "whatif.h"

/* An environment has no room for more; the name then stands for itself. */
#define SPECS_MAX	100

static char *join(const struct tense_resolution *r)
{
	char *lines = NULL, *longer;

	if (r->count > SPECS_MAX)
		return NULL;
	for (size_t i = 0; i < r->count; i++) {
		longer = xprintf("%s%s%s", lines ? lines : "",
				 lines ? "\n" : "", r->candidates[i].spec);
		free(lines);
		lines = longer;
	}
	return lines;
}

static void add_probes(struct whatif *w, unsigned int slot,
		       const struct tense_resolution *r)
{
	w->probes = xrealloc(w->probes, (w->nr_probes + r->count) *
			     sizeof(*w->probes));
	for (size_t i = 0; i < r->count; i++)
		w->probes[w->nr_probes++] = (struct whatif_probe){
			.slot = slot,
			.object = xstrdup(r->candidates[i].object),
			.symbol = xstrdup(r->candidates[i].symbol),
			.offset = r->candidates[i].offset,
		};
}

static bool has_object(const struct whatif *w, const char *path)
{
	for (size_t i = 0; i < w->nr_objects; i++)
		if (!strcmp(w->objects[i], path))
			return true;
	return false;
}

static void add_object(struct whatif *w, char *path)
{
	w->objects = xrealloc(w->objects,
			      (w->nr_objects + 1) * sizeof(*w->objects));
	w->objects[w->nr_objects++] = path;
}

/* The symbol may be in a debug file only. */
static void add_objects(struct whatif *w, const struct tense_resolution *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const char *path = r->candidates[i].object;
		char *debug;
		Elf *elf;
		int fd;

		if (has_object(w, path))
			continue;
		add_object(w, xstrdup(path));
		if (tense_elf_open(path, &fd, &elf))
			continue;
		debug = tense_debug_file(elf, path);
		if (debug)
			add_object(w, debug);
		tense_elf_close(fd, elf);
	}
}

static bool find(struct whatif *w, unsigned int slot, bool is_static)
{
	struct tense_resolution r;
	bool found;

	found = tense_resolve(whatif_name(&w->question, slot),
			      w->question.argv, &r) == TENSE_RESOLVED;
	if (r.message)
		warn("%s", r.message);
	if (found)
		add_objects(w, &r);
	if (found && is_static)
		add_probes(w, slot, &r);
	else if (found)
		w->specs[slot] = join(&r);
	tense_resolution_free(&r);
	return found;
}

static bool open_static(char *const *command)
{
	char *error;
	struct program *program = program_open(command, &error);
	bool is_static;

	if (!program)
		die(command_status(command[0]), "%s", error);
	is_static = program->is_static;
	program_free(program);
	return is_static;
}

void whatif_names(struct whatif *w, bool probes)
{
	bool is_static = open_static(w->question.argv), all = true;

	if (is_static && !probes)
		die(STATUS_FAILED, "%s is linked statically: its functions can be scaled on a kernel with uprobes only, which that of the back end uml has not: use --backend qemu",
		    w->question.argv[0]);
	if (is_static && w->question.metric.kind == METRIC_LATENCY)
		die(STATUS_FAILED, "%s is linked statically: --latency can be measured in programs only that load libraries",
		    w->question.argv[0]);
	for (unsigned int slot = 1; slot < WHATIF_NAMES; slot++)
		if (*whatif_name(&w->question, slot))
			all = find(w, slot, is_static) && all;
	if (!all)
		exit(STATUS_FAILED);
}
