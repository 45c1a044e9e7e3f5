// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtense/symbols/cxx-name.h"
#include "commands.h"
#include "names/functions.h"
#include "names/inlines.h"
#include "base/json-text.h"
#include "base/options.h"
#include "names/object-cache.h"
#include "names/program.h"
#include "names/resolve.h"
#include "base/util.h"

#define FUNCTIONS_JSON_VERSION	1

enum { JSON = 1, ALL, OBJECT };

static const struct option_row options[] = {
	OPTIONS_OPERAND("PATTERN",
			"[OBJECT:]NAME, a glob or a /regular expression/; by default, list all functions of the command and count those of its libraries"),
	{ "all", NULL, NULL, ALL, "also list the functions of all libraries" },
	{ "object", "OBJECT", "-f", OBJECT,
	  "list only functions of this executable or library: a path, or a name with or without version, as in libz" },
	{ "json", NULL, NULL, JSON, "print JSON" },
	OPTIONS_END
};

struct listing {
	char **command;
	struct tense_spec *patterns;
	size_t nr_patterns;
	struct tense_spec object;
	bool has_object;
	bool all;
	bool json;

	struct program *program;
	bool counting;		/* has begun to list how many libraries have */
	size_t shown;
	size_t hidden;		/* inlined everywhere, and no pattern named them */
	char *stripped;		/* objects with exported functions only */
	json_t *objects;
};

/* The functions of one object. */
struct part {
	const struct object *object;
	struct functions functions;
	struct inlines inlines;
	int dwarf;		/* 0 or -errno */
	bool stripped;
	char *name;
};

static bool function_selected(const struct listing *listing,
		     const struct function *function)
{
	for (size_t i = 0; i < listing->nr_patterns; i++)
		if (object_match(function->object, &listing->patterns[i]) &&
		    function_match(function, &listing->patterns[i]))
			return true;
	return !listing->nr_patterns;
}

static bool inlined_selected(const struct listing *listing,
			     const struct object *object,
			     const struct inlined *inlined)
{
	for (size_t i = 0; i < listing->nr_patterns; i++)
		if (object_match(object, &listing->patterns[i]) &&
		    inlined_match(inlined, &listing->patterns[i]))
			return true;
	return false;
}

static const char *source_name(const struct function *function)
{
	switch (function->source) {
	case TENSE_DYNSYM:
		return "dynsym";
	case TENSE_SYMTAB:
		return "symtab";
	default:
		return "debug";
	}
}

static void print_header(void)
{
	printf("%-20s %8s %-7s %7s  %s\n", "OBJECT", "SIZE", "FROM", "INLINED",
	       "FUNCTION");
}

static void print_function(const struct part *part,
			   const struct function *function, int copies)
{
	char inlined[24] = "-", size[24] = "-", more[64] = "";

	if (copies >= 0)
		snprintf(inlined, sizeof(inlined), "%d", copies);
	if (function->size)
		snprintf(size, sizeof(size), "%" PRIu64, function->size);
	/* As the pattern that tells it from the others. */
	if (function->shared_symbol && function->version)
		snprintf(more, sizeof(more), "@%s", function->version);
	else if (function->shared_symbol)
		snprintf(more, sizeof(more), "@0x%" PRIx64, function->value);
	printf("%-20s %8s %-7s %7s  %s%s", part->name, size,
	       source_name(function), inlined, function->name, more);
	if (function->file && function->shared_symbol)
		printf("  (in %s)", function->file);
	puts(function->ifunc ? "  (chosen at start)" : "");
}

static json_t *json_function(const struct function *function, int copies)
{
	char *spec = function_spec(function);
	json_t *json = json_pack(
		"{ss ss ss? ss? sI sI sI ss so sb sb ss}",
		"symbol", function->symbol, "name", function->name,
		"version", function->version, "file", function->file,
		"address", (json_int_t)function->value,
		"offset", (json_int_t)function->offset,
		"size", (json_int_t)function->size,
		"source", source_name(function),
		"inlined", copies < 0 ? json_null() : json_integer(copies),
		"ifunc", function->ifunc, "local", function->local,
		"spec", spec);

	free(spec);
	return json;
}

