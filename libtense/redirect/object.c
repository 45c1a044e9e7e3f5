// SPDX-License-Identifier: LGPL-2.1-or-later
/* Redirects the functions of one object. */
#include "object.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "branches.h"
#include "code.h"
#include "patch.h"
#include "stub.h"
#include "symbols/language.h"
#include "symbols/symbols.h"

/* A function of the object, named or not. In the order of values. */
struct place {
	uint64_t value;
	uint64_t end;		/* end of all places up to this one */
	uint64_t size;
	bool crowded;		/* the padding behind it is in use */
};

struct candidate {
	char *symbol;
	size_t spec;
	enum tense_match match;
	uint64_t value, size, offset;
	bool ifunc;
	/* The work of its stub, for all specs that name the function. */
	unsigned int slot, percent, marks;
	const struct candidate *twin;	/* the candidate whose stub also serves this one */
	const char *reason;	/* why it is not redirected; "": a twin does it */
	uintptr_t cave;		/* 0: the entry itself holds the long jump */
	size_t patch_end;	/* it is redirected once so many patches are written */
	struct redirect_move move;
};

struct object {
	const struct redirect_object *of;
	struct place *places;
	size_t place_count, place_room;
	struct candidate *candidates;
	size_t count, room;
	enum tense_match *best;	/* best match of each spec */
	uint64_t low, high;	/* values of the candidates */
	struct tense_language language;
	bool failed;
	int file, memory;
};

/* A function's entry jumps to its thunk. */
struct thunk {
	uint8_t code[16];
	uint8_t moved[STUB_MOVED_MAX];
	struct tense_stub stub;
	const struct tense_stub *stub_at;
	void (*entry)(void);
} __attribute__((aligned(32)));

/* push stub_at(%rip); jmp *entry(%rip) */
static void make_thunk(struct thunk *t, const struct thunk *runs_at,
		       const struct tense_stub *stub)
{
	int32_t disp = offsetof(struct thunk, stub_at) - 6;

	memcpy(t->code, "\xff\x35", 2);
	memcpy(t->code + 2, &disp, 4);
	disp = offsetof(struct thunk, entry) - 12;
	memcpy(t->code + 6, "\xff\x25", 2);
	memcpy(t->code + 8, &disp, 4);
	memset(t->code + 12, 0xcc, sizeof(t->code) - 12);
	memset(t->moved, 0xcc, sizeof(t->moved));
	t->stub = *stub;
	t->stub.resume = (uintptr_t)runs_at->moved;
	t->stub_at = &runs_at->stub;
	t->entry = redirect_host->entry;
}

/*
 * Returns a reason if the function is not entered and left as others are, or
 * depends on its caller.
 */
