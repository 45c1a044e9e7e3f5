// SPDX-License-Identifier: GPL-2.0
#include "resolve.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libtense/symbols/cxx-name.h"
#include "functions.h"
#include "object-cache.h"
#include "program.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "base/util.h"

#define SHOWN_MAX	20
#define NEAR_MAX	5

struct search {
	struct tense_spec spec;
	const char *text;
	struct program *program;
	struct object_cache *cache;
	struct cached_object **objects;	/* those that the text allows */
	size_t nr_objects;
	struct function **matches;
	size_t nr_matches;
	bool later;
};

/* Adds a piece to a text that may be NULL yet. */
static void append(char **text, const char *piece)
{
	char *old = *text;

	*text = xprintf("%s%s", old ? old : "", piece);
	free(old);
}

/* Takes piece. */
static void append_own(char **text, char *piece)
{
	append(text, piece);
	free(piece);
}

static bool has_object(const struct search *search)
{
	for (size_t i = 0; i < search->program->count; i++)
		if (object_match(&search->program->objects[i], &search->spec))
			return true;
	return false;
}

static void add_from_directory(struct search *search, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	char *path;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".so"))
			continue;
		path = xprintf("%s/%s", directory, entry->d_name);
		if (tense_spec_object(&search->spec, path, NULL, false)) {
			program_add(search->program, path,
				    xstrdup(entry->d_name));
			search->later = true;
		} else {
			free(path);
		}
	}
	closedir(dir);
}

/* Libraries lie where those are that the command starts with, or here. */
static void add_later_libraries(struct search *search)
{
	static const char *const usual[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib",
		"/usr/local/lib",
	};
	size_t count = search->program->count;

	for (size_t i = 0; i < count && !search->later; i++) {
		char *directory = xstrdup(search->program->objects[i].path);

		*strrchr(directory, '/') = '\0';
		add_from_directory(search, directory);
		free(directory);
	}
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) &&
	     !search->later; i++)
		add_from_directory(search, usual[i]);
}

/* Adds the object that the user named: the command may dlopen() or run it. */
static void add_later(struct search *search)
{
	const char *object = search->spec.object;
	char *path;

	if (!object || !*object || has_object(search))
		return;
	path = find_command(object);
	if (!path && strchr(object, '/') && !access(object, R_OK))
		path = xstrdup(object);
	if (path) {
		program_add(search->program, path, xstrdup(base_name(object)));
		search->later = true;
	} else if (!strchr(object, '/')) {
		add_later_libraries(search);
	}
}

static void load_functions(struct search *search)
{
	const struct program *program = search->program;

	search->objects = xmalloc(program->count * sizeof(void *));
	for (size_t i = 0; i < program->count; i++)
		if (object_match(&program->objects[i], &search->spec))
			search->objects[search->nr_objects++] =
				object_cache_get(search->cache, &program->objects[i]);
}

/* The highest rank wins: functions of other objects beat the loader's own. */
static unsigned get_rank(const struct search *search,
			 const struct function *function)
{
	enum tense_match match = function_match(function, &search->spec);
	bool pattern = tense_spec_is_pattern(&search->spec);

	if (!match)
		return 0;
	if (pattern && search->spec.object)
		return 1;
	return 2 * (pattern ? 1 : match) + !function->object->is_loader;
}

/* Keeps the functions of the best rank: those of lower ones go. Returns the best. */
static unsigned add_matches(struct search *search, struct functions *functions,
			    unsigned best)
{
	for (size_t i = 0; i < functions->count; i++) {
		struct function *function = &functions->list[i];
		unsigned rank = get_rank(search, function);

		if (rank < best)
			continue;
		if (rank > best)
			search->nr_matches = 0;
		best = rank;
		search->matches[search->nr_matches++] = function;
	}
	return best;
}

static void find_matches(struct search *search)
{
	unsigned best = 1;
	size_t all = 0;

	for (size_t i = 0; i < search->nr_objects; i++)
		all += search->objects[i]->functions.count;
	search->matches = xmalloc((all + 1) * sizeof(void *));
	for (size_t i = 0; i < search->nr_objects; i++)
		best = add_matches(search, &search->objects[i]->functions, best);
}

static bool is_ambiguous(const struct search *search)
{
	if (tense_spec_is_pattern(&search->spec))
		return false;
	for (size_t i = 1; i < search->nr_matches; i++)
		if (!function_same(search->matches[0], search->matches[i]))
			return true;
	return false;
}

