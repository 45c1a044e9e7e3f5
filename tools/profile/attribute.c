// SPDX-License-Identifier: GPL-2.0
/* Turns samples into functions and stacks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "code.h"
#include "samples.h"
#include "survey.h"
#include "unwind.h"
#include "base/paths.h"
#include "base/util.h"

#define NO_FRAME	UINT32_MAX
/* The beginning of what is no function: the kernel loads a program. */
#define EXEC_PLACE	UINT64_MAX

/* An open hash table that finds numbers by keys of bytes. */
struct table {
	uint32_t *slots;	/* index + 1, or 0 */
	size_t room;		/* a power of two */
};

struct attribution {
	struct survey *survey;
	const struct samples *samples;
	struct code *code[TENSE_FILES_MAX + 1];
	struct table functions, stacks;
	struct place {
		uint16_t file;
		uint64_t begin;
		uint64_t hash;
	} *places;		/* of the functions, by index */
	uint64_t *hashes;	/* of the stacks */
	uint64_t *counted;	/* sample + 1 that last counted the function */
	size_t room, stack_room;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/* Returns the slot with a number for which same() holds, or a free one. */
static uint32_t *find(struct table *table, uint64_t hash,
		      bool (*same)(const struct attribution *a, uint32_t index,
				   const void *key),
		      const struct attribution *a, const void *key)
{
	size_t i = hash & (table->room - 1);

	while (table->slots[i] && !same(a, table->slots[i] - 1, key))
		i = (i + 1) & (table->room - 1);
	return &table->slots[i];
}

/* Makes the table at least twice as large as count. */
static void enlarge(struct table *table, size_t count, const uint64_t *hashes,
		    size_t stride)
{
	size_t room = table->room ? table->room : 256;

	while (room < 2 * (count + 1))
		room *= 2;
	if (room == table->room)
		return;
	free(table->slots);
	table->slots = xmalloc(room * sizeof(*table->slots));
	memset(table->slots, 0, room * sizeof(*table->slots));
	table->room = room;
	for (size_t n = 0; hashes && n < count; n++) {
		uint64_t hash = *(const uint64_t *)((const char *)hashes +
						    n * stride);
		size_t i = hash & (room - 1);

		while (table->slots[i])
			i = (i + 1) & (room - 1);
		table->slots[i] = n + 1;
	}
}

static const struct code *code_of(void *arg, uint16_t file)
{
	struct attribution *a = arg;

	if (file > TENSE_FILES_MAX || !a->samples->files[file])
		return NULL;
	if (!a->code[file])
		a->code[file] = code_open(a->samples->files[file]);
	return a->code[file];
}

static bool same_place(const struct attribution *a, uint32_t index, const void *key)
{
	const struct place *place = key;

	return a->places && a->places[index].file == place->file &&
	       a->places[index].begin == place->begin;
}

static bool is_tense(const char *path)
{
	return !strncmp(base_name(path), "libtense", 8);
}

static bool is_libc(const struct code *code)
{
	return !strncmp(base_name(code->object.path), "libc.so", 7);
}

/* The functions of libc that call main() and the functions of threads. */
static bool is_beginning(const struct code *code, const struct function *function,
			 uint64_t begin)
{
	static const char *const names[] = {
		"__libc_start_main", "__libc_start_call_main",
		"__libc_start_main_impl", "start_thread", "clone", "clone3",
		"__clone3", "__clone",
	};

	if (!function)
		return code->entry && begin == code->entry;
	if (!is_libc(code))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function->name, names[i]))
			return true;
	return false;
}

/* A name for a function that has no symbol. */
static char *name_place(const struct code *code, uint64_t begin)
{
	uint64_t address;

	if (!code)
		return xstrdup("[no file]");
	if (!code_address(code, begin, &address))
		return xprintf("%s+?", code->name);
	return xprintf("%s+0x%" PRIx64, code->name, address);
}

