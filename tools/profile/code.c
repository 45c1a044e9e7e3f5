// SPDX-License-Identifier: GPL-2.0
#include "code.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/util.h"

/* The first instructions of a program take no more. */
#define START_BYTES		128

/* The encodings of .eh_frame_hdr that linkers write. */
#define POINTER_ENCODING	(DW_EH_PE_pcrel | DW_EH_PE_sdata4)
#define TABLE_ENCODING		(DW_EH_PE_datarel | DW_EH_PE_sdata4)

static void find_segments(struct code *code)
{
	size_t n = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(code->elf, &n))
		return;
	code->segments = xmalloc((n + 1) * sizeof(*code->segments));
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(code->elf, i, &p) && p.p_type == PT_LOAD)
			code->segments[code->nr_segments++] =
				(struct code_segment){
				.offset = p.p_offset, .size = p.p_filesz,
				.address = p.p_vaddr,
			};
}

static void find_linkage(struct code *code)
{
	Elf_Scn *scn = NULL;
	size_t names, n = 0;
	const char *name;
	GElf_Shdr s;

	if (elf_getshdrnum(code->elf, &n) ||
	    elf_getshdrstrndx(code->elf, &names))
		return;
	code->linkage = xmalloc((n + 1) * sizeof(*code->linkage));
	while (code->nr_linkage < n && (scn = elf_nextscn(code->elf, scn))) {
		if (!gelf_getshdr(scn, &s) || s.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(code->elf, names, s.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			code->linkage[code->nr_linkage++] =
				(struct code_segment){
				.offset = s.sh_offset, .size = s.sh_size,
				.address = s.sh_addr,
			};
	}
}

static bool contains(const struct code_segment *s, uint64_t offset)
{
	return offset >= s->offset && offset - s->offset < s->size;
}

bool code_address(const struct code *code, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < code->nr_segments; i++) {
		const struct code_segment *s = &code->segments[i];

		if (!contains(s, offset))
			continue;
		*address = s->address + (offset - s->offset);
		return true;
	}
	return false;
}

static bool offset_of(const struct code *code, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < code->nr_segments; i++) {
		const struct code_segment *s = &code->segments[i];

		if (address < s->address || address - s->address >= s->size)
			continue;
		*offset = s->offset + (address - s->address);
		return true;
	}
	return false;
}

bool code_is_linkage(const struct code *code, uint64_t offset)
{
	for (size_t i = 0; i < code->nr_linkage; i++)
		if (contains(&code->linkage[i], offset))
			return true;
	return false;
}