/* A library that is opened later can be another file of that name. */
static char *get_spec(const struct search *search,
		      const struct function *function)
{
	if (!search->later)
		return function_spec(function);
	if (search->spec.has_address)
		return xprintf("%s:=%s@0x%" PRIx64, search->spec.object,
			       function->symbol, function->value);
	return xprintf("%s:=%s", search->spec.object, function->symbol);
}

static void add_candidate(const struct search *search,
			  const struct function *function,
			  struct tense_resolution *result)
{
	struct tense_candidate *candidate;

	result->candidates = xrealloc(result->candidates, (result->count + 1) *
				      sizeof(*result->candidates));
	candidate = &result->candidates[result->count++];
	*candidate = (struct tense_candidate){
		.spec = get_spec(search, function),
		.object = xstrdup(function->object->path),
		.symbol = xstrdup(function->symbol),
		.name = function_short_spec(function),
		.file = function->file ? xstrdup(function->file) : NULL,
		.value = function->value, .size = function->size,
		.offset = function->offset, .ifunc = function->ifunc,
	};
}

/* Aliases are one function. */
static void add_candidates(const struct search *search,
			   struct tense_resolution *result)
{
	const struct function *last = NULL;

	for (size_t i = 0; i < search->nr_matches; i++) {
		const struct function *function = search->matches[i];

		if (last && last->object == function->object &&
		    last->value == function->value)
			continue;
		add_candidate(search, function, result);
		last = function;
	}
}

/* One that the shell leaves as it is. */
static char *quoted(const char *text)
{
	return text[strcspn(text, " ()<>&*?[]$;|{}\"'\\`~#!")] && !strchr(text, '\'') ?
	       xprintf("'%s'", text) : xstrdup(text);
}

static void append_candidates(const struct tense_resolution *result, char **text)
{
	size_t shown = result->count > SHOWN_MAX ? SHOWN_MAX : result->count;

	for (size_t i = 0; i < shown; i++) {
		const struct tense_candidate *candidate = &result->candidates[i];

		append(text, "\n  ");
		append_own(text, quoted(candidate->name));
		if (candidate->file)
			append_own(text, xprintf("  (in %s)", candidate->file));
	}
	if (shown < result->count)
		append_own(text, xprintf("\n  and %zu more",
					 result->count - shown));
}

static void explain_ambiguous(const struct search *search,
			      struct tense_resolution *result)
{
	result->kind = TENSE_AMBIGUOUS;
	add_candidates(search, result);
	result->message = xprintf("'%s' can be any of these functions: name one of them, or all of them with a pattern",
				  search->text);
	append_candidates(result, &result->message);
}

static void explain_inlined(const struct search *search,
			    const struct object *object,
			    const struct inlined *function,
			    struct tense_resolution *result)
{
	char *name = object_short_name(object), *callers = NULL;

	for (int i = 0; i < INLINED_CALLERS && function->callers[i]; i++)
		append_own(&callers, xprintf("%s%s", i ? ", " : "",
					     function->callers[i]));
	result->kind = TENSE_INLINED;
	result->inlined += function->copies;
	free(result->message);
	if (function->copies)
		result->message = xprintf("'%s' is inlined everywhere in %s (%u %s%s%s): there is no function to change. Name a function that it is inlined into, or build it with __attribute__((noinline))",
					  search->text, name, function->copies,
					  function->copies == 1 ? "copy" :
								  "copies",
					  callers ? ", in " : "",
					  callers ? callers : "");
	else
		result->message = xprintf("'%s' is inlined everywhere in %s, and no instruction of it is left: there is nothing to change. To see what it costs build it with __attribute__((noinline))",
					  search->text, name);
	free(callers);
	free(name);
}

static bool is_stripped(const struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		if (function_in_symtab(&functions->list[i]))
			return false;
	return true;
}

/*
 * If the program is stripped, the wanted function is most likely there. A library may
 * have another one of that name.
 */
static bool may_be_in_libraries(const struct search *search)
{
	const struct cached_object *first = search->nr_objects ? search->objects[0] : NULL;

	return search->spec.object || !first || !first->object.is_main ||
	       !is_stripped(&first->functions);
}

static bool find_inlined(const struct search *search,
			 struct tense_resolution *result)
{
	size_t count = may_be_in_libraries(search) ? search->nr_objects : 1;
	bool found = false;

