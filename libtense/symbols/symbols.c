// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbols.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "debug-file.h"
#include "frames.h"

struct entry {
	struct tense_symbol symbol;
	char *copy;		/* the name, if the file does not hold it as it is */
};

struct segment {
	uint64_t value, size, offset;
};

struct list {
	struct entry *entries;
	size_t count, room;
	struct segment *segments;	/* executable ones */
	size_t nr_segments;
};

/* The versions of the symbols of .dynsym. */
struct versions {
	Elf *elf;
	Elf_Data *of_symbol;	/* NULL: there are none */
	Elf_Data *definitions;
	size_t strings;
};

static int get_segments(Elf *elf, struct list *list)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return -EBADMSG;
	list->segments = calloc(count ? count : 1, sizeof(*list->segments));
	if (!list->segments)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header))
			return -EBADMSG;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		list->segments[list->nr_segments++] = (struct segment){
			header.p_vaddr, header.p_filesz, header.p_offset };
	}
	return 0;
}

static bool get_offset(const struct list *list, uint64_t value,
		       uint64_t *offset)
{
	for (size_t i = 0; i < list->nr_segments; i++) {
		const struct segment *s = &list->segments[i];

		if (value < s->value || value - s->value >= s->size)
			continue;
		*offset = value - s->value + s->offset;
		return true;
	}
	return false;
}

/* A function's part that hardly ever runs. Code jumps to it and never calls it. */
static bool is_cold_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold != name && (!cold[5] || cold[5] == '.');
}

/*
 * A function that the compiler links to every object, and that no one wants to
 * scale.
 */
static bool is_startup(const char *name)
{
	static const char *const names[] = {
		"_init", "_start", "_fini", "frame_dummy",
		"register_tm_clones", "deregister_tm_clones",
		"__do_global_dtors_aux",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

bool tense_is_plain(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	/* C2 80 to C2 9F are control characters in UTF-8. */
	for (; c && *c; c++)
		if (iscntrl(*c) || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
			return false;
	return true;
}

static const char *version_of(const struct versions *versions, int index)
{
	const char *version;
	GElf_Versym number;
	GElf_Verdaux name;
	GElf_Verdef def;
	int at = 0;

	if (!versions->of_symbol || !versions->definitions ||
	    !gelf_getversym(versions->of_symbol, index, &number))
		return NULL;
	number &= 0x7fff;
	if (number <= VER_NDX_GLOBAL)
		return NULL;
	while (gelf_getverdef(versions->definitions, at, &def)) {
		if (def.vd_ndx == number &&
		    gelf_getverdaux(versions->definitions, at + def.vd_aux,
				    &name)) {
			version = elf_strptr(versions->elf, versions->strings,
					     name.vda_name);
			return tense_is_plain(version) ? version : NULL;
		}
		if (def.vd_next < sizeof(def) ||
		    def.vd_next > INT32_MAX - (uint32_t)at)
			break;
		at += def.vd_next;
	}
	return NULL;
}

static struct entry *add_entry(struct list *list)
{
	struct entry *entries;
	size_t room;

	if (list->count == list->room) {
		room = list->room ? 2 * list->room : 256;
		entries = reallocarray(list->entries, room, sizeof(*entries));
		if (!entries)
			return NULL;
		list->entries = entries;
		list->room = room;
	}
	return memset(&list->entries[list->count++], 0, sizeof(*entries));
}

/* .symtab has name@VERSION, or name@@VERSION for the default. */
static int split_version(struct entry *entry)
{
	const char *name = entry->symbol.name;
	const char *at = strchr(name, '@');

	if (!at || at == name)
		return 0;
	entry->copy = strndup(name, at - name);
	if (!entry->copy)
		return -ENOMEM;
	entry->symbol.name = entry->copy;
	entry->symbol.version = at + strspn(at, "@");
	return 0;
}

static bool is_function(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       sym->st_shndx != SHN_UNDEF;
}

static int add_symbols(struct list *list, Elf *elf, Elf_Scn *section,
		       enum tense_source source, const struct versions *versions)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *name, *file = NULL;
	struct entry *entry;
	GElf_Shdr header;
	uint64_t offset;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(section, &header))
		return -EBADMSG;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = elf_strptr(elf, header.sh_link, sym.st_name);
		if (!is_function(&sym) ||
		    !get_offset(list, sym.st_value, &offset))
			continue;
		name = elf_strptr(elf, header.sh_link, sym.st_name);
		if (!name || !*name || !tense_is_plain(name) || is_cold_part(name) ||
		    is_startup(name))
			continue;
		entry = add_entry(list);
		if (!entry)
			return -ENOMEM;
		entry->symbol = (struct tense_symbol){
			.name = name, .value = sym.st_value,
			.size = sym.st_size, .offset = offset,
			.source = source,
			.ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC,
			.local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
		};
		if (entry->symbol.local && file && *file && tense_is_plain(file))
			entry->symbol.file = file;
		if (versions)
			entry->symbol.version = version_of(versions, i);
		else if (split_version(entry))
			return -ENOMEM;
	}
	return 0;
}

