// SPDX-License-Identifier: GPL-2.0
#include "inlines-dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include "libtense/symbols/debug-file.h"
#include "libtense/symbols/symbols.h"
#include "base/util.h"

#define SPLIT_UNIT_MAX	(1 << 26)	/* entries */
#define DEPTH_MAX	200	/* far more than a compiler nests */

/* A function as DWARF defines it once in each unit, told by its address. */
struct origin {
	Dwarf_Die die;
	unsigned copies;
	const char *callers[INLINED_CALLERS];
	struct inlined function;
	size_t group;		/* index of the function, shared by units */
};

struct use {
	Dwarf_Die origin;
	const char *caller;
	/*
	 * Only says that the compiler inlines it. A function of one line may be
	 * in others' instructions and have none of its own there.
	 */
	bool no_code;
};

struct concrete {
	uint64_t value;
	const void *origin;	/* address, NULL: never inlined */
};

struct walk {
	struct use *uses;
	size_t nr_uses, room_uses;
	struct concrete *concrete;
	size_t nr_concrete, room_concrete;
	struct origin *origins;
	size_t nr_origins;
	uint64_t budget;	/* entries that there is room for */
	unsigned depth;
};

static void *grow(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	return xrealloc(array, *room * size);
}

static void add_use(struct walk *walk, const struct use *use)
{
	walk->uses = grow(walk->uses, walk->nr_uses, &walk->room_uses,
			  sizeof(*walk->uses));
	walk->uses[walk->nr_uses++] = *use;
}

static void add_concrete(struct walk *walk, uint64_t value, const void *origin)
{
	walk->concrete = grow(walk->concrete, walk->nr_concrete,
			      &walk->room_concrete, sizeof(*walk->concrete));
	walk->concrete[walk->nr_concrete++] = (struct concrete){ value, origin };
}

static bool get_origin(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	       dwarf_formref_die(&attribute, origin);
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) ||
	       dwarf_hasattr(die, DW_AT_ranges) ||
	       dwarf_hasattr(die, DW_AT_entry_pc);
}

static const char *plain(const char *text)
{
	return tense_is_plain(text) ? text : NULL;
}

/* Visits an entry. Returns the function that its children belong to. */
static const char *visit(struct walk *walk, Dwarf_Die *die, const char *caller)
{
	Dwarf_Die origin;
	Dwarf_Addr value;

	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		if (has_code(die) && get_origin(die, &origin))
			add_use(walk, &(struct use){ origin, caller, false });
		break;
	case DW_TAG_subprogram:
		if (dwarf_func_inline(die))
			add_use(walk, &(struct use){ *die, NULL, true });
		caller = plain(dwarf_diename(die));
		if (!dwarf_entrypc(die, &value))
			add_concrete(walk, value, get_origin(die, &origin) ?
				     origin.addr : NULL);
		break;
	default:
		break;
	}
	return caller;
}

static bool may_have_code(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

/*
 * A damaged tree may go in circles, but then it has more entries than bytes.
 * Depth is that of the stack.
 */
/* NOLINTNEXTLINE(misc-no-recursion) */
static int walk_tree(struct walk *walk, Dwarf_Die *die, const char *caller)
{
	Dwarf_Die child;
	int more, err = 0;

	if (!walk->budget-- || walk->depth > DEPTH_MAX)
		return -EBADMSG;
	caller = visit(walk, die, caller);
	if (!may_have_code(die) || dwarf_child(die, &child))
		return 0;
	walk->depth++;
	do {
		const void *before = child.addr;

		err = walk_tree(walk, &child, caller);
		if (err)
			break;
		more = dwarf_siblingof(&child, &child);
		if (more < 0 || (!more && child.addr <= before))
			err = -EBADMSG;
	} while (!err && !more);
	walk->depth--;
	return err;
}

static int walk_units(struct walk *walk, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	int more, err;

	while (!(more = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die,
					&split))) {
		if (type == DW_UT_type || type == DW_UT_split_type)
			continue;
		if (type == DW_UT_skeleton && split.addr) {
			die = split;
			walk->budget += SPLIT_UNIT_MAX;
		}
		err = walk_tree(walk, &die, NULL);
		if (err)
			return err;
	}
	return more < 0 ? -EBADMSG : 0;
}

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	return (a->origin.addr > b->origin.addr) -
	       (a->origin.addr < b->origin.addr);
}

static int compare_values(const void *left, const void *right)
{
	const struct concrete *a = left, *b = right;

	return (a->value > b->value) - (a->value < b->value);
}

static void add_caller(const char **callers, const char *caller)
{
	if (!caller)
		return;
	for (int i = 0; i < INLINED_CALLERS; i++) {
		if (!callers[i])
			callers[i] = caller;
		if (!strcmp(callers[i], caller))
			return;
	}
}

/* One origin for all uses of it, ordered by their addresses. */
static void collect_origins(struct walk *walk)
{
	struct origin *origin = NULL;

	if (!walk->nr_uses)
		return;
	qsort(walk->uses, walk->nr_uses, sizeof(*walk->uses), compare_uses);
	walk->origins = xmalloc(walk->nr_uses * sizeof(*walk->origins));
	for (size_t i = 0; i < walk->nr_uses; i++) {
		const struct use *use = &walk->uses[i];

		if (!origin || origin->die.addr != use->origin.addr) {
			origin = &walk->origins[walk->nr_origins++];
			origin->die = use->origin;
		}
		origin->copies += !use->no_code;
		add_caller(origin->callers, use->caller);
	}
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return NULL;
	return plain(dwarf_formstring(&attribute));
}

