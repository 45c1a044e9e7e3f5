// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads .eh_frame, as the Linux Standard Base (Core, "Exception
 * Frames") and the x86_64 psABI describe them, in the encodings that linkers and
 * assemblers write. Anything else counts as damaged. libdw reads it, too. But libdw
 * and its libraries are too large to load into each process that loads this library.
 */
#include "frames.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#define PCREL_4		(DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* The registers of the psABI's DWARF numbers. */
#define RSP		7
#define RETURN_ADDRESS	16

/* A range of the file's bytes that is read from its begin. */
struct bytes {
	const unsigned char *at, *end;
	bool short_of;		/* more was read than there is */
};

/* The parts of a file that count. Addresses are those of the ELF file. */
struct file {
	uint64_t text, text_size;
	uint64_t frames;	/* address of .eh_frame, */
	struct bytes table;	/* and its contents */
};

static uint64_t take(struct bytes *b, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->short_of = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size);
	b->at += size;
	return value;
}

/* LEB128. Signs are left out: see take_signed(). */
static uint64_t take_leb(struct bytes *b, unsigned int *bits)
{
	uint64_t value = 0;
	unsigned int byte;

	*bits = 0;
	do {
		byte = take(b, 1);
		if (*bits < 64)
			value |= (uint64_t)(byte & 0x7f) << *bits;
		*bits += 7;
	} while (byte & 0x80);
	return value;
}

static uint64_t take_unsigned(struct bytes *b)
{
	unsigned int bits;

	return take_leb(b, &bits);
}

