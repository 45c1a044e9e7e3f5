// SPDX-License-Identifier: GPL-2.0
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libtense/symbols/cxx-name.h"
#include "base/paths.h"
#include "base/util.h"

struct load {
	struct functions *functions;
	const struct object *object;
};

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static int add(const struct tense_symbol *symbol, void *data)
{
	const struct load *load = data;
	struct functions *functions = load->functions;
	struct function *function;
	char *demangled;

	if (functions->count == functions->room) {
		functions->room = functions->room ? 2 * functions->room : 256;
		functions->list = xrealloc(functions->list, functions->room *
					   sizeof(*functions->list));
	}
	demangled = tense_demangle(symbol->name);
	function = &functions->list[functions->count++];
	*function = (struct function){
		.object = load->object,
		.symbol = xstrdup(symbol->name),
		.name = demangled ? xstrdup(demangled) : xstrdup(symbol->name),
		.version = copy(symbol->version), .file = copy(symbol->file),
		.value = symbol->value, .size = symbol->size,
		.offset = symbol->offset, .source = symbol->source,
		.ifunc = symbol->ifunc, .local = symbol->local,
	};
	free(demangled);
	return 0;
}

static int by_symbol(const void *left, const void *right)
{
	const struct function *a = *(struct function *const *)left;
	const struct function *b = *(struct function *const *)right;
	int order = strcmp(a->symbol, b->symbol);

	return order ? order : (a->value > b->value) - (a->value < b->value);
}

static void mark_shared(struct function *list, size_t count)
{
	struct function **sorted;

	if (count < 2)
		return;
	sorted = xmalloc(count * sizeof(void *));
	for (size_t i = 0; i < count; i++)
		sorted[i] = &list[i];
	qsort(sorted, count, sizeof(void *), by_symbol);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(sorted[i - 1]->symbol, sorted[i]->symbol) &&
		    sorted[i - 1]->value != sorted[i]->value)
			sorted[i - 1]->shared_symbol =
				sorted[i]->shared_symbol = true;
	free(sorted);
}

int functions_load(struct functions *functions, const struct object *object)
{
	struct load load = { functions, object };
	size_t before = functions->count;
	int err = tense_functions_each(object->path, add, &load);

	mark_shared(functions->list + before, functions->count - before);
	return err;
}

static void free_function(struct function *function)
{
	free(function->symbol);
	free(function->name);
	free(function->version);
	free(function->file);
}

void functions_drop_nameless(struct functions *functions)
{
	size_t kept = 0;

	for (size_t i = 0; i < functions->count; i++)
		if (function_is_nameless(&functions->list[i]))
			free_function(&functions->list[i]);
		else
			functions->list[kept++] = functions->list[i];
	functions->count = kept;
}

void functions_free(struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free_function(&functions->list[i]);
	free(functions->list);
	memset(functions, 0, sizeof(*functions));
}

const char *functions_error(int err)
{
	switch (err) {
	case -EBADMSG:
		return "damaged: install or build it again";
	case -ENOEXEC:
		return "not a program or library";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-err);
	}
}

bool function_in_symtab(const struct function *function)
{
	return function->source == TENSE_SYMTAB ||
	       function->source == TENSE_DEBUG_FILE;
}

bool function_is_nameless(const struct function *function)
{
	return function->source == TENSE_FRAMES;
}

enum tense_match function_match(const struct function *function,
				const struct tense_spec *spec)
{
	const struct tense_symbol symbol = {
		.name = function->symbol, .version = function->version,
		.value = function->value,
	};

	return tense_spec_match(spec, &symbol);
}

bool inlined_match(const struct inlined *inlined, const struct tense_spec *spec)
{
	if (spec->has_address || spec->version)
		return false;
	return tense_spec_symbol(spec, inlined->symbol) ||
	       (inlined->file && tense_spec_demangled(spec, inlined->symbol));
}

bool object_match(const struct object *object, const struct tense_spec *spec)
{
	return tense_spec_object(spec, object->path, object->soname,
				 object->is_main);
}

/*
 * Link-time optimisation gives static functions of the same name such marks, and parts of
 * functions, too. Returns that of a symbol, and its length, which is 0 if there is none.
 */
static const char *lto_mark(const char *symbol, size_t *len)
{
	static const char *const marks[] = { ".lto_priv.", ".llvm." };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *mark = strstr(symbol, marks[i]);

		if (!mark)
			continue;
		*len = strlen(marks[i]) + strcspn(mark + strlen(marks[i]), ".");
		return mark;
	}
	*len = 0;
	return symbol;
}

static bool have_other_marks(const char *a, const char *b)
{
	size_t len_a, len_b;

	a = lto_mark(a, &len_a);
	b = lto_mark(b, &len_b);
	return len_a && len_b && (len_a != len_b || strncmp(a, b, len_a) != 0);
}

/* A demangled name does not show the mark. */
static bool hides_mark(const struct function *function)
{
	size_t len;

	lto_mark(function->symbol, &len);
	return len && !strncmp(function->symbol, "_Z", 2);
}

bool function_same(const struct function *a, const struct function *b)
{
	size_t base = strcspn(a->symbol, ".");

	if (a->object != b->object)
		return false;
	if (a->value == b->value)
		return true;
	if (have_other_marks(a->symbol, b->symbol))
		return false;
	/* Static ones of two sources are two; two versions are one. */
	if (a->file && b->file && strcmp(a->file, b->file) != 0)
		return false;
	if (!strcmp(a->symbol, b->symbol))
		return a->version && b->version;
	if (!strncmp(a->symbol, "_Z", 2))
		return !strcmp(a->name, b->name);
	return strcspn(b->symbol, ".") == base &&
	       !strncmp(a->symbol, b->symbol, base);
}

char *function_spec(const struct function *function)
{
	const char *path = function->object->path;

	if (function->shared_symbol)
		return xprintf("%s:=%s@0x%" PRIx64, path, function->symbol,
			       function->value);
	return xprintf("%s:=%s", path, function->symbol);
}

char *object_short_name(const struct object *object)
{
	const char *name = object->soname && !object->is_main ?
			   object->soname : base_name(object->path);
	char *result = xstrdup(name);
	char *suffix = strstr(result, ".so");

	if (suffix && suffix != result && (!suffix[3] || suffix[3] == '.'))
		*suffix = '\0';
	return result;
}

char *function_short_spec(const struct function *function)
{
	char *object = object_short_name(function->object), *result;

	if (function->shared_symbol && function->version)
		result = xprintf("%s:%s@%s", object, function->name,
				 function->version);
	else if (function->shared_symbol)
		result = xprintf("%s:%s@0x%" PRIx64, object, function->name,
				 function->value);
	else if (function_is_nameless(function))
		result = xprintf("%s%s", object, function->name);
	else if (hides_mark(function))
		result = xprintf("%s:=%s", object, function->symbol);
	else
		result = xprintf("%s:%s", object, function->name);
	free(object);
	return result;
}