static void get_versions(Elf *elf, struct versions *versions)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*versions = (struct versions){ .elf = elf };
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_GNU_versym)
			versions->of_symbol = elf_getdata(section, NULL);
		if (header.sh_type == SHT_GNU_verdef) {
			versions->definitions = elf_getdata(section, NULL);
			versions->strings = header.sh_link;
		}
	}
}

/* Adds the symbols in the tables of one file. */
static int add_file(struct list *list, Elf *elf, bool debug, bool *symtab)
{
	struct versions versions;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int err;

	get_versions(elf, &versions);
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			return -EBADMSG;
		if (header.sh_type == SHT_SYMTAB) {
			*symtab = true;
			err = add_symbols(list, elf, section, debug ?
					  TENSE_DEBUG_FILE : TENSE_SYMTAB,
					  NULL);
		} else if (header.sh_type == SHT_DYNSYM && !debug) {
			err = add_symbols(list, elf, section, TENSE_DYNSYM,
					  &versions);
		} else {
			continue;
		}
		if (err)
			return err;
	}
	return 0;
}

/* Among duplicates, the most informative comes first; symbols before frames. */
static int compare(const void *left, const void *right)
{
	const struct tense_symbol *a = &((const struct entry *)left)->symbol;
	const struct tense_symbol *b = &((const struct entry *)right)->symbol;
	int order;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if ((a->source == TENSE_FRAMES) != (b->source == TENSE_FRAMES))
		return a->source == TENSE_FRAMES ? 1 : -1;
	order = strcmp(a->name, b->name);
	if (order)
		return order;
	if (!a->version != !b->version)
		return a->version ? -1 : 1;
	if (a->version) {
		order = strcmp(a->version, b->version);
		if (order)
			return order;
	}
	return (int)a->source - (int)b->source;
}

static bool is_duplicate(const struct tense_symbol *a,
			 const struct tense_symbol *b)
{
	if (a->value != b->value || b->source == TENSE_FRAMES)
		return a->value == b->value;
	return !strcmp(a->name, b->name) &&
	       (!b->version ||
		(a->version && !strcmp(a->version, b->version)));
}

static int call_each(struct list *list,
		     int (*each)(const struct tense_symbol *, void *),
		     void *data)
{
	int result;

	if (!list->count)
		return 0;
	qsort(list->entries, list->count, sizeof(*list->entries), compare);
	for (size_t i = 0; i < list->count; i++) {
		const struct tense_symbol *symbol = &list->entries[i].symbol;

		if (i && is_duplicate(&list->entries[i - 1].symbol, symbol))
			continue;
		result = each(symbol, data);
		if (result)
			return result;
	}
	return 0;
}

static void free_list(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->entries[i].copy);
	free(list->entries);
	free(list->segments);
}

/* If the debug file is damaged, the program's own symbols suffice. */
static int add_debug_file(struct list *list, Elf *elf, const char *path,
			  int *fd, Elf **debug, bool *symtab)
{
	char *file = tense_debug_file(elf, path);
	int err = 0;

	if (file && !tense_elf_open(file, fd, debug))
		err = add_file(list, *debug, true, symtab);
	free(file);
	return err == -ENOMEM ? err : 0;
}

static int add_frame(uint64_t value, uint64_t size, void *data)
{
	struct list *list = data;
	struct entry *entry;
	uint64_t offset;

	if (!get_offset(list, value, &offset))
		return 0;
	entry = add_entry(list);
	if (!entry || asprintf(&entry->copy, "+0x%" PRIx64, value) < 0)
		return -ENOMEM;
	entry->symbol = (struct tense_symbol){
		.name = entry->copy, .value = value, .size = size,
		.offset = offset, .source = TENSE_FRAMES, .local = true,
	};
	return 0;
}

static int each_function(const char *path, bool frames,
			 int (*each)(const struct tense_symbol *symbol, void *data),
			 void *data)
{
	Elf *elf, *debug = NULL;
	struct list list = { 0 };
	int fd, debug_fd = -1;
	bool symtab = false;
	int result;

	result = tense_elf_open(path, &fd, &elf);
	if (result)
		return result;
	result = get_segments(elf, &list);
	if (!result)
		result = add_file(&list, elf, false, &symtab);
	if (!result && !symtab)
		result = add_debug_file(&list, elf, path, &debug_fd, &debug, &symtab);
	if (!result && !symtab && frames)
		result = tense_frames_each(elf, add_frame, &list);
	if (!result)
		result = call_each(&list, each, data);
	free_list(&list);
	tense_elf_close(debug_fd, debug);
	tense_elf_close(fd, elf);
	return result;
}

int tense_symbols_each(const char *path,
		       int (*each)(const struct tense_symbol *symbol, void *data),
		       void *data)
{
	return each_function(path, false, each, data);
}

int tense_functions_each(const char *path,
			 int (*each)(const struct tense_symbol *symbol, void *data),
			 void *data)
{
	return each_function(path, true, each, data);
}
