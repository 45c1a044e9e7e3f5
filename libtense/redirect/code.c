// SPDX-License-Identifier: LGPL-2.1-or-later
#include "code.h"

#include <string.h>

#include <Zydis/Zydis.h>

static ZydisDecoder decoder;

struct instruction {
	ZydisDecodedInstruction i;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

struct output {
	uint8_t *bytes;
	size_t used;
	uintptr_t address;	/* of bytes */
};

bool redirect_code_init(void)
{
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder,
					     ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64));
}

static bool decode(uintptr_t address, size_t size, ZydisDecodedInstruction *i)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL,
							  (const void *)address,
							  size, i));
}

static bool is_relative_branch(const ZydisDecodedInstruction *i)
{
	return i->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE &&
	       i->raw.imm[0].is_relative;
}

static bool is_call(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_CALL;
}

/* Whether the instruction never continues with the next one. */
static bool is_end(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return true;
	default:
		return i->mnemonic == ZYDIS_MNEMONIC_UD2 ||
		       i->mnemonic == ZYDIS_MNEMONIC_HLT;
	}
}

size_t redirect_code_padding(uintptr_t address, size_t size)
{
	ZydisDecodedInstruction i;
	size_t at = 0;

	while (at < size && decode(address + at, size - at, &i) &&
	       (i.mnemonic == ZYDIS_MNEMONIC_NOP ||
		i.mnemonic == ZYDIS_MNEMONIC_INT3))
		at += i.length;
	return at;
}

size_t redirect_code_until_return(uintptr_t address, size_t most)
{
	ZydisDecodedInstruction i;
	size_t at = 0;

	while (at < most && decode(address + at, most - at, &i)) {
		at += i.length;
		if (i.meta.category == ZYDIS_CATEGORY_RET)
			return at;
	}
	return 0;
}

/*
 * Whether the CPU compares return addresses with those on a second stack, which
 * only calls can write.
 */
static bool has_shadow_stack(void)
{
	uint64_t shadow = 0;

	__asm__ volatile("rdsspq %0" : "+r"(shadow));
	return shadow;
}

/*
 * Returns the reason why the instruction cannot run elsewhere, as far as is known
 * yet.
 */
static const char *obstacle(const struct instruction *in, uintptr_t after,
			    const struct redirect_move *move)
{
	const ZydisDecodedInstruction *i = &in->i;

	if (i->mnemonic == ZYDIS_MNEMONIC_INT3)
		return "a debugger has a breakpoint at its entry";
	if (i->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return "a far branch is among its first instructions";
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_XBEGIN:
		return "its first instructions have a branch that has no longer form";
	default:
		break;
	}
	if (i->attributes & ZYDIS_ATTRIB_IS_RELATIVE && i->address_width != 64)
		return "its first instructions have addresses of 32 bits";
	if (!is_call(i))
		return NULL;
	if (has_shadow_stack())
		return "its first instructions have a call, and there is a shadow stack";
	/* The called function would return into the jump. */
	if (after < move->at + move->length)
		return "it calls a function within its first bytes";
	if (in->operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    (in->operand[0].mem.base == ZYDIS_REGISTER_RSP ||
	     in->operand[0].mem.index == ZYDIS_REGISTER_RSP))
		return "its first instructions call through the stack";
	return NULL;
}

static const char *look_at_entry(const struct redirect_code *code,
				 struct redirect_move *move)
{
	uintptr_t end = code->address + code->size;
	struct instruction in;
	const char *reason;

	move->moved = 0;
	move->returns = true;
	while (move->moved < move->length) {
		uintptr_t at = move->at + move->moved;

		if (at >= end || !move->returns) {
			size_t need = move->length - move->moved;
			size_t rest = code->address + code->room - at;

			/*
			 * The rest lies after the function's end: only padding
			 * may be there.
			 */
			if (rest < need || redirect_code_padding(at, rest) < need)
				return "it is shorter than a jump";
			break;
		}
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (void *)at,
						    end - at, &in.i,
						    in.operand)))
			return "its first instructions are not known to Zydis";
		reason = obstacle(&in, at + in.i.length, move);
		if (reason)
			return reason;
		move->moved += in.i.length;
		move->returns = !is_end(&in.i);
	}
	return NULL;
}

bool redirect_code_branch(uintptr_t address, size_t size,
			  struct redirect_branch *branch)
{
	ZydisDecodedInstruction i;

	if (!decode(address, size, &i))
		return false;
	branch->length = i.length;
	branch->call = is_call(&i);
	branch->target = is_relative_branch(&i) ?
			 address + i.length + i.raw.imm[0].value.s : 0;
	return true;
}