	for (size_t i = 0; i < count && !found; i++) {
		struct cached_object *cached = search->objects[i];
		const struct inlines *inlines = object_cache_inlines(cached);

		for (size_t j = 0; j < inlines->count && !found; j++) {
			if (inlines->functions[j].out_of_line ||
			    !inlined_match(&inlines->functions[j], &search->spec))
				continue;
			explain_inlined(search, &cached->object,
					&inlines->functions[j], result);
			found = true;
		}
	}
	return found;
}

/* The distance of a C++ name is that of its nearest ending. */
static unsigned get_distance(const char *wanted, const struct function *function)
{
	unsigned distance, best = NEAREST_FAR;
	struct tense_cxx_name name;

	if (!strcmp(function->name, function->symbol) ||
	    !tense_cxx_name_parse(function->name, &name))
		return nearest_distance(wanted, function->name);
	for (const char *s = name.plain; s; s = tense_cxx_inner(s)) {
		distance = nearest_distance(wanted, s);
		if (distance < best)
			best = distance;
	}
	tense_cxx_name_free(&name);
	return best;
}

struct near {
	const struct function *function;
	unsigned distance;
};

/* Keeps the list in order, and aliases and versions out of it. */
static void insert_near(struct near list[NEAR_MAX], size_t *count,
			struct near new)
{
	size_t at;

	for (at = 0; at < *count; at++) {
		const struct function *other = list[at].function;

		if (other->object != new.function->object ||
		    (other->value != new.function->value &&
		     strcmp(other->symbol, new.function->symbol) != 0))
			continue;
		if (list[at].distance <= new.distance)
			return;
		--*count;
		memmove(&list[at], &list[at + 1], (*count - at) * sizeof(*list));
		break;
	}
	for (at = *count; at && list[at - 1].distance > new.distance; at--)
		;
	if (at == NEAR_MAX)
		return;
	if (*count < NEAR_MAX)
		++*count;
	memmove(&list[at + 1], &list[at], (*count - at - 1) * sizeof(*list));
	list[at] = new;
}

static void find_nearest(const struct search *search,
			 const struct functions *functions,
			 struct near list[NEAR_MAX], size_t *count)
{
	for (size_t i = 0; i < functions->count; i++) {
		struct near new = { .function = &functions->list[i] };

		if (function_is_nameless(new.function))
			continue;
		new.distance = get_distance(search->spec.pattern, new.function);
		if (new.distance < NEAREST_FAR)
			insert_near(list, count, new);
	}
}

static void add_nearest(const struct search *search,
			struct tense_resolution *result)
{
	struct near list[NEAR_MAX] = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < search->nr_objects; i++)
		find_nearest(search, &search->objects[i]->functions, list, &count);
	for (size_t i = 0; i < count; i++)
		add_candidate(search, list[i].function, result);
}

/* Objects of which only exported functions can be found. */
static char *list_stripped(const struct search *search)
{
	char *list = NULL;

	for (size_t i = 0; i < search->nr_objects; i++) {
		if (search->objects[i]->error ||
		    !is_stripped(&search->objects[i]->functions))
			continue;
		if (list)
			append(&list, ", ");
		append_own(&list, object_short_name(&search->objects[i]->object));
	}
	return list;
}

static char *list_objects(const struct search *search, bool all)
{
	char *list = NULL;

	for (size_t i = 0; i < search->program->count; i++) {
		const struct object *object = &search->program->objects[i];

		if (!all && !object_match(object, &search->spec))
			continue;
		if (list)
			append(&list, ", ");
		append_own(&list, object_short_name(object));
	}
	return list;
}

static void explain_no_object(const struct search *search,
			      struct tense_resolution *result)
{
	char *objects = list_objects(search, true);

	result->message = xprintf("there is no '%s' to find '%s' in: the command starts with %s. For another program or library give its path, as in /usr/lib/libfoo.so.1:%s",
				  search->spec.object, search->text, objects,
				  search->spec.pattern);
	free(objects);
}

static void explain_no_frame(const struct search *search,
			     struct tense_resolution *result)
{
	char *objects = list_objects(search, false);

	result->message = xprintf("no function without a symbol begins at %s in %s: take an address that tense profile shows, or the function's name",
				  search->spec.pattern, objects);
	free(objects);
}

