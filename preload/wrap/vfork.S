/* SPDX-License-Identifier: MIT */
/* vfork. The child runs on its parent's stack and memory until it is gone, so nothing of ours may
 * lie on the stack meanwhile: the return address goes to the thread's own memory (vfork.c), the
 * real function is called where it lay, and both child and parent come back here, so that each can
 * be told from the other. Where vfork.c keeps nothing (tracing is off; the caller is a vfork child
 * itself), it is a plain jump. */
#if defined(__x86_64__)
	.text
	.globl	vfork
	.type	vfork, @function
vfork:
	.cfi_startproc
	endbr64
	movq	(%rsp), %rdi
	movq	%rsp, %rsi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	dft_vfork_begin
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	jz	1f
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	call	*%rax
	subq	$16, %rsp
	.cfi_adjust_cfa_offset 16
	movq	%rax, (%rsp)
	movl	%eax, %edi
	leaq	8(%rsp), %rsi
	call	dft_vfork_end
	movq	%rax, %rcx
	movq	(%rsp), %rax
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	jmpq	*%rcx
1:
	.cfi_adjust_cfa_offset 8
	jmpq	*%rax
	.cfi_endproc
	.size	vfork, . - vfork
#elif defined(__aarch64__)
	.text
	.globl	vfork
	.type	vfork, %function
vfork:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x0, x30
	add	x1, sp, #16
	bl	dft_vfork_begin
	ldp	x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	cbz	x1, 1f
	blr	x0
	stp	x0, x29, [sp, #-16]!
	.cfi_def_cfa_offset 16
	add	x1, sp, #16
	bl	dft_vfork_end
	mov	x30, x0
	ldp	x0, x29, [sp], #16
	.cfi_def_cfa_offset 0
	ret
1:
	br	x0
	.cfi_endproc
	.size	vfork, . - vfork
#endif
	.globl	__vfork
	.set	__vfork, vfork
	.section .note.GNU-stack,"",%progbits