static int64_t take_signed(struct bytes *b)
{
	unsigned int bits;
	uint64_t value = take_leb(b, &bits);

	if (bits < 64 && value >> (bits - 1))
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

/* The bytes of .eh_frame from this address on. */
static struct bytes bytes_at(const struct file *file, uint64_t address)
{
	uint64_t offset = address - file->frames;

	if (offset >= (uint64_t)(file->table.end - file->table.at))
		return (struct bytes){ 0 };
	return (struct bytes){
		.at = file->table.at + offset, .end = file->table.end,
	};
}

/* An entry of .eh_frame begins with its length. Returns what follows, or nothing. */
static struct bytes entry_at(const struct file *file, uint64_t address)
{
	struct bytes b = bytes_at(file, address);
	uint64_t length = take(&b, 4);

	/* 0 ends the table; UINT32_MAX would be an entry of 64 bits. */
	if (!length || length == UINT32_MAX || length > (uint64_t)(b.end - b.at))
		return (struct bytes){ 0 };
	b.end = b.at + length;
	return b;
}

/* Whether the augmentation is that of functions with pointers as PCREL_4. */
static bool is_usual(const char *augmentation, struct bytes data)
{
	bool relative = false;

	for (; *augmentation; augmentation++) {
		switch (*augmentation) {
		case 'R':
			relative = take(&data, 1) == PCREL_4;
			break;
		case 'L':
			take(&data, 1);
			break;
		case 'P':
			/* Usually a pointer of four bytes; absolute ones have eight. */
			take(&data, (take(&data, 1) & 0x07) == DW_EH_PE_udata4 ?
					    4 : 8);
			break;
		default:
			/* 'S': the frame of a signal's handler, which no one calls. */
			return false;
		}
	}
	return relative && !data.short_of;
}

static void skip_nops(struct bytes *b)
{
	while (b->at < b->end && *b->at == DW_CFA_nop)
		b->at++;
}

/* Whether the frame is that which a call makes: the return address and no more. */
static bool is_of_call(struct bytes b, int64_t unit)
{
	bool call = take(&b, 1) == DW_CFA_def_cfa && take_unsigned(&b) == RSP &&
		    take_unsigned(&b) == 8 &&
		    take(&b, 1) == (DW_CFA_offset | RETURN_ADDRESS) &&
		    (int64_t)take_unsigned(&b) * unit == -8;

	skip_nops(&b);
	return call && !b.short_of && b.at == b.end;
}

/* Whether a CIE is that of functions that are called. */
static bool begins_with_call(const struct file *file, uint64_t address)
{
	struct bytes b = entry_at(file, address), data;
	const char *augmentation;
	uint64_t length;
	int64_t unit;

	/* 0: a CIE. Versions 1 and 3 differ in the return address's register. */
	if (take(&b, 4) || take(&b, 1) != 1 || b.short_of)
		return false;
	augmentation = (const char *)b.at;
	if (!memchr(b.at, 0, b.end - b.at) || *augmentation != 'z')
		return false;
	b.at += strlen(augmentation) + 1;
	take_unsigned(&b);
	unit = take_signed(&b);
	if (take(&b, 1) != RETURN_ADDRESS)
		return false;
	length = take_unsigned(&b);
	if (b.short_of || length > (uint64_t)(b.end - b.at))
		return false;
	data = b;
	data.end = data.at + length;
	b.at += length;
	return is_usual(augmentation + 1, data) && is_of_call(b, unit);
}

/* Whether nothing changes the frame before the first instruction has run. */
static bool begins_unchanged(struct bytes b)
{
	skip_nops(&b);
	if (b.at == b.end)
		return true;
	switch (*b.at) {
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return true;
	default:
		return (*b.at & 0xc0) == DW_CFA_advance_loc;
	}
}

/* Whether the entry at the address is an FDE of a function that is called. */
static bool is_function(const struct file *file, uint64_t address, uint64_t *value,
			uint64_t *size)
{
	struct bytes b = entry_at(file, address);
	uint64_t length, distance = take(&b, 4);

	/* The distance counts back from its own place, behind the length. 0: a CIE. */
	if (!distance || !begins_with_call(file, address + 4 - distance))
		return false;
	*value = address + 8 + (int32_t)take(&b, 4);
	*size = take(&b, 4);
	length = take_unsigned(&b);
	if (b.short_of || length > (uint64_t)(b.end - b.at))
		return false;
	b.at += length;
	return begins_unchanged(b);
}

/* Finds a section of code or data, or returns NULL. */
static Elf_Scn *find_section(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		/* The x86_64 ABI also has a type for tables of exceptions. */
		if (!gelf_getshdr(section, header) ||
		    (header->sh_type != SHT_PROGBITS &&
		     header->sh_type != SHT_X86_64_UNWIND))
			continue;
		name = elf_strptr(elf, names, header->sh_name);
		if (name && !strcmp(name, wanted))
			return section;
	}
	return NULL;
}

static bool open_file(struct file *file, Elf *elf)
{
	Elf_Data *data = NULL;
	GElf_Shdr text, frames;
	Elf_Scn *section;
	GElf_Ehdr e;

	if (!gelf_getehdr(elf, &e) || e.e_machine != EM_X86_64 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !find_section(elf, ".text", &text))
		return false;
	section = find_section(elf, ".eh_frame", &frames);
	if (section)
		data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return false;
	*file = (struct file){
		.text = text.sh_addr, .text_size = text.sh_size,
		.frames = frames.sh_addr,
		.table = {
			.at = data->d_buf,
			.end = (unsigned char *)data->d_buf + data->d_size,
		},
	};
	return true;
}

int tense_frames_each(Elf *elf,
		      int (*each)(uint64_t value, uint64_t size, void *data),
		      void *data)
{
	uint64_t value, size, address;
	struct bytes entry;
	struct file file;
	int result;

	if (!open_file(&file, elf))
		return 0;
	for (address = file.frames; (entry = entry_at(&file, address)).at;
	     address += 4 + (entry.end - entry.at)) {
		if (!is_function(&file, address, &value, &size) || !size ||
		    value - file.text >= file.text_size ||
		    size > file.text_size - (value - file.text))
			continue;
		result = each(value, size, data);
		if (result)
			return result;
	}
	return 0;
}