static int by_begin(const void *left, const void *right)
{
	const struct code_frame *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The table has pairs of 32 bits: address of the code, and of its description. */
static void read_table(struct code *code, const char *at, uint32_t count,
		       uint64_t base)
{
	code->frames = xmalloc(((size_t)count + 1) * sizeof(*code->frames));
	for (uint32_t i = 0; i < count; i++, at += 8) {
		struct code_frame *frame = &code->frames[code->nr_frames];
		int32_t relative;

		memcpy(&relative, at, sizeof(relative));
		if (offset_of(code, base + relative, &frame->offset))
			code->nr_frames++;
	}
	qsort(code->frames, code->nr_frames, sizeof(*code->frames), by_begin);
}

static void find_frames(struct code *code)
{
	static const unsigned char header[] = {
		1, POINTER_ENCODING, DW_EH_PE_udata4, TABLE_ENCODING,
	};
	size_t n = 0, size = 0;
	const char *file = elf_rawfile(code->elf, &size), *at;
	uint32_t count;
	GElf_Phdr p;

	if (!file || elf_getphdrnum(code->elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(code->elf, i, &p) ||
		    p.p_type != PT_GNU_EH_FRAME)
			continue;
		if (p.p_offset > size || size - p.p_offset < p.p_filesz ||
		    p.p_filesz < 12)
			return;
		at = file + p.p_offset;
		memcpy(&count, at + 8, sizeof(count));
		if (memcmp(at, header, sizeof(header)) != 0 ||
		    count > (p.p_filesz - 12) / 8)
			return;
		read_table(code, at + 12, count, p.p_vaddr);
		return;
	}
}

/* Better names first: of aliases, people know the one without underscores. */
static int by_place(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	size_t under_a, under_b;

	if (a->offset != b->offset)
		return a->offset > b->offset ? 1 : -1;
	if (a->ifunc != b->ifunc)
		return a->ifunc - b->ifunc;
	if (a->local != b->local)
		return a->local - b->local;
	under_a = strspn(a->symbol, "_");
	under_b = strspn(b->symbol, "_");
	if (under_a != under_b)
		return under_a > under_b ? 1 : -1;
	return strcmp(a->symbol, b->symbol);
}

struct code *code_open(const char *path)
{
	struct code *code = xmalloc(sizeof(*code));
	GElf_Ehdr e;

	memset(code, 0, sizeof(*code));
	code->object.path = xstrdup(path);
	code->name = object_short_name(&code->object);
	code->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (code->fd < 0)
		return code;
	elf_version(EV_CURRENT);
	code->elf = elf_begin(code->fd, ELF_C_READ_MMAP, NULL);
	if (!code->elf || elf_kind(code->elf) != ELF_K_ELF)
		return code;
	find_segments(code);
	if (gelf_getehdr(code->elf, &e) && !offset_of(code, e.e_entry, &code->entry))
		code->entry = 0;
	find_linkage(code);
	find_frames(code);
	code->cfi = dwarf_getcfi_elf(code->elf);
	if (!functions_load(&code->functions, &code->object) &&
	    code->functions.count)
		qsort(code->functions.list, code->functions.count,
		      sizeof(*code->functions.list), by_place);
	return code;
}

void code_free(struct code *code)
{
	if (!code)
		return;
	functions_free(&code->functions);
	if (code->cfi)
		dwarf_cfi_end(code->cfi);
	if (code->elf)
		elf_end(code->elf);
	if (code->fd >= 0)
		close(code->fd);
	free(code->segments);
	free(code->linkage);
	free(code->frames);
	free(code->object.path);
	free(code->name);
	free(code);
}

/* Returns the number of functions that begin at offset or before. */
static size_t functions_before(const struct code *code, uint64_t offset)
{
	size_t low = 0, high = code->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->functions.list[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the tables for exceptions describe a place: the table lacks the ends. */
static bool is_described(const struct code *code, uint64_t offset)
{
	Dwarf_Frame *frame;
	uint64_t address;

	if (!code->cfi || !code_address(code, offset, &address) ||
	    dwarf_cfi_addrframe(code->cfi, address, &frame))
		return false;
	free(frame);
	return true;
}

bool code_begin(const struct code *code, uint64_t offset, uint64_t *begin)
{
	size_t low = 0, high = code->nr_frames;

	/* The linker's own _start has no description. */
	if (code->entry && offset >= code->entry &&
	    offset - code->entry < START_BYTES && !is_described(code, offset)) {
		*begin = code->entry;
		return true;
	}

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->frames[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !is_described(code, offset))
		return false;
	*begin = code->frames[low - 1].offset;
	return true;
}

/*
 * A symbol without a size, as of assembler, reaches to the next one, but not beyond
 * a beginning of another function.
 */
static bool reaches(const struct code *code, const struct function *function,
		    uint64_t offset)
{
	uint64_t begin;

	if (function->size)
		return offset - function->offset < function->size;
	return !code_begin(code, offset, &begin) || begin <= function->offset;
}

const struct function *code_function(const struct code *code, uint64_t offset)
{
	size_t i = functions_before(code, offset);
	const struct function *found = NULL;
	uint64_t begin = 0;

	/* The best name of an offset is the first one. Functions may lie in another. */
	for (int steps = 0; i-- && steps < 64; steps++) {
		const struct function *function = &code->functions.list[i];

		if (found && function->offset != begin)
			break;
		if (!reaches(code, function, offset))
			continue;
		found = function;
		begin = function->offset;
	}
	return found;
}