/* Symbols can be any bytes, JSON cannot. */
static void append_json(json_t *list, json_t *json)
{
	if (json)
		json_array_append_new(list, json);
}

static bool in_dwarf(const struct part *part)
{
	return !part->dwarf;
}

/*
 * Constructors of C++ have two symbols, which mostly are one function: in the
 * table it has one line. They lie side by side.
 */
static bool is_twin(const struct functions *functions, size_t i)
{
	const struct function *function = &functions->list[i];

	return i && function[-1].value == function->value &&
	       !strcmp(function[-1].name, function->name);
}

static void show_functions(struct listing *listing, const struct part *part,
			   json_t *list)
{
	for (size_t i = 0; i < part->functions.count; i++) {
		const struct function *function = &part->functions.list[i];
		int copies;

		if (!function_selected(listing, function) ||
		    (!listing->json && is_twin(&part->functions, i)))
			continue;
		copies = in_dwarf(part) ?
			 inlines_copies(&part->inlines, function->value) : -1;
		if (listing->json)
			append_json(list, json_function(function, copies));
		else if (!listing->shown)
			print_header();
		if (!listing->json)
			print_function(part, function, copies);
		listing->shown++;
	}
}

static json_t *json_inlined(const struct inlined *inlined)
{
	char *name = tense_demangle(inlined->symbol);
	json_t *json = json_pack("{ss ss ss? sI}",
				 "symbol", inlined->symbol,
				 "name", name ? name : inlined->symbol,
				 "file", inlined->file,
				 "copies", (json_int_t)inlined->copies);

	free(name);
	return json;
}

static void print_inlined(const struct listing *listing,
			  const struct part *part, const struct inlined *inlined)
{
	char *name = tense_demangle(inlined->symbol);

	if (!listing->shown)
		print_header();
	printf("%-20s %8s %-7s %7u  %s  (inlined everywhere%s: cannot be named)\n",
	       part->name, "-", "dwarf", inlined->copies,
	       name ? name : inlined->symbol,
	       inlined->copies ? "" : ", no code is left");
	free(name);
}

/* Functions that are nothing but copies: they can be shown, not named. */
static void show_inlined(struct listing *listing, const struct part *part,
			 json_t *list)
{
	for (size_t i = 0; i < part->inlines.count; i++) {
		const struct inlined *inlined = &part->inlines.functions[i];

		bool selected;

		if (inlined->out_of_line)
			continue;
		selected = inlined_selected(listing, part->object, inlined);
		if (listing->json && (selected || !listing->nr_patterns))
			append_json(list, json_inlined(inlined));
		else if (selected)
			print_inlined(listing, part, inlined);
		listing->shown += selected;
		listing->hidden += !selected;
	}
}

static int by_name(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->value > b->value) - (a->value < b->value);
}

static int load_part(struct part *part, const struct object *object)
{
	int err;

	memset(part, 0, sizeof(*part));
	part->object = object;
	part->name = object_short_name(object);
	err = functions_load(&part->functions, object);
	if (err)
		warn("%s: %s", object->path, functions_error(err));
	functions_drop_nameless(&part->functions);
	part->stripped = true;
	for (size_t i = 0; i < part->functions.count; i++)
		if (function_in_symtab(&part->functions.list[i]))
			part->stripped = false;
	if (part->functions.count)
		qsort(part->functions.list, part->functions.count,
		      sizeof(*part->functions.list), by_name);
	part->dwarf = err ? err : inlines_load(object->path, &part->inlines);
	if (part->dwarf == -EBADMSG && !err)
		warn("%s: its debug information is damaged: it is not known what is inlined",
		     object->path);
	return err;
}

static void free_part(struct part *part)
{
	functions_free(&part->functions);
	inlines_free(&part->inlines);
	free(part->name);
}

