// SPDX-License-Identifier: GPL-2.0
/*
 * A sample knows no address. So all values of registers are relative to the stack
 * pointer of the sample: a register whose value is not on the stack is not known.
 * The tables for exceptions hardly ever need another.
 */
#include "unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of registers in DWARF for x86-64. */
enum { BP = 6, SP = 7, IP = 16, REGISTERS = 17 };

#define DEPTH_MAX	16	/* of the stack of a DWARF expression */

struct state {
	const struct tense_sample *sample;
	const struct code *code;
	uint64_t address;	/* of the instruction, in the file's addresses */
	int64_t value[REGISTERS];	/* above the stack pointer of the sample */
	bool known[REGISTERS];
	int64_t cfa;		/* canonical frame address */
};

/* The word at a place on the stack, or NULL. */
static const struct tense_word *word_at(const struct state *s, int64_t at)
{
	uint32_t low = 0, high = s->sample->words;

	if (at < 0 || at % 8)
		return NULL;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const struct tense_word *word = &s->sample->word[middle];

		if (word->place == at / 8)
			return word;
		if (word->place < at / 8)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Loads a pointer into the stack; false if another value is there. */
static bool load(const struct state *s, int64_t at, int64_t *value)
{
	const struct tense_word *word = word_at(s, at);

	if (!word || word->file != TENSE_FILE_STACK)
		return false;
	*value = word->offset;
	return true;
}

static bool get_register(const struct state *s, unsigned int number, int64_t add,
			 int64_t *value)
{
	if (number == IP) {
		/* PLT entries ask for its last bits. */
		*value = s->address + add;
		return true;
	}
	if (number >= REGISTERS || !s->known[number])
		return false;
	*value = s->value[number] + add;
	return true;
}

/* Operators with two operands; false if this is another. */
static bool binary(uint8_t atom, int64_t a, int64_t b, int64_t *result)
{
	switch (atom) {
	case DW_OP_plus:
		*result = a + b;
		return true;
	case DW_OP_minus:
		*result = a - b;
		return true;
	case DW_OP_and:
		*result = a & b;
		return true;
	case DW_OP_shl:
		*result = b >= 0 && b < 64 ? (int64_t)((uint64_t)a << b) : 0;
		return true;
	case DW_OP_ge:
		*result = a >= b;
		return true;
	default:
		return false;
	}
}

/* Operators that push a value; false if this is another, or the value is not known. */
static bool push(const struct state *s, const Dwarf_Op *op, int64_t *value)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return get_register(s, op->atom - DW_OP_breg0, op->number, value);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*value = op->atom - DW_OP_lit0;
		return true;
	}
	switch (op->atom) {
	case DW_OP_bregx:
		return get_register(s, op->number, op->number2, value);
	case DW_OP_call_frame_cfa:
		*value = s->cfa;
		return true;
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u:
	case DW_OP_const2s: case DW_OP_const4u: case DW_OP_const4s:
	case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu:
	case DW_OP_consts:
		*value = op->number;
		return true;
	default:
		return false;
	}
}

/* Evaluates a DWARF expression. */
static bool evaluate(const struct state *s, const Dwarf_Op *ops, size_t nr,
		     int64_t *result)
{
	int64_t stack[DEPTH_MAX];
	size_t depth = 0;

	for (size_t i = 0; i < nr; i++) {
		const Dwarf_Op *op = &ops[i];

		if (op->atom == DW_OP_plus_uconst && depth) {
			stack[depth - 1] += op->number;
		} else if (op->atom == DW_OP_deref && depth) {
			if (!load(s, stack[depth - 1], &stack[depth - 1]))
				return false;
		} else if (depth >= 2 && binary(op->atom, stack[depth - 2],
						stack[depth - 1],
						&stack[depth - 2])) {
			depth--;
		} else if (depth < DEPTH_MAX && push(s, op, &stack[depth])) {
			depth++;
		} else {
			return false;
		}
	}
	if (!depth)
		return false;
	*result = stack[depth - 1];
	return true;
}