uintptr_t redirect_code_entry(uintptr_t address, size_t size)
{
	ZydisDecodedInstruction first;

	if (decode(address, size, &first) &&
	    first.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return address + first.length;
	return address;
}

const char *redirect_code_plan(const struct redirect_code *code,
			       unsigned int length, struct redirect_move *move)
{
	move->at = redirect_code_entry(code->address, code->size);
	move->length = length;
	return look_at_entry(code, move);
}

static bool emit(struct output *out, const void *bytes, size_t count)
{
	if (out->used + count > STUB_MOVED_MAX)
		return false;
	memcpy(out->bytes + out->used, bytes, count);
	out->used += count;
	return true;
}

static bool encode(struct output *out, ZydisEncoderRequest *request)
{
	ZyanUSize length = STUB_MOVED_MAX - out->used;

	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstructionAbsolute(request, out->bytes + out->used, &length,
				       out->address + out->used)))
		return false;
	out->used += length;
	return true;
}

static bool emit_jump(struct output *out, uintptr_t to)
{
	ZydisEncoderRequest request = {
		.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
		.mnemonic = ZYDIS_MNEMONIC_JMP,
		.branch_type = ZYDIS_BRANCH_TYPE_NEAR,
		.branch_width = ZYDIS_BRANCH_WIDTH_32,
		.operand_count = 1,
		.operands[0] = {
			.type = ZYDIS_OPERAND_TYPE_IMMEDIATE,
			.imm.u = to,
		},
	};

	return encode(out, &request);
}

/*
 * Pushes the original's return address by a call, and then overwrites it. Calls
 * and returns stay paired, so that the processor's predictions hold. (It does not
 * count a call of the very next instruction.)
 */
static bool emit_return_address(struct output *out, uintptr_t to)
{
	uint8_t code[] = {
		0xe8, 1, 0, 0, 0,			/* call .+1 */
		0xcc,
		0xc7, 0x04, 0x24, 0, 0, 0, 0,		/* movl $, (%rsp) */
		0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0,	/* movl $, 4(%rsp) */
	};
	uint32_t low = to, high = to >> 32;

	memcpy(code + 9, &low, 4);
	memcpy(code + 17, &high, 4);
	return emit(out, code, sizeof(code));
}

static const char *move_branch(struct instruction *in, uintptr_t from,
			       struct output *out)
{
	static const char failed[] = "Zydis cannot move its first instructions";
	uintptr_t after = from + in->i.length;
	ZydisEncoderRequest request;
	ZyanU64 target = 0;

	if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(&in->i, in->operand,
					in->i.operand_count_visible, &request)))
		return failed;
	if (is_relative_branch(&in->i)) {
		request.operands[0].imm.u = after + in->i.raw.imm[0].value.s;
		request.branch_type = ZYDIS_BRANCH_TYPE_NEAR;
		request.branch_width = ZYDIS_BRANCH_WIDTH_32;
	} else if (in->operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		   in->operand[0].mem.base == ZYDIS_REGISTER_RIP) {
		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&in->i, &in->operand[0], from,
						 &target)))
			return failed;
		request.operands[0].mem.displacement = target;
	}
	if (is_call(&in->i)) {
		request.mnemonic = ZYDIS_MNEMONIC_JMP;
		if (!emit_return_address(out, after))
			return failed;
	}
	return encode(out, &request) ? NULL : failed;
}

static const char *move_one(struct instruction *in, uintptr_t from,
			    struct output *out)
{
	uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
	uintptr_t to = out->address + out->used;
	int64_t value;
	int32_t disp;

	if (is_relative_branch(&in->i) || is_call(&in->i) ||
	    in->i.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return move_branch(in, from, out);
	memcpy(bytes, (void *)from, in->i.length);
	if (in->i.attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		value = in->i.raw.disp.value + (int64_t)(from - to);
		disp = value;
		if (in->i.raw.disp.size != 32 || disp != value)
			return "what its first instructions refer to is too far away";
		memcpy(bytes + in->i.raw.disp.offset, &disp, sizeof(disp));
	}
	return emit(out, bytes, in->i.length) ? NULL :
	       "its first instructions become too long";
}

const char *redirect_code_move(const struct redirect_move *move, uint8_t *buffer,
			   uintptr_t address)
{
	struct output out = { .bytes = buffer, .address = address };
	struct instruction in;
	const char *reason;
	uintptr_t at = move->at;

	while (at < move->at + move->moved) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (void *)at,
						    move->at + move->moved - at,
						    &in.i, in.operand)))
			return "its first instructions are not known to Zydis";
		reason = move_one(&in, at, &out);
		if (reason)
			return reason;
		at += in.i.length;
	}
	if (move->returns && !emit_jump(&out, at))
		return "there is no memory near enough";
	return NULL;
}

bool redirect_code_jump(uint8_t *buffer, unsigned int length, uintptr_t from,
		    uintptr_t to)
{
	int64_t distance = (int64_t)(to - from) - length;
	int32_t disp = distance;

	if (length == STUB_HOP) {
		buffer[0] = 0xeb;
		buffer[1] = distance;
		return distance == (int8_t)distance;
	}
	buffer[0] = 0xe9;
	memcpy(buffer + 1, &disp, sizeof(disp));
	return distance == disp;
}
