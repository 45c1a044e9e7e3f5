/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code between a function and its caller; stub.h describes how it fits
 * together. Every register and flag except the instruction pointer is the same
 * before and after. Callers of static functions and hand-written code rely on
 * more than the ABI grants.
 *
 * Everywhere below, X is the caller's stack pointer after the function's return:
 * the return address lies at X - 8.
 */
#include "redirect/stub-asm.h"

	.text

/*
 * The functions in C save the registers that they use, except rax and those of
 * their arguments. The stack is aligned at the calls.
 */
.macro save_registers regs:vararg
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	.irp	reg, \regs
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
.endm

.macro restore_registers regs:vararg
	.irp	reg, \regs
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$0x7f, %al
	sahf
	popq	%rax
	.cfi_adjust_cfa_offset -8
.endm

/*
 * The thunk of a function has pushed its struct tense_stub, and jumps here. The
 * struct's address is at X - 16.
 */
	.globl	tense_stub_entry
	.hidden	tense_stub_entry
	.type	tense_stub_entry, @function
	.balign	64
tense_stub_entry:
	.cfi_startproc
	.cfi_adjust_cfa_offset 8
	save_registers rsi, rdi
	movq	32(%rsp), %rdi
	leaq	40(%rsp), %rsi
	movq	tense_stub_self@gottpoff(%rip), %rax
	cmpq	$0, %fs:(%rax)
	jne	2f
	call	tense_stub_enter_first
3:
	movq	32(%rsp), %rdi
	movq	STUB_RESUME(%rdi), %rdi
	movq	%rdi, 32(%rsp)
	testq	%rax, %rax
	jz	1f
	.cfi_remember_state
	/*
	 * To the gate of the return address: it calls what is at X - 16. From
	 * here on the return address is in the gate's slot only:
	 * CFA - 8, deref: the gate; then as for the gates themselves.
	 */
	movq	%rax, 40(%rsp)
	.cfi_escape 0x16, 0x10, 12, 0x38, 0x1c, 0x06, GATE_SLOT_EXPRESSION
	restore_registers rdi, rsi
	leaq	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	jmp	*-8(%rsp)
1:
	.cfi_restore_state
	.cfi_remember_state
	restore_registers rdi, rsi
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*-8(%rsp)
2:
	.cfi_restore_state
	call	tense_stub_enter
	jmp	3b
	.cfi_endproc
	.size	tense_stub_entry, . - tense_stub_entry

/* Called by a gate when a function has returned to it. */
	.type	stub_exit, @function
	.balign	64
stub_exit:
	.cfi_startproc
	save_registers rdi
	leaq	24(%rsp), %rdi
	movq	tense_stub_self@gottpoff(%rip), %rax
	cmpq	$1, %fs:(%rax)
	jne	2f
	call	tense_stub_leave_last
1:
	.cfi_remember_state
	restore_registers rdi
	ret
2:
	.cfi_restore_state
	call	tense_stub_leave
	jmp	1b
	.cfi_endproc
	.size	stub_exit, . - stub_exit

/*
 * int tense_stub_call_saved(int (*function)(), long, long, long, long)
 *
 * Calls function with the other arguments. Saves and restores all vector and
 * floating point registers.
 */
	.globl	tense_stub_call_saved
	.hidden	tense_stub_call_saved
	.type	tense_stub_call_saved, @function
	.balign	16
tense_stub_call_saved:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	subq	tense_stub_state_size(%rip), %rsp
	andq	$-64, %rsp
	movq	%rdi, %r11
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %rcx
	movl	tense_stub_state_mask(%rip), %eax
	testl	%eax, %eax
	jz	2f
	movq	%rdx, %r8
	xorl	%edx, %edx
	/* xsave leaves the rest of its header alone; xrstor wants it to be 0. */
	.irp	at, 0, 8, 16, 24, 32, 40, 48, 56
	movq	%rdx, 512+\at(%rsp)
	.endr
	xsave64	(%rsp)
	movq	%r8, %rdx
	call	*%r11
	movq	%rax, %r8
	movl	tense_stub_state_mask(%rip), %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	movq	%r8, %rax
	leave
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
2:
	.cfi_restore_state
	fxsave64 (%rsp)
	call	*%r11
	fxrstor64 (%rsp)
	leave
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	tense_stub_call_saved, . - tense_stub_call_saved

/*
 * The gates, one for each return address. The return address is in the gate's
 * slot of tense_stub_slots. A jump enters the gate. The gate calls the function,
 * so that the function returns to the gate. The gate returns to the return
 * address. Calls and returns stay paired, for the processor's return predictor
 * and for a shadow stack.
 *
 * An unwinder that knows only a gate's address can pass through the gate: it
 * finds the return address through the operand of the push. To the unwinder a
 * gate's frame is one byte large, because it tells frames apart by their address.
 * The personality function learns that the function ends.
 */
	.globl	tense_stub_gates
	.hidden	tense_stub_gates
	.type	tense_stub_gates, @function
	.balign	4096
	.cfi_startproc simple
	.cfi_personality 0x1b, tense_stub_unwound
	/* CFA: rsp + (rip % 16 == 15 ? 8 : 0) + 1 */
	.cfi_escape 0x0f, 13, 0x77, 0, 0x80, 0, 0x3f, 0x1a, 0x3f, 0x29, 0x33, 0x24, 0x22, 0x31, 0x22
	/* rsp: CFA - 1 */
	.cfi_escape 0x16, 0x07, 2, 0x31, 0x1c
	/* return address */
	.cfi_escape 0x16, 0x10, 14, 0x80, 0, 0x09, 0xf0, 0x1a, GATE_SLOT_EXPRESSION
tense_stub_gates:
	.set	gate, 0
	.rept	STUB_GATES
	call	*-16(%rsp)
	call	stub_exit
	pushq	tense_stub_slots + gate * 8(%rip)
	ret
	.set	gate, gate + 1
	.endr
	.cfi_endproc
	.size	tense_stub_gates, . - tense_stub_gates
	.if	. - tense_stub_gates - STUB_GATES * STUB_GATE_SIZE
	.error	"a gate has another size"
	.endif

	.section .note.GNU-stack, "", @progbits