static struct survey_function describe(const struct code *code,
				       const struct function *function,
				       uint64_t begin)
{
	struct survey_function f = {
		.object = xstrdup(code ? code->object.path : ""),
	};

	if (!code && begin == EXEC_PLACE)
		f.name = xstrdup("[exec]");
	else if (function && function_is_nameless(function))
		f.name = function_short_spec(function);
	else if (function)
		f.name = xstrdup(function->name);
	else if (code && is_beginning(code, function, begin))
		f.name = xstrdup("_start");
	else
		f.name = name_place(code, begin);
	if (!code)
		f.obstacle = begin == EXEC_PLACE ? SURVEY_EXEC : SURVEY_NO_FILE;
	else if (is_tense(f.object))
		f.obstacle = SURVEY_TENSE;
	else if (is_beginning(code, function, begin))
		f.obstacle = SURVEY_START;
	else if (!function || (function_is_nameless(function) && is_libc(code)))
		/* Some functions of libc call main() or jump back. Names would tell which. */
		f.obstacle = SURVEY_NO_SYMBOL;
	else if (function->ifunc)
		f.obstacle = SURVEY_CHOSEN;
	if (f.obstacle == SURVEY_SCALABLE)
		f.spec = function_spec(function);
	/* The name may be that of a file. */
	mask_controls(f.name);
	return f;
}

static uint32_t add_function(struct attribution *a, const struct place *place,
			     const struct survey_function *f)
{
	struct survey *survey = a->survey;

	if (!a->places || survey->count == a->room) {
		a->room = a->room ? 2 * a->room : 64;
		survey->functions = xrealloc(survey->functions, a->room *
					     sizeof(*survey->functions));
		a->places = xrealloc(a->places, a->room * sizeof(*a->places));
		a->counted = xrealloc(a->counted, a->room * sizeof(*a->counted));
	}
	survey->functions[survey->count] = *f;
	a->places[survey->count] = *place;
	a->counted[survey->count] = 0;
	return survey->count++;
}

/* Returns the index of the function at a place, which describe() may have to make. */
static uint32_t enter_function(struct attribution *a, struct place *place,
			       const struct code *code, const struct function *function)
{
	struct survey_function f;
	uint32_t *slot;

	place->hash = mix(mix(1, place->file), place->begin);
	enlarge(&a->functions, a->survey->count,
		a->places ? &a->places->hash : NULL,
		sizeof(*a->places));
	slot = find(&a->functions, place->hash, same_place, a, place);
	if (!*slot) {
		f = describe(code, function, place->begin);
		*slot = add_function(a, place, &f) + 1;
	}
	return *slot - 1;
}

/* No instruction of the program has run. Its file may have no name. */
static bool is_at_entry(struct attribution *a, const struct tense_word *place)
{
	const struct code *code = code_of(a, place->file);

	return place->file == TENSE_FILE_NONE ||
	       (code && code->entry && place->offset == code->entry);
}

/*
 * At the end of execve(), the code that called it is gone. The stack is that of a new
 * program: it begins with the number of arguments, and pointers to these, which lie one
 * after another. The time is that of execve().
 */
static bool is_exec(struct attribution *a, const struct tense_sample *sample)
{
	const struct tense_word *word = sample->word;

	return (sample->flags & TENSE_SAMPLE_KERNEL) &&
	       is_at_entry(a, &sample->code) &&
	       sample->words >= 2 &&
	       word[0].place == 1 && word[0].file == TENSE_FILE_STACK &&
	       word[1].file == TENSE_FILE_STACK && word[0].offset < word[1].offset;
}

/* Returns the index of the function at a frame, or NO_FRAME for a PLT entry. */
static uint32_t function_at(struct attribution *a, const struct unwind_frame *frame)
{
	const struct code *code = code_of(a, frame->file);
	const struct function *function = NULL;
	struct place place = { .file = code ? frame->file : 0 };

	if (code && code_is_linkage(code, frame->offset))
		return NO_FRAME;
	if (code)
		function = code_function(code, frame->offset);
	if (function)
		place.begin = function->offset;
	else if (code && !code_begin(code, frame->offset, &place.begin))
		place.begin = frame->offset & ~0xfffULL;
	return enter_function(a, &place, code, function);
}

