/* SPDX-License-Identifier: MIT */
/* dft_on_stack(top, function, argument): see onstack.h. The frame pointer keeps the old stack, so
 * that unwinding works. */
#if defined(__x86_64__)
	.text
	.globl	dft_on_stack
	.hidden	dft_on_stack
	.type	dft_on_stack, @function
dft_on_stack:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdi, %rsp
	movq	%rdx, %rdi
	call	*%rsi
	movq	%rbp, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	dft_on_stack, . - dft_on_stack
#elif defined(__aarch64__)
	.text
	.globl	dft_on_stack
	.hidden	dft_on_stack
	.type	dft_on_stack, %function
dft_on_stack:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa_register x29
	mov	sp, x0
	mov	x0, x2
	blr	x1
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc
	.size	dft_on_stack, . - dft_on_stack
#endif
	.section .note.GNU-stack,"",%progbits
