/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions with prologues that are hard to redirect: each returns its argument
 * plus a constant of its own, see odd_list in test-functions.c.
 */
	.text

.macro function name, align=16
	.balign	\align
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
.endm

.macro end name
	.cfi_endproc
	.size	\name, . - \name
.endm

/* An operand relative to the instruction pointer. */
function odd_rip
	movl	seven(%rip), %eax
	addl	%edi, %eax
	ret
end odd_rip

/* ... with an immediate behind it. */
function odd_rip_immediate
	cmpl	$7, seven(%rip)
	jne	1f
	leal	8(%rdi), %eax
	ret
1:	xorl	%eax, %eax
	ret
end odd_rip_immediate

/* ... and wider than general registers, which flags and others survive. */
function odd_rip_vector
	movdqu	numbers(%rip), %xmm7
	movd	%xmm7, %eax
	addl	%edi, %eax
	ret
end odd_rip_vector

/* A short branch among the first bytes. */
function odd_short_branch
	testl	%edi, %edi
	js	1f
	leal	3(%rdi), %eax
	ret
1:	leal	3(%rdi), %eax
	nop
	ret
end odd_short_branch

function odd_jump
	jmp	1f
	ud2
1:	leal	4(%rdi), %eax
	ret
end odd_jump

function odd_near_jump
	jmp	far_away
end odd_near_jump

function odd_indirect_jump
	jmp	*pointer(%rip)
end odd_indirect_jump

/* A call among the first bytes: what it calls must return to the original. */
function odd_call
	call	add_to_rdi
	leal	(%rdi), %eax
	ret
end odd_call

function odd_call_second
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	add_to_rdi
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	movl	%edi, %eax
	ret
end odd_call_second

function odd_call_memory
	call	*add_pointer(%rip)
	movl	%edi, %eax
	ret
end odd_call_memory

function odd_call_register
	leaq	add_to_rdi(%rip), %rax
	call	*%rax
	movl	%edi, %eax
	ret
end odd_call_register

function odd_endbr
	endbr64
	leal	11(%rdi), %eax
	ret
end odd_endbr

function odd_endbr_push
	endbr64
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	movl	%edi, %ebx
	leal	12(%rbx), %eax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end odd_endbr_push

/* Shorter than a jump, with padding behind. */
function odd_short
	xchgl	%edi, %eax
	ret
end odd_short
	.balign 16

/* ... without, but with some nearby. */
function odd_packed
	movl	%edi, %eax
	ret
end odd_packed
function odd_behind_packed, 1
	leal	1(%rdi), %eax
	nopl	0(%rax,%rax)
	ret
end odd_behind_packed
	.balign 16

/* ... with some before it only. */
function odd_cramped
	movl	%edi, %eax
	ret
end odd_cramped
function odd_behind_cramped, 1
	.rept	100
	addl	$1, %edi
	.endr
	leal	-100(%rdi), %eax
	ret
end odd_behind_cramped
function odd_before_tiny, 1
	.rept	100
	addl	$1, %edi
	.endr
	leal	-100(%rdi), %eax
	ret
end odd_before_tiny
/* One byte long and far from any padding: libtense refuses it. */
function odd_tiny, 1
	ret
end odd_tiny
function odd_behind_tiny, 1
	.rept	100
	addl	$1, %edi
	.endr
	leal	-100(%rdi), %eax
	ret
end odd_behind_tiny
	.balign 16

/* A jump into the first bytes, which a shorter one does not overwrite. */
function odd_jumped_into
	movl	%edi, %eax
1:	incl	%eax
	testb	$3, %al
	jne	1b
	andl	$-4, %eax
	ret
end odd_jumped_into
	.balign 16

/* ... and one that it does: refused. */
function odd_all_jumped_into
	nop
1:	movl	%edi, %eax
	incl	%edi
	testb	$3, %dil
	jne	1b
	movl	%edi, %eax
	ret
end odd_all_jumped_into
	.balign 16

/* Its entry is the head of a loop: refused. */
function odd_loop_head
	incl	%edi
	testb	$3, %dil
	jne	odd_loop_head
	movl	%edi, %eax
	ret
end odd_loop_head
	.balign 16

/* Branches without a long form: refused. */
function odd_jrcxz
	jrcxz	1f
1:	leal	5(%rdi), %eax
	ret
end odd_jrcxz
	.balign 16

/* The first instruction is longer than a jump. */
function odd_long
	movabsq	$0x123456789a, %rax
	leal	6(%rdi), %eax
	ret
end odd_long

/* All that the ABI does not promise is used: flags, other registers. */
function odd_flags
	adcl	$0, %edi
	pushfq
	.cfi_adjust_cfa_offset 8
	movl	%edi, %eax
	addl	$0, %eax
	popfq
	.cfi_adjust_cfa_offset -8
	ret
end odd_flags
	.balign 16

/* One that jumps to another redirected one, and one that is jumped to. */
function odd_tail
	addl	$20, %edi
	nopl	0(%rax,%rax)
	jmp	odd_long
end odd_tail
	.balign 16

function far_away
	leal	9(%rdi), %eax
	ret
end far_away

add_to_rdi:
	addl	$10, %edi
	ret

/*
 * int odd_call_flags(int n): n + 10 by odd_flags with the carry set, and
 * with other registers than those of the ABI kept; negative if not.
 */
function odd_call_flags
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	movl	$0x1111, %esi
	movl	$0x2222, %r11d
	movl	$0x3333, %r10d
	movl	$0x4444, %r9d
	movl	$0x5555, %r8d
	movl	$0x6666, %ecx
	movl	$0x7777, %edx
	addl	$8, %edi
	stc
	call	odd_flags
	jc	1f
	jo	1f
	cmpl	$0x1111, %esi
	jne	1f
	cmpl	$0x2222, %r11d
	jne	1f
	cmpl	$0x3333, %r10d
	jne	1f
	cmpl	$0x4444, %r9d
	jne	1f
	cmpl	$0x5555, %r8d
	jne	1f
	cmpl	$0x6666, %ecx
	jne	1f
	cmpl	$0x7777, %edx
	jne	1f
	/* Now with those flags at the exit that no comparison leaves alone. */
	movl	$0x7ffffff0, %edi
	stc
	movl	%eax, %ebx
	call	odd_flags_set
	jno	1f
	jns	1f
	leal	1(%rbx), %eax
	popq	%rbx
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	ret
1:	.cfi_restore_state
	movl	$-1, %eax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end odd_call_flags
	.balign 16

function odd_flags_set
	leal	0(%rdi,%rdi), %eax
	addl	$0x7fffffff, %edi
	ret
end odd_flags_set
	.balign 16

	.section .rodata
seven:	.long	7
	.balign	16
numbers: .long	13, 14, 15, 16
	.section .data.rel.ro, "aw"
pointer: .quad	far_away
add_pointer: .quad add_to_rdi
	.section .note.GNU-stack, "", @progbits