/* Why the function may have no name, and where else it may be: a line for each. */
static void append_hints(const struct search *search, char **text)
{
	char *stripped = list_stripped(search);

	if (search->program->missing)
		append_own(text, xprintf("\n%s: missing, so that the command will not start",
					 search->program->missing));
	if (search->program->script && !search->spec.object)
		append_own(text, xprintf("\n%s is a script, which %s runs.",
					 search->program->script,
					 search->program->objects[0].path));
	for (size_t i = 0; i < search->nr_objects; i++)
		if (search->objects[i]->error)
			append_own(text, xprintf("\n%s: %s", search->objects[i]->object.path,
						 functions_error(search->objects[i]->error)));
	if (stripped)
		append_own(text, xprintf("\n%s: stripped, so that only exported functions have names.\n"
					 "Install debug symbols, build without strip, or give an address as tense profile shows it.",
					 stripped));
	if (!search->spec.object)
		append_own(text, xprintf("\nFor a library that is opened later, or a program that the command runs, give its path: PATH:%s",
					 search->text));
	free(stripped);
}

static void explain_not_found(const struct search *search,
			      struct tense_resolution *result)
{
	char *objects;

	result->kind = TENSE_NOT_FOUND;
	if (!has_object(search)) {
		explain_no_object(search, result);
		return;
	}
	if (tense_spec_is_frame(&search->spec)) {
		explain_no_frame(search, result);
		return;
	}
	if (!tense_spec_is_pattern(&search->spec))
		add_nearest(search, result);
	objects = list_objects(search, false);
	result->message = xprintf("no function '%s' in %s%s", search->spec.pattern,
				  objects, result->count ? ". Near to it are" : "");
	append_candidates(result, &result->message);
	append_hints(search, &result->message);
	free(objects);
}

/* Copies of the resolved functions that keep their speed. */
static void count_inlined(const struct search *search,
			  struct tense_resolution *result)
{
	const struct function *last = NULL;

	for (size_t i = 0; i < search->nr_matches; i++) {
		const struct function *function = search->matches[i];
		struct cached_object *cached;
		int copies;

		if (last && last->object == function->object &&
		    last->value == function->value)
			continue;
		last = function;
		cached = object_cache_get(search->cache, function->object);
		copies = inlines_copies(object_cache_inlines(cached), function->value);
		if (copies > 0)
			result->inlined += copies;
	}
}

static void explain_resolved(const struct search *search,
			     struct tense_resolution *result)
{
	result->kind = TENSE_RESOLVED;
	result->later = search->later;
	add_candidates(search, result);
	count_inlined(search, result);
	if (result->inlined)
		append_own(&result->message,
			   xprintf("'%s' is also inlined, %u times: these copies keep their speed; build with __attribute__((noinline)) to scale them, too",
				   search->text, result->inlined));
}

static void search_program(struct search *search,
			   struct tense_resolution *result)
{
	add_later(search);
	load_functions(search);
	find_matches(search);
	if (!search->nr_matches) {
		if (!find_inlined(search, result))
			explain_not_found(search, result);
	} else if (is_ambiguous(search)) {
		explain_ambiguous(search, result);
	} else {
		explain_resolved(search, result);
	}
}

enum tense_resolution_kind tense_resolve(const char *spec, char *const *command,
					 struct object_cache *cache,
					 struct tense_resolution *result)
{
	struct object_cache unshared = { 0 };
	struct search search = { .text = spec, .cache = cache ? cache : &unshared };
	const char *error;

	memset(result, 0, sizeof(*result));
	result->kind = TENSE_UNRESOLVABLE;
	if (tense_spec_parse(spec, &search.spec, &error)) {
		result->message = xprintf("'%s': %s", spec, error);
		return result->kind;
	}
	search.program = program_open(command, &result->message);
	if (search.program)
		search_program(&search, result);
	free(search.matches);
	free(search.objects);
	object_cache_free(&unshared);
	program_free(search.program);
	tense_spec_free(&search.spec);
	return result->kind;
}

void tense_resolution_free(struct tense_resolution *result)
{
	for (size_t i = 0; i < result->count; i++) {
		struct tense_candidate *candidate = &result->candidates[i];

		free(candidate->spec);
		free(candidate->object);
		free(candidate->symbol);
		free(candidate->name);
		free(candidate->file);
	}
	free(result->candidates);
	free(result->message);
	memset(result, 0, sizeof(*result));
}