static void name_origin(struct origin *origin)
{
	const char *name = linkage_name(&origin->die);
	const char *file = NULL;
	int line = 0;

	if (!name) {
		name = plain(dwarf_diename(&origin->die));
		file = plain(dwarf_decl_file(&origin->die));
		dwarf_decl_line(&origin->die, &line);
	}
	origin->function.symbol = xstrdup(name ? name : "");
	if (file)
		origin->function.file = xprintf("%s:%d", file, line);
}

/* The same function in several units has the same name, or place. */
static int compare_origins(const void *left, const void *right)
{
	const struct inlined *a = &((const struct origin *)left)->function;
	const struct inlined *b = &((const struct origin *)right)->function;
	int order = strcmp(a->symbol, b->symbol);

	return order ? order :
	       strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static void merge_origins(struct walk *walk, struct inlines *inlines)
{
	const char *callers[INLINED_CALLERS];
	struct inlined *function = NULL;

	for (size_t i = 0; i < walk->nr_origins; i++)
		name_origin(&walk->origins[i]);
	if (!walk->nr_origins)
		return;
	qsort(walk->origins, walk->nr_origins, sizeof(*walk->origins),
	      compare_origins);
	inlines->functions = xmalloc(walk->nr_origins *
				     sizeof(*inlines->functions));
	for (size_t i = 0; i < walk->nr_origins; i++) {
		struct origin *origin = &walk->origins[i];

		if (!i || compare_origins(origin - 1, origin)) {
			function = &inlines->functions[inlines->count++];
			function->symbol = xstrdup(origin->function.symbol);
			if (origin->function.file)
				function->file = xstrdup(origin->function.file);
			memset(callers, 0, sizeof(callers));
		}
		origin->group = inlines->count - 1;
		function->copies += origin->copies;
		for (int j = 0; j < INLINED_CALLERS; j++) {
			add_caller(callers, origin->callers[j]);
			if (callers[j] && !function->callers[j])
				function->callers[j] = xstrdup(callers[j]);
		}
	}
}

static int compare_addresses(const void *left, const void *right)
{
	const struct origin *a = left, *b = right;

	return (a->die.addr > b->die.addr) - (a->die.addr < b->die.addr);
}

static void collect_concrete(struct walk *walk, struct inlines *inlines)
{
	if (!walk->nr_concrete)
		return;
	if (walk->nr_origins)
		qsort(walk->origins, walk->nr_origins, sizeof(*walk->origins),
		      compare_addresses);
	qsort(walk->concrete, walk->nr_concrete, sizeof(*walk->concrete),
	      compare_values);
	inlines->concrete = xmalloc(walk->nr_concrete *
				    sizeof(*inlines->concrete));
	for (size_t i = 0; i < walk->nr_concrete; i++) {
		const struct concrete *concrete = &walk->concrete[i];
		struct origin key = {
			.die.addr = (void *)concrete->origin }, *found = NULL;
		struct inlined *function = NULL;

		if (key.die.addr && walk->nr_origins)
			found = bsearch(&key, walk->origins, walk->nr_origins,
					sizeof(key), compare_addresses);
		if (found) {
			function = &inlines->functions[found->group];
			function->out_of_line = true;
		}
		inlines->concrete[inlines->nr_concrete++] =
			(struct out_of_line){ concrete->value, function };
	}
}

static void free_walk(struct walk *walk)
{
	for (size_t i = 0; i < walk->nr_origins; i++) {
		free(walk->origins[i].function.symbol);
		free(walk->origins[i].function.file);
	}
	free(walk->origins);
	free(walk->uses);
	free(walk->concrete);
}

static bool has_dwarf(Elf *elf, uint64_t *size)
{
	Elf_Scn *section = NULL;
	GElf_Chdr compressed;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strcmp(name, ".debug_info") != 0 &&
			      strcmp(name, ".zdebug_info") != 0))
			continue;
		/* The older way to compress does not tell. */
		*size = *name == '.' && name[1] == 'z' ? UINT32_MAX :
			header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) &&
		    gelf_getchdr(section, &compressed))
			*size = compressed.ch_size;
		return true;
	}
	return false;
}

/* Opens the file that has the DWARF: path, or its debug file. */
static int open_dwarf(const char *path, int *fd, Elf **elf, Dwarf **dwarf,
		      uint64_t *size)
{
	bool found;
	char *debug;
	int err;

	err = tense_elf_open(path, fd, elf);
	if (err)
		return err;
	found = has_dwarf(*elf, size);
	if (!found) {
		debug = tense_debug_file(*elf, path);
		tense_elf_close(*fd, *elf);
		err = debug ? tense_elf_open(debug, fd, elf) : -ENODATA;
		free(debug);
		if (err)
			return err;
		found = has_dwarf(*elf, size);
	}
	*dwarf = found ? dwarf_begin_elf(*elf, DWARF_C_READ, NULL) : NULL;
	if (*dwarf)
		return 0;
	tense_elf_close(*fd, *elf);
	return found ? -EBADMSG : -ENODATA;
}

int inlines_parse(const char *path, struct inlines *inlines)
{
	struct walk walk = { 0 };
	Dwarf *dwarf;
	Elf *elf;
	int fd, err;

	memset(inlines, 0, sizeof(*inlines));
	err = open_dwarf(path, &fd, &elf, &dwarf, &walk.budget);
	if (err)
		return err;
	err = walk_units(&walk, dwarf);
	if (!err) {
		collect_origins(&walk);
		merge_origins(&walk, inlines);
		collect_concrete(&walk, inlines);
	}
	free_walk(&walk);
	dwarf_end(dwarf);
	tense_elf_close(fd, elf);
	return err;
}