static void add_stripped(struct listing *listing, const char *name)
{
	char *old = listing->stripped;

	listing->stripped = old ? xprintf("%s, %s", old, name) : xstrdup(name);
	free(old);
}

/* Nobody wants to see thousands of names of libc first. */
static bool is_counted(const struct listing *listing,
		       const struct object *object)
{
	return !object->is_main && !listing->all && !listing->json &&
	       !listing->nr_patterns && !listing->has_object;
}

static void count_object(struct listing *listing, const struct part *part)
{
	size_t count = 0;

	for (size_t i = 0; i < part->functions.count; i++)
		count += !is_twin(&part->functions, i);
	if (!listing->counting)
		printf("%s%-20s %9s\n", listing->shown ? "\n" : "", "LIBRARY",
		       "FUNCTIONS");
	listing->counting = true;
	listing->shown += count;
	printf("%-20s %9zu\n", part->name, count);
}

static int show_object(struct listing *listing, const struct object *object)
{
	json_t *functions = NULL, *inlined = NULL;
	struct part part;
	int err;

	err = load_part(&part, object);
	if (listing->json) {
		functions = json_array();
		inlined = json_array();
	}
	if (is_counted(listing, object)) {
		count_object(listing, &part);
	} else {
		show_functions(listing, &part, functions);
		show_inlined(listing, &part, inlined);
	}
	if (listing->json)
		append_json(listing->objects, json_pack(
			"{ss ss ss? sb sb sb so so}",
			"path", object->path, "name", part.name,
			"soname", object->soname, "main", object->is_main,
			"stripped", part.stripped, "dwarf", in_dwarf(&part),
			"functions", functions, "inlined", inlined));
	if (part.stripped && !err && !is_counted(listing, object))
		add_stripped(listing, part.name);
	free_part(&part);
	return err;
}

static void print_notes(const struct listing *listing)
{
	const struct program *program = listing->program;

	if (program->script)
		warn("%s is a script: these are functions of what runs it, %s",
		     program->script, program->objects[0].path);
	if (program->missing)
		warn("libraries are missing: %s: the command will not start",
		     program->missing);
	if (listing->nr_patterns)
		return;
	if (listing->counting)
		warn("for the functions of libraries give a pattern, as in 'libc:mem*', or --object libc, or --all");
	if (listing->stripped)
		warn("stripped, so that only exported functions have names: %s: install debug symbols, or build without strip, for the others",
		     listing->stripped);
	if (listing->hidden)
		warn("%zu more function%s inlined everywhere: name one to see it",
		     listing->hidden, listing->hidden == 1 ? " is" : "s are");
	if (!program->is_static)
		warn("libraries that are opened later (dlopen) are not listed, nor programs that the command runs: name them with their object, or list them by themselves");
}

/* Why each of the patterns has nothing. */
static void explain_nothing(const struct listing *listing, char **patterns)
{
	struct object_cache cache = { 0 };
	struct tense_resolution result;

	for (size_t i = 0; i < listing->nr_patterns; i++) {
		tense_resolve(patterns[i], listing->command, &cache,
			      &result);
		if (result.kind != TENSE_RESOLVED && result.message)
			warn("%s", result.message);
		tense_resolution_free(&result);
	}
	object_cache_free(&cache);
	if (!listing->nr_patterns)
		warn("no functions found: the files are stripped; install their debug symbols, or build them without strip");
}

static bool object_selected(const struct listing *listing,
			    const struct object *object)
{
	if (listing->has_object && !object_match(object, &listing->object))
		return false;
	for (size_t i = 0; i < listing->nr_patterns; i++)
		if (object_match(object, &listing->patterns[i]))
			return true;
	return !listing->nr_patterns;
}

static int print_json(const struct listing *listing)
{
	const struct program *program = listing->program;
	json_t *root = json_pack("{si ss? ss? sb sO}",
				 "version", FUNCTIONS_JSON_VERSION,
				 "script", program->script,
				 "missing", program->missing,
				 "static", program->is_static,
				 "objects", listing->objects);

	return json_print(root);
}

