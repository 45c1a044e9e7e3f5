// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "libtense/symbols/debug-file.h"
#include "libtense/symbols/language.h"
#include "names/object-cache.h"
#include "names/program.h"
#include "names/resolve.h"
#include "base/util.h"

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

static void add_probes(struct whatif_found *found, unsigned int slot,
		       const struct tense_resolution *r)
{
	found->probes = xrealloc(found->probes, (found->nr_probes + r->count) *
						sizeof(*found->probes));
	for (size_t i = 0; i < r->count; i++)
		found->probes[found->nr_probes++] = (struct whatif_probe){
			.slot = slot,
			.object = xstrdup(r->candidates[i].object),
			.symbol = xstrdup(r->candidates[i].symbol),
			.offset = r->candidates[i].offset,
		};
}

static bool has_object(const struct whatif_found *found, const char *path)
{
	for (size_t i = 0; i < found->nr_objects; i++)
		if (!strcmp(found->objects[i], path))
			return true;
	return false;
}

static void add_object(struct whatif_found *found, char *path)
{
	found->objects = xrealloc(found->objects, (found->nr_objects + 1) *
						  sizeof(*found->objects));
	found->objects[found->nr_objects++] = path;
}

/* The symbol may be in a debug file only. */
static void add_objects(struct whatif_found *found,
			const struct tense_resolution *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const char *path = r->candidates[i].object;
		char *debug;
		Elf *elf;
		int fd;

		if (has_object(found, path))
			continue;
		add_object(found, xstrdup(path));
		if (tense_elf_open(path, &fd, &elf))
			continue;
		debug = tense_debug_file(elf, path);
		if (debug)
			add_object(found, debug);
		tense_elf_close(fd, elf);
	}
}

void whatif_names_add(struct whatif_found *found, unsigned int name,
		      const struct tense_resolution *r, bool is_static)
{
	add_objects(found, r);
	if (is_static)
		add_probes(found, name, r);
	else
		found->specs[name] = join(r);
}

/* Looks into the file only if the name may be of Haskell: a file has many names. */
static const char *refused(const struct tense_candidate *c)
{
	const struct tense_language haskell = { .haskell = true };
	struct tense_language of;

	if (!tense_language_refuses(&haskell, c->symbol))
		return NULL;
	of = tense_language_of(c->object);
	return tense_language_refuses(&of, c->symbol);
}

const char *whatif_names_refused(const struct tense_resolution *r)
{
	const char *reason = NULL;

	for (size_t i = 0; i < r->count && !reason; i++)
		reason = refused(&r->candidates[i]);
	return reason;
}

static bool find(const struct whatif_question *q, struct whatif_found *found,
		 unsigned int slot, struct object_cache *cache, bool is_static)
{
	struct tense_resolution r;
	const char *reason;
	bool is_found;

	is_found = tense_resolve(whatif_name(q, slot), q->argv, cache, &r) ==
		   TENSE_RESOLVED;
	if (r.message)
		warn("%s", r.message);
	reason = is_found && is_static ? whatif_names_refused(&r) : NULL;
	if (reason) {
		warn("%s: %s", whatif_name(q, slot), reason);
		is_found = false;
	}
	if (is_found)
		whatif_names_add(found, slot, &r, is_static);
	tense_resolution_free(&r);
	return is_found;
}

/* In other programs, libtense-functions.so refuses such functions. */
static void refuse_go(const struct program *program, const char *name)
{
	const struct tense_language of = tense_language_of(program->objects[0].path);

	if (of.go)
		die(STATUS_FAILED, "%s: no function can be scaled, because %s. tense profile --survey-only shows where the program spends its time",
		    name, tense_language_refuses(&of, "main"));
}

bool whatif_names_static(const struct whatif_question *q, bool probes)
{
	char *error;
	struct program *program = program_open(q->argv, &error);
	bool is_static;

	if (!program)
		die(command_status(q->argv[0]), "%s", error);
	is_static = program->is_static;
	if (is_static)
		refuse_go(program, q->argv[0]);
	program_free(program);
	if (is_static && !probes)
		die(STATUS_FAILED, "%s is linked statically: its functions can be scaled on a kernel with uprobes only, which that of the back end uml has not: use --backend qemu, or tense profile --survey-only to see where the program spends its time",
		    q->argv[0]);
	if (is_static && q->metric.kind == METRIC_LATENCY)
		die(STATUS_FAILED, "%s is linked statically: --latency can be measured in programs only that load libraries",
		    q->argv[0]);
	return is_static;
}

void whatif_names(const struct whatif_question *q, struct whatif_found *found,
		  bool probes)
{
	bool is_static = whatif_names_static(q, probes), all = true;
	struct object_cache cache = { 0 };

	for (unsigned int slot = 1; slot < WHATIF_NAMES; slot++)
		if (*whatif_name(q, slot))
			all = find(q, found, slot, &cache, is_static) && all;
	object_cache_free(&cache);
	if (!all)
		exit(STATUS_FAILED);
}