/* The caller's registers, as far as the frame saved them or left them alone. */
static void restore(struct state *s, Dwarf_Frame *frame)
{
	bool known[REGISTERS] = { false };
	int64_t value[REGISTERS], at;

	for (int i = 0; i < REGISTERS; i++) {
		Dwarf_Op memory[3], *ops;
		size_t nr;

		if (i == IP || dwarf_frame_register(frame, i, memory, &ops, &nr))
			continue;
		if (!nr && !ops) {
			known[i] = s->known[i];
			value[i] = s->value[i];
		} else if (nr && evaluate(s, ops, nr, &at)) {
			known[i] = load(s, at, &value[i]);
		}
	}
	memcpy(s->known, known, sizeof(known));
	memcpy(s->value, value, sizeof(value));
	s->known[SP] = true;
	s->value[SP] = s->cfa;
}

enum step { STEP_UP, STEP_WHOLE, STEP_LOST };

/* Finds the place on the stack of the return address, and restores registers. */
static enum step step_by_table(struct state *s, int64_t *return_at, bool *is_signal)
{
	Dwarf_Op memory[3], *ops;
	enum step step = STEP_LOST;
	Dwarf_Frame *frame;
	size_t nr;

	if (!s->code->cfi ||
	    dwarf_cfi_addrframe(s->code->cfi, s->address, &frame))
		return STEP_LOST;
	dwarf_frame_info(frame, NULL, NULL, is_signal);
	if (dwarf_frame_register(frame, IP, memory, &ops, &nr))
		goto out;
	/* The return address is not defined: there is no caller. */
	if (!nr && ops == memory) {
		step = STEP_WHOLE;
		goto out;
	}
	if (dwarf_frame_cfa(frame, &ops, &nr) ||
	    !evaluate(s, ops, nr, &s->cfa) ||
	    s->cfa <= s->value[SP] ||
	    dwarf_frame_register(frame, IP, memory, &ops, &nr) ||
	    !evaluate(s, ops, nr, return_at))
		goto out;
	restore(s, frame);
	step = STEP_UP;
out:
	free(frame);
	return step;
}

static enum step step_by_frame_pointer(struct state *s, int64_t *return_at)
{
	int64_t bp = s->value[BP];

	if (!s->known[BP] || bp < s->value[SP])
		return STEP_LOST;
	*return_at = bp + 8;
	s->known[BP] = load(s, bp, &s->value[BP]);
	s->value[SP] = bp + 16;
	return STEP_UP;
}

static enum step step(struct state *s, int64_t *return_at, bool *is_signal)
{
	enum step result = STEP_LOST;

	*is_signal = false;
	if (s->code)
		result = step_by_table(s, return_at, is_signal);
	return result == STEP_LOST ? step_by_frame_pointer(s, return_at) : result;
}

static void begin(struct state *s, const struct tense_sample *sample)
{
	*s = (struct state){ .sample = sample };
	s->known[SP] = true;
	if (sample->frame != TENSE_SAMPLE_NOWHERE) {
		s->known[BP] = true;
		s->value[BP] = sample->frame;
	}
}

void unwind_sample(struct unwind *u, const struct tense_sample *sample,
		   const struct code *(*code)(void *arg, uint16_t file), void *arg)
{
	struct unwind_frame at = { sample->code.file, sample->code.offset };
	const struct tense_word *word;
	enum step up = STEP_UP;
	int64_t return_at;
	struct state s;
	bool is_signal;

	begin(&s, sample);
	u->depth = 0;
	u->whole = false;
	while (up == STEP_UP && u->depth < UNWIND_MAX) {
		u->frame[u->depth++] = at;
		s.code = at.file ? code(arg, at.file) : NULL;
		if (s.code && !code_address(s.code, at.offset, &s.address))
			s.code = NULL;
		up = step(&s, &return_at, &is_signal);
		word = up == STEP_UP ? word_at(&s, return_at) : NULL;
		if (up == STEP_UP && (!word || word->file == TENSE_FILE_STACK))
			break;
		if (word) {
			at.file = word->file;
			/* The call may be the last instruction of the caller. */
			at.offset = word->file ? word->offset - !is_signal : 0;
		}
	}
	u->whole = up == STEP_WHOLE;
}