static int list(struct listing *listing, char **patterns)
{
	size_t objects = 0;
	char *error;

	listing->program = program_open(listing->command, &error);
	if (!listing->program) {
		warn("functions: %s", error);
		free(error);
		return command_status(listing->command[0]);
	}
	if (listing->json)
		listing->objects = json_array();
	for (size_t i = 0; i < listing->program->count; i++) {
		if (!object_selected(listing, &listing->program->objects[i]))
			continue;
		show_object(listing, &listing->program->objects[i]);
		objects++;
	}
	fflush(stdout);
	if (listing->json && print_json(listing))
		exit(STATUS_FAILED);
	if (listing->has_object && !objects)
		warn("functions: the command has no object '%s': see those of tense functions --json",
		     listing->object.object);
	else if (!listing->shown)
		explain_nothing(listing, patterns);
	else if (!listing->json)
		print_notes(listing);
	json_decref(listing->objects);
	free(listing->stripped);
	program_free(listing->program);
	return listing->shown ? 0 : 1;
}

static int parse_object(const char *text, struct listing *listing)
{
	char *spec = xprintf("%s:=x", text);
	const char *error;
	int err;

	if (listing->has_object)
		tense_spec_free(&listing->object);
	err = tense_spec_parse(spec, &listing->object, &error);
	free(spec);
	if (err)
		warn("functions: --object '%s': %s", text, error);
	listing->has_object = !err;
	return err;
}

static int parse_patterns(char **texts, size_t count, struct listing *listing)
{
	const char *error;

	listing->patterns = xmalloc(count * sizeof(*listing->patterns));
	for (size_t i = 0; i < count; i++) {
		struct tense_spec *spec = &listing->patterns[i];

		if (tense_spec_parse(texts[i], spec, &error)) {
			warn("functions: '%s': %s", texts[i], error);
			return -EINVAL;
		}
		listing->nr_patterns++;
	}
	return 0;
}

static void free_listing(struct listing *listing)
{
	for (size_t i = 0; i < listing->nr_patterns; i++)
		tense_spec_free(&listing->patterns[i]);
	free(listing->patterns);
	if (listing->has_object)
		tense_spec_free(&listing->object);
}

/* Options and patterns end at the dashes. */
static int find_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return argc;
}

/* 0, or -1 after a message. */
static int parse_options(int argc, char **argv, struct listing *listing)
{
	int c;

	while ((c = options_take(&cmd_functions, argc, argv)) != -1) {
		switch (c) {
		case JSON:
			listing->json = true;
			break;
		case ALL:
			listing->all = true;
			break;
		case OBJECT:
			if (parse_object(optarg, listing))
				return -1;
			break;
		}
	}
	return 0;
}

static int main_functions(int argc, char **argv)
{
	int dashes = find_dashes(argc, argv), status = STATUS_FAILED;
	struct listing listing = { 0 };
	int err = parse_options(dashes, argv, &listing);

	if (!err && dashes + 1 >= argc) {
		warn("functions: no command: give it after two dashes, as in tense functions -- ls: see tense functions --help");
		err = -1;
	}
	if (!err && !parse_patterns(argv + optind, dashes - optind, &listing)) {
		listing.command = argv + dashes + 1;
		status = list(&listing, argv + optind);
	}
	free_listing(&listing);
	return status;
}

const struct subcommand cmd_functions = {
	.name = "functions",
	.summary = "list the functions of a program that whatif can name",
	.run = main_functions,
	.usage =
		"Usage: tense functions [OPTION...] [PATTERN...] -- COMMAND [ARGUMENT...]\n"
		"\n"
		"Lists the functions of a command and its libraries that `tense whatif` can\n"
		"name. The command is not run.\n",
	.options = options,
	.operands = "--",
	.examples =
		"  tense functions 'libz:deflate*' -- pigz\n"
		"  tense functions --object libcrypto -- openssl\n",
	.notes =
		"Exit status: 0 if functions were found, 1 if not, 125 if tense failed or was\n"
		"misused, 126 if the command cannot be executed, 127 if it was not found.\n",
};
