/* SPDX-License-Identifier: MIT */
/* dlopen, dlsym and dlvsym as woven programs call them. The C function of the same name answers, or
 * names the function to which the call is passed on: by a jump, so that the caller's own return
 * address stays the only one. */
#if defined(__x86_64__)
	.macro	enter name
	.globl	dft_weave_\name
	.hidden	dft_weave_\name
	.type	dft_weave_\name, @function
dft_weave_\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rcx
	call	dft_weave_answer_\name
	movq	%rdx, %rcx
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	1f
	jmpq	*%rax
1:	movq	%rcx, %rax
	ret
	.cfi_endproc
	.size	dft_weave_\name, . - dft_weave_\name
	.endm
#elif defined(__aarch64__)
	.macro	enter name
	.globl	dft_weave_\name
	.hidden	dft_weave_\name
	.type	dft_weave_\name, %function
dft_weave_\name:
	.cfi_startproc
	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	mov	x3, x30
	bl	dft_weave_answer_\name
	mov	x16, x0
	mov	x9, x1
	ldp	x0, x1, [sp, #16]
	ldr	x2, [sp, #32]
	ldp	x29, x30, [sp], #48
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	cbz	x16, 1f
	br	x16
1:	mov	x0, x9
	ret
	.cfi_endproc
	.size	dft_weave_\name, . - dft_weave_\name
	.endm
#endif
	.text
	enter	dlopen
	enter	dlsym
	enter	dlvsym
	.section .note.GNU-stack,"",%progbits