static bool same_stack(const struct attribution *a, uint32_t index, const void *key)
{
	const struct survey_stack *x = &a->survey->stacks[index], *y = key;

	return x->depth == y->depth && x->whole == y->whole &&
	       !strcmp(x->thread, y->thread) &&
	       !memcmp(x->frames, y->frames, x->depth * sizeof(*x->frames));
}

static uint64_t hash_of(const struct survey_stack *stack)
{
	uint64_t hash = mix(stack->depth, stack->whole);

	for (const char *c = stack->thread; *c; c++)
		hash = mix(hash, *c);
	for (uint32_t i = 0; i < stack->depth; i++)
		hash = mix(hash, stack->frames[i]);
	return hash;
}

/* Returns the stack like this one in the survey. */
static struct survey_stack *enter_stack(struct attribution *a,
					const struct survey_stack *stack)
{
	struct survey *survey = a->survey;
	uint64_t hash = hash_of(stack);
	struct survey_stack *copy;
	uint32_t *slot;

	if (survey->nr_stacks == a->stack_room) {
		a->stack_room = a->stack_room ? 2 * a->stack_room : 64;
		survey->stacks = xrealloc(survey->stacks, a->stack_room *
					  sizeof(*survey->stacks));
		a->hashes = xrealloc(a->hashes, a->stack_room * sizeof(*a->hashes));
	}
	enlarge(&a->stacks, survey->nr_stacks, a->hashes, sizeof(*a->hashes));
	slot = find(&a->stacks, hash, same_stack, a, stack);
	if (!*slot) {
		copy = &survey->stacks[survey->nr_stacks];
		*copy = *stack;
		copy->frames = xmalloc((stack->depth + 1) * sizeof(*copy->frames));
		memcpy(copy->frames, stack->frames,
		       stack->depth * sizeof(*copy->frames));
		a->hashes[survey->nr_stacks] = hash;
		*slot = ++survey->nr_stacks;
	}
	return &survey->stacks[*slot - 1];
}

/* A name that says something about the program. */
static bool has_name(const struct survey_function *f)
{
	return f->obstacle != SURVEY_NO_SYMBOL &&
	       f->obstacle != SURVEY_NO_FILE && f->obstacle != SURVEY_START &&
	       f->obstacle != SURVEY_EXEC;
}

/* Counts a sample for the functions of its stack, each of them once. */
static void count(struct attribution *a, const struct survey_stack *stack,
		  const struct tense_sample *sample, uint64_t number)
{
	struct survey *survey = a->survey;
	bool covered = false;

	for (uint32_t i = 0; i < stack->depth; i++) {
		struct survey_function *f = &survey->functions[stack->frames[i]];

		covered = covered || has_name(f);
		if (a->counted[stack->frames[i]] == number)
			continue;
		a->counted[stack->frames[i]] = number;
		f->inclusive_ns += sample->ns;
		f->inclusive_samples++;
	}
	survey->ns += sample->ns;
	survey->samples++;
	if (covered)
		survey->covered_ns += sample->ns;
	if (!stack->depth)
		return;
	if (survey->functions[stack->frames[0]].obstacle != SURVEY_NO_FILE &&
	    survey->functions[stack->frames[0]].obstacle != SURVEY_EXEC)
		survey->attributed_ns += sample->ns;
	survey->functions[stack->frames[0]].self_ns += sample->ns;
	survey->functions[stack->frames[0]].samples++;
	if (has_name(&survey->functions[stack->frames[0]]))
		survey->named_ns += sample->ns;
}

/* The first instructions of a program have no caller, and ld.so does not say so. */
static bool is_start(const struct attribution *a, const struct survey_stack *stack)
{
	return stack->depth && a->survey->functions[stack->frames[stack->depth - 1]]
					 .obstacle == SURVEY_START;
}

static void enter_sample(struct attribution *a, struct survey_stack *stack,
			 const struct tense_sample *sample, uint64_t number)
{
	struct survey_stack *entered;

	memcpy(stack->thread, sample->comm, sizeof(stack->thread));
	mask_controls(stack->thread);
	entered = enter_stack(a, stack);
	entered->ns += sample->ns;
	entered->samples++;
	count(a, entered, sample, number);
}

