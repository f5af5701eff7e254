/* SPDX-License-Identifier: MIT */
/* syscall(): what has no row in syscalls.def is jumped through, with nothing touched, and so is a
 * clone that returns on another stack. In assembly, so that nothing of ours lies on the stack then;
 * and on x86-64, where the last of its seven arguments lies there, since a caller that gives fewer
 * has something else in its place, and a function in C may write to where its arguments are. */
#if defined(__x86_64__)
	.text
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	endbr64
	movq	dft_syscall_real(%rip), %r11
	movq	(%r11), %r11
	testq	%r11, %r11			/* before the constructor: not found yet */
	je	2f
	cmpl	$0, dft_on(%rip)
	je	1f
	cmpq	$512, %rdi			/* DFT_SYSCALL_NUMBERS */
	jae	1f
	leaq	dft_syscall_rows(%rip), %r10
	movzbl	(%r10,%rdi), %eax
	cmpl	$1, %eax
	je	2f
	ja	3f
1:	xorl	%eax, %eax
	jmpq	*%r11
/* The stack is made a multiple of 16 for functions in C: for the C library's own syscall() it need
 * not be one. */
2:	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	subq	$8, %rsp
	pushq	16(%rbp)
	call	dft_syscall_make
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
3:	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	pushq	%r8
	pushq	%r9
	pushq	%r11
	subq	$8, %rsp
	andq	$-16, %rsp
	call	dft_syscall_is_plain
	leaq	-56(%rbp), %rsp
	popq	%r11
	popq	%r9
	popq	%r8
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	testl	%eax, %eax
	jne	1b
	jmp	2b
	.cfi_endproc
	.size	syscall, . - syscall
#elif defined(__aarch64__)
	.text
	.globl	syscall
	.type	syscall, %function
syscall:
	.cfi_startproc
	adrp	x16, dft_syscall_real
	ldr	x16, [x16, #:lo12:dft_syscall_real]
	ldr	x16, [x16]
	cbz	x16, 2f				/* before the constructor: not found yet */
	adrp	x9, dft_on
	ldr	w9, [x9, #:lo12:dft_on]
	cbz	w9, 1f
	cmp	x0, #512			/* DFT_SYSCALL_NUMBERS */
	b.hs	1f
	adrp	x9, dft_syscall_rows
	add	x9, x9, #:lo12:dft_syscall_rows
	ldrb	w9, [x9, x0]
	cmp	w9, #1
	b.eq	2f
	b.hi	3f
1:	br	x16
2:	b	dft_syscall_make
3:	stp	x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset x29, -96
	.cfi_offset x30, -88
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x16, [sp, #80]
	bl	dft_syscall_is_plain
	mov	w9, w0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x16, [sp, #80]
	ldp	x29, x30, [sp], #96
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	cbnz	w9, 1b
	b	2b
	.cfi_endproc
	.size	syscall, . - syscall
#endif
	.section .note.GNU-stack,"",%progbits