static const char *look_at_name(const char *name)
{
	static const char *const odd[] = {
		"_start", "__restore_rt", "__start_context", "clone",
		"__clone", "clone3", "__clone3", "_mcount", "mcount",
		"__fentry__",
	}, *const twice[] = {
		"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork",
		"__vfork", "__libc_vfork", "getcontext", "swapcontext",
		"setcontext", "longjmp", "_longjmp", "siglongjmp",
		"__longjmp_chk", "__longjmp", "____longjmp_chk",
		"__libc_longjmp", "__libc_siglongjmp",
	}, *const curious[] = {
		"dlopen", "dlmopen", "dlsym", "dlvsym", "___dlopen", "___dlmopen",
		"___dlsym", "___dlvsym",
	}, *const never[] = {
		"execve", "__execve", "execv", "execvp", "execvpe", "__execvpe",
		"execl", "execle", "execlp", "fexecve", "execveat", "_exit", "_Exit",
		"__spawni_child", "__execvpex", "__execvpe_common", "maybe_script_execute",
	};
	size_t i;

	/* The name by which libc calls its own function. */
	if (!strncmp(name, "__GI_", 5))
		name += 5;

	for (i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (!strcmp(name, odd[i]))
			return "it is not called as functions are";
	for (i = 0; i < sizeof(twice) / sizeof(*twice); i++)
		if (!strcmp(name, twice[i]))
			return "it does not return once";
	for (i = 0; i < sizeof(curious) / sizeof(*curious); i++)
		if (!strcmp(name, curious[i]))
			return "what it does depends on who calls it";
	/* A child of vfork(2) calls it with its parent's memory, also with its spans. */
	for (i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (!strcmp(name, never[i]))
			return "it returns only if it fails";
	return NULL;
}

static bool grow(void **array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *bigger;

	if (count < *room)
		return true;
	bigger = realloc(*array, more * size);
	if (!bigger)
		return false;
	*array = bigger;
	*room = more;
	return true;
}

static bool add_candidate(struct object *o, const struct tense_symbol *symbol,
			  size_t spec, enum tense_match match)
{
	struct candidate *c;

	if (!grow((void **)&o->candidates, o->count, &o->room, sizeof(*c)))
		return false;
	c = &o->candidates[o->count];
	*c = (struct candidate){
		.symbol = strdup(symbol->name),
		.spec = spec,
		.match = match,
		.value = symbol->value,
		.size = symbol->size,
		.offset = symbol->offset,
		.ifunc = symbol->ifunc,
		.slot = redirect_specs.spec[spec].slot,
		.percent = redirect_specs.spec[spec].percent,
		.marks = redirect_specs.spec[spec].marks,
	};
	if (!c->symbol)
		return false;
	o->count++;
	if (match > o->best[spec])
		o->best[spec] = match;
	return true;
}

static bool add_place(struct object *o, const struct tense_symbol *symbol)
{
	size_t count = o->place_count;
	struct place *last;

	if (!count || o->places[count - 1].value != symbol->value) {
		if (!grow((void **)&o->places, count, &o->place_room,
			  sizeof(*last)))
			return false;
		o->places[count] = (struct place){
			.value = symbol->value,
			.end = count ? o->places[count - 1].end : 0,
		};
		o->place_count = ++count;
	}
	last = &o->places[count - 1];
	if (symbol->size > last->size)
		last->size = symbol->size;
	if (last->value + last->size > last->end)
		last->end = last->value + last->size;
	return true;
}

static int take_symbol(const struct tense_symbol *symbol, void *data)
{
	struct object *o = data;
	enum tense_match match;
	size_t i;

	if (!add_place(o, symbol))
		return 1;
	tense_language_note(&o->language, symbol->name);
	for (i = 0; i < redirect_specs.count; i++) {
		const struct tense_spec *spec = &redirect_specs.spec[i];

		/* Names are compared first: few match, and paths take system calls. */
		match = tense_spec_match(spec, symbol);
		if (match != TENSE_MATCH_NONE &&
		    tense_spec_object(spec, o->of->path, o->of->soname, o->of->main) &&
		    !add_candidate(o, symbol, i, match))
			return 1;
	}
	return 0;
}

static struct place *find_place(const struct object *o, uint64_t value)
{
	size_t low = 0, high = o->place_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (o->places[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->place_count && o->places[low].value == value ?
	       &o->places[low] : NULL;
}

static uint64_t next_value(const struct object *o, const struct place *p)
{
	return p + 1 < o->places + o->place_count ? p[1].value : UINT64_MAX;
}

/*
 * Returns the end of the padding after a place. No table tells where functions
 * without a symbol start. But they are aligned, and not a row of no-ops.
 */
static uint64_t padding_end(const struct object *o, const struct place *p)
{
	uint64_t limit = (p->end + 15) & -16ULL, next = next_value(o, p);

	if (limit > next)
		limit = next;
	if (limit <= p->end || p->crowded)
		return p->end;
	return p->end + redirect_code_padding(o->of->bias + p->end,
					  limit - p->end);
}

/* Returns five bytes of padding that a hop at "from" reaches, or 0. */
static uintptr_t take_cave(struct object *o, const struct place *place,
			   uint64_t from)
{
	const struct place *first = o->places;
	struct place *p = (struct place *)place;
	uint64_t after = from + STUB_HOP;

	while (p > first && p->value + 256 > from)
		p--;
	for (; p < first + o->place_count && p->value < from + 256; p++) {
		uint64_t end;

		if (p->end + STUB_JUMP > next_value(o, p) ||
		    p->end + 128 < after || p->end > after + 127)
			continue;
		end = padding_end(o, p);
		if (end - p->end >= STUB_JUMP && end > p->end) {
			p->crowded = true;
			return o->of->bias + p->end;
		}
	}
	return 0;
}

static const char *resolve(struct object *o, struct candidate *c)
{
	uintptr_t (*resolver)(void);
	uintptr_t address = o->of->bias + c->value;
	struct place *p;

	if (!o->of->relocated)
		return "its library chooses it (IFUNC) when it is opened later";
	memcpy(&resolver, &address, sizeof(resolver));
	address = resolver();
	p = find_place(o, address - o->of->bias);
	if (!p)
		return "what its library chooses (IFUNC) is in another one";
	c->offset += p->value - c->value;
	c->value = p->value;
	c->size = p->size;
	return NULL;
}

/* Whether the memory still has the code that the file's symbols describe. */
static bool is_original(const struct object *o, const struct candidate *c)
{
	size_t size = c->size < 64 ? c->size : 64;
	char file[64], memory[64];

	if (o->memory < 0)
		return true;
	return pread(o->file, file, size, c->offset) == (ssize_t)size &&
	       pread(o->memory, memory, size, o->of->bias + c->value) ==
		       (ssize_t)size &&
	       !memcmp(file, memory, size);
}

/* Returns a reason that is known before anything is decoded. */
static const char *look_at(struct object *o, struct candidate *c)
{
	const char *reason;
	struct place *p;

	if (o->of->reason)
		return o->of->reason;
	reason = tense_language_refuses(&o->language, c->symbol);
	if (!reason)
		reason = look_at_name(c->symbol);
	if (!reason && c->ifunc)
		reason = resolve(o, c);
	if (reason)
		return reason;
	p = find_place(o, c->value);
	if (!p || !(p->size || next_value(o, p) - p->value < 65536))
		return "its size is not known";
	c->size = p->size ? p->size : next_value(o, p) - p->value;
	if (!is_original(o, c))
		return "its code is not that of its file";
	return NULL;
}

static const char *plan(struct object *o, struct candidate *c,
			const struct redirect_entry *entry)
{
	struct place *p = find_place(o, c->value);
	uint64_t next = next_value(o, p) + o->of->bias;
	struct redirect_code code = {
		.address = entry->start,
		.size = c->size,
		.room = c->size,
	};
	const char *reason;

	if (entry->loop)
		return "its entry is the head of a loop";
	if (p->value + c->size == p->end)
		code.room = padding_end(o, p) - p->value;
	reason = redirect_code_plan(&code, STUB_JUMP, &c->move);
	if (!reason && entry->safe < STUB_JUMP)
		reason = "there are jumps into its first bytes";
	if (!reason && p + 1 < o->places + o->place_count &&
	    next < c->move.at + STUB_JUMP)
		reason = "another function begins within its first bytes";
	if (!reason) {
		if (c->move.at + STUB_JUMP > entry->end)
			p->crowded = true;
		return NULL;
	}
	if (redirect_code_plan(&code, STUB_HOP, &c->move) ||
	    entry->safe < STUB_HOP || c->move.at + STUB_HOP > entry->end ||
	    (p + 1 < o->places + o->place_count &&
	     next < c->move.at + STUB_HOP))
		return reason;
	c->cave = take_cave(o, p, c->move.at - o->of->bias);
	return c->cave ? NULL : reason;
}

static int compare_entries(const void *a, const void *b)
{
	const struct redirect_entry *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Finds the ranges of memory in which the object has code. */
static size_t find_text(const struct object *o, struct redirect_range *text,
			size_t most)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;
	size_t i, count = 0;

	if (pread(o->file, &header, sizeof(header), 0) != sizeof(header))
		return 0;
	for (i = 0; i < header.e_phnum && count < most; i++) {
		if (pread(o->file, &p, sizeof(p),
			  header.e_phoff + i * sizeof(p)) != sizeof(p))
			return 0;
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		text[count++] = (struct redirect_range){
			o->of->bias + p.p_vaddr,
			o->of->bias + p.p_vaddr + p.p_filesz,
		};
	}
	return count;
}

static void plan_all(struct object *o)
{
	struct redirect_entry *entries = calloc(o->count, sizeof(*entries));
	uintptr_t *starts = calloc(o->place_count, sizeof(*starts));
	struct redirect_range text[8];
	size_t count = 0, i;
	struct candidate *c;

	if (!entries || !starts)
		goto out;
	for (i = 0; i < o->place_count; i++)
		starts[i] = o->of->bias + o->places[i].value;
	for (c = o->candidates; c < o->candidates + o->count; c++) {
		uintptr_t start = o->of->bias + c->value;

		if (c->reason)
			continue;
		c->reason = "there is no memory";
		entries[count++] = (struct redirect_entry){
			.start = start,
			.end = start + c->size,
			.at = redirect_code_entry(start, c->size),
			.candidate = c - o->candidates,
		};
	}
	qsort(entries, count, sizeof(*entries), compare_entries);
	redirect_branches(entries, count, text, find_text(o, text, 8), starts,
			  o->place_count);
	for (i = 0; i < count; i++) {
		c = &o->candidates[entries[i].candidate];
		c->reason = plan(o, c, &entries[i]);
	}
out:
	free(entries);
	free(starts);
}

/* Lets a twin's stub also serve another candidate. Returns why it cannot, or "". */
static const char *join_twin(struct candidate *twin, struct candidate *c)
{
	if (c->slot && twin->slot && c->slot != twin->slot)
		return "it is in another slot already";
	if (c->slot) {
		twin->slot = c->slot;
		twin->percent = c->percent;
	}
	/* Two names of one function in one slot count once. */
	if (c->marks || twin->marks)
		c->twin = twin;
	twin->marks |= c->marks;
	return "";
}

static const char *find_twin(const struct object *o, struct candidate *c)
{
	struct candidate *other;

	for (other = o->candidates; other < c; other++)
		if (other->value == c->value && !other->reason)
			return join_twin(other, c);
	return NULL;
}

static const char *add_thunk(struct candidate *c, struct thunk *t,
			     struct redirect_patch *patch, size_t *patches)
{
	struct tense_stub stub = {
		.percent = c->percent,
		.slot = c->slot,
		.special = c->marks,
	};
	uintptr_t to = (uintptr_t)t;
	const char *reason;

	make_thunk(t, t, &stub);
	reason = redirect_code_move(&c->move, t->moved, (uintptr_t)t->moved);
	if (reason)
		return reason;
	patch += *patches;
	if (c->cave) {
		patch->at = c->cave;
		patch->length = STUB_JUMP;
		if (!redirect_code_jump(patch->bytes, STUB_JUMP, patch->at, to))
			return "there is no memory near enough";
		to = c->cave;
		patch++;
		++*patches;
	}
	patch->at = c->move.at;
	patch->length = c->move.length;
	if (!redirect_code_jump(patch->bytes, patch->length, patch->at, to))
		return "there is no memory near enough";
	c->patch_end = ++*patches;
	return NULL;
}

static void refuse_rest(struct object *o, size_t from, const char *reason)
{
	struct candidate *c;

	for (c = o->candidates; c < o->candidates + o->count; c++)
		if (!c->reason && c->patch_end > from)
			c->reason = reason;
}

static void redirect(struct object *o, struct redirect_arena *arena)
{
	struct redirect_patch *patches = calloc(2 * o->count, sizeof(*patches));
	size_t size = o->count * sizeof(struct thunk), count = 0, i, written;
	struct thunk *thunks;
	const char *reason;

	thunks = redirect_patch_map(o->of->bias + o->low, o->of->bias + o->high,
				size);
	if (!thunks || !patches) {
		for (i = 0; i < o->count; i++)
			if (!o->candidates[i].reason)
				o->candidates[i].reason =
					"there is no memory near enough";
		free(patches);
		return;
	}
	arena->at = thunks;
	arena->size = (size + 4095) & -4096UL;
	for (i = 0; i < o->count; i++) {
		struct candidate *c = &o->candidates[i];
		size_t before = count;

		if (c->reason)
			continue;
		c->reason = add_thunk(c, &thunks[i], patches, &count);
		if (c->reason)
			count = before;
	}
	if (mprotect(arena->at, arena->size, PROT_READ | PROT_EXEC)) {
		refuse_rest(o, 0, "memory cannot be made executable");
	} else {
		written = redirect_patch_write(patches, count, &reason);
		refuse_rest(o, written, reason);
	}
	free(patches);
}

/* Whether the log already has the same function under another version. */
static bool is_repeated(const struct object *o, const struct candidate *c)
{
	const struct candidate *other;

	for (other = o->candidates; other < c; other++)
		if (other->value == c->value && other->spec == c->spec &&
		    !strcmp(other->symbol, c->symbol))
			return true;
	return false;
}

static size_t report(const struct object *o)
{
	const struct candidate *c;
	size_t redirected = 0;

	for (c = o->candidates; c < o->candidates + o->count; c++) {
		const char *reason = c->twin ? c->twin->reason : c->reason;
		struct redirect_name name = {
			.spec = &redirect_specs.spec[c->spec],
			.object = o->of->path,
			.symbol = c->symbol,
			.offset = c->offset,
		};

		/* Another name of a function that is redirected. */
		if (reason && (!*reason || is_repeated(o, c)))
			continue;
		redirected += !reason;
		redirect_log(&name, reason);
	}
	return redirected;
}

static void look(struct object *o)
{
	size_t i, kept = 0;

	for (i = 0; i < o->count; i++) {
		struct candidate *c = &o->candidates[i];

		if (c->match == o->best[c->spec] ||
		    tense_spec_is_pattern(&redirect_specs.spec[c->spec]))
			o->candidates[kept++] = *c;
		else
			free(c->symbol);
	}
	o->count = kept;
	o->low = UINT64_MAX;
	for (i = 0; i < o->count; i++) {
		struct candidate *c = &o->candidates[i];

		c->reason = look_at(o, c);
		if (!c->reason)
			c->reason = find_twin(o, c);
		if (c->value < o->low)
			o->low = c->value;
		if (c->value + c->size > o->high)
			o->high = c->value + c->size;
	}
	if (o->count)
		plan_all(o);
}

static bool is_wanted(const struct redirect_object *of)
{
	size_t i;

	for (i = 0; i < redirect_specs.count; i++)
		if (tense_spec_object(&redirect_specs.spec[i], of->path, of->soname,
				      of->main))
			return true;
	return false;
}

/* Finding functions without a symbol takes longer than finding the others. */
static bool wants_frames(void)
{
	size_t i;

	for (i = 0; i < redirect_specs.count; i++)
		if (tense_spec_is_frame(&redirect_specs.spec[i]))
			return true;
	return false;
}

static int find_candidates(struct object *o)
{
	const char *path = o->of->path;

	return wants_frames() ? tense_functions_each(path, take_symbol, o) :
				tense_symbols_each(path, take_symbol, o);
}

size_t redirect_object(const struct redirect_object *of,
				 struct redirect_arena *arena)
{
	struct object o = { .of = of };
	size_t i, redirected = 0;

	*arena = (struct redirect_arena){ 0 };
	if (!is_wanted(of))
		return 0;
	o.best = calloc(redirect_specs.count, sizeof(*o.best));
	if (o.best && !find_candidates(&o) && o.count) {
		o.file = open(of->path, O_RDONLY | O_CLOEXEC);
		o.memory = open("/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
		look(&o);
		for (i = 0; i < o.count && o.candidates[i].reason; i++)
			;
		if (i < o.count)
			redirect(&o, arena);
		redirected = report(&o);
		if (o.file >= 0)
			close(o.file);
		if (o.memory >= 0)
			close(o.memory);
	}
	for (i = 0; i < o.count; i++)
		free(o.candidates[i].symbol);
	free(o.candidates);
	free(o.places);
	free(o.best);
	return redirected;
}

/* Makes a thunk to a function of this library or of the dynamic linker. */
const char *redirect_probe(uintptr_t address, size_t size,
				   const struct tense_stub *stub, bool patch,
				   uintptr_t *entry)
{
	struct redirect_code code = {
		.address = address,
		.size = size,
		.room = size,
	};
	struct redirect_patch write = { .length = STUB_JUMP };
	struct redirect_move move;
	struct thunk *thunk;
	const char *reason;

	code.room += redirect_code_padding(address + size,
				       ((address + size + 15) & -16UL) -
				       (address + size));
	reason = redirect_code_plan(&code, STUB_JUMP, &move);
	if (reason)
		return reason;
	thunk = redirect_patch_map(address, address + size, sizeof(*thunk));
	if (!thunk)
		return "there is no memory near enough";
	make_thunk(thunk, thunk, stub);
	reason = redirect_code_move(&move, thunk->moved, (uintptr_t)thunk->moved);
	write.at = move.at;
	if (!reason && !redirect_code_jump(write.bytes, STUB_JUMP, write.at,
				       (uintptr_t)thunk))
		reason = "there is no memory near enough";
	if (!reason && mprotect(thunk, 4096, PROT_READ | PROT_EXEC))
		reason = "memory cannot be made executable";
	if (!reason && patch)
		redirect_patch_write(&write, 1, &reason);
	if (reason)
		munmap(thunk, 4096);
	else
		*entry = (uintptr_t)thunk;
	return reason;
}