static void add_exec(struct attribution *a, const struct tense_sample *sample,
		     uint64_t number)
{
	struct place place = { .begin = EXEC_PLACE };
	uint32_t frame = enter_function(a, &place, NULL, NULL);
	struct survey_stack stack = { .frames = &frame, .depth = 1, .whole = true };

	enter_sample(a, &stack, sample, number);
}

static uint32_t attribute(struct attribution *a, const struct tense_sample *sample,
			  uint32_t *frames, bool *whole)
{
	struct unwind unwind;
	uint32_t depth = 0;

	unwind_sample(&unwind, sample, code_of, a);
	for (unsigned int i = 0; i < unwind.depth; i++) {
		uint32_t index = function_at(a, &unwind.frame[i]);

		if (index != NO_FRAME)
			frames[depth++] = index;
	}
	*whole = unwind.whole;
	return depth;
}

static void add_sample(struct attribution *a, const struct tense_sample *sample,
		       uint64_t number)
{
	uint32_t frames[UNWIND_MAX];
	struct survey_stack stack = { .frames = frames };

	if (is_exec(a, sample)) {
		add_exec(a, sample, number);
		return;
	}
	stack.depth = attribute(a, sample, frames, &stack.whole);
	stack.whole = stack.whole || is_start(a, &stack);
	enter_sample(a, &stack, sample, number);
}

struct ordered {
	struct survey_function function;
	uint32_t before;	/* its index before */
};

static int by_time(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;

	if (a->function.inclusive_ns != b->function.inclusive_ns)
		return a->function.inclusive_ns < b->function.inclusive_ns ? 1 : -1;
	return strcmp(a->function.name, b->function.name);
}

static void renumber(uint32_t *index, const uint32_t *now)
{
	if (*index != SURVEY_NOWHERE)
		*index = now[*index];
}

static void sort(struct survey *survey)
{
	struct ordered *order = xmalloc((survey->count + 1) * sizeof(*order));
	uint32_t *now = xmalloc((survey->count + 1) * sizeof(*now));

	for (size_t i = 0; i < survey->count; i++)
		order[i] = (struct ordered){ survey->functions[i], i };
	qsort(order, survey->count, sizeof(*order), by_time);
	for (size_t i = 0; i < survey->count; i++) {
		survey->functions[i] = order[i].function;
		now[order[i].before] = i;
	}
	for (size_t i = 0; i < survey->nr_stacks; i++)
		for (uint32_t f = 0; f < survey->stacks[i].depth; f++)
			survey->stacks[i].frames[f] =
				now[survey->stacks[i].frames[f]];
	for (size_t i = 0; i < survey->nr_blocks; i++) {
		renumber(&survey->blocks[i].function, now);
		renumber(&survey->blocks[i].callee, now);
		renumber(&survey->blocks[i].waker, now);
	}
	free(order);
	free(now);
}

void survey_fill(struct survey *survey, const struct samples *samples)
{
	struct attribution a = { .survey = survey, .samples = samples };

	memset(survey, 0, sizeof(*survey));
	survey->lost = samples->header.lost;
	survey->lost_ns = samples->header.lost_ns;
	survey->hidden = samples->header.hidden;
	survey->hidden_ns = samples->header.hidden_ns;
	survey->overhead_ns = samples->header.overhead;
	survey->missing_ns = samples->header.missing_ns;
	for (size_t i = 0; i < samples->count; i++)
		if (samples_is_program(samples, samples->list[i]))
			add_sample(&a, samples->list[i], i + 1);
	survey_blocks_fill(survey, samples, attribute, &a);
	if (survey->count)
		sort(survey);
	for (size_t i = 0; i <= TENSE_FILES_MAX; i++)
		code_free(a.code[i]);
	free(a.functions.slots);
	free(a.stacks.slots);
	free(a.places);
	free(a.hashes);
	free(a.counted);
}
