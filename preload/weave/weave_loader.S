/* dlopen, dlsym and dlvsym as woven programs call them. The real one is entered with a return address in the caller (weave_loader.c says
 * why), where a `ret` brings it back here. Where there is none, it is a plain jump. */
#if defined(__x86_64__)
	.macro	enter name, after
	.globl	dft_weave_\name
	.hidden	dft_weave_\name
	.type	dft_weave_\name, @function
dft_weave_\name:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	subq	$8, %rsp
	movq	8(%rbp), %rdi
	call	dft_weave_way_back
	movq	-24(%rbp), %rdx
	movq	-16(%rbp), %rsi
	movq	-8(%rbp), %rdi
	movq	dft_weave_real_\name(%rip), %r11
	testq	%rax, %rax
	jz	2f
	subq	$8, %rsp			/* as at a call: the stack is a multiple of 16 above the return address */
	leaq	1f(%rip), %rcx
	pushq	%rcx
	pushq	%rax
	jmpq	*%r11
1:	leaq	-32(%rbp), %rsp
	movq	%rax, %rdi
	call	\after
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
2:	leave
	.cfi_def_cfa %rsp, 8
	jmpq	*%r11
	.cfi_endproc
	.size	dft_weave_\name, . - dft_weave_\name
	.endm
#elif defined(__aarch64__)
	.macro	enter name, after
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
	.cfi_def_cfa_register x29
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	mov	x0, x30
	bl	dft_weave_way_back
	mov	x9, x0
	mov	x10, x1
	ldp	x0, x1, [x29, #16]
	ldr	x2, [x29, #32]
	adrp	x16, dft_weave_real_\name
	ldr	x16, [x16, #:lo12:dft_weave_real_\name]
	cbz	x9, 2f
	sub	sp, sp, x10
	adr	x11, 1f
	stp	x29, x11, [sp]
	mov	x30, x9
	br	x16
1:	bl	\after
	ldp	x29, x30, [sp], #48
	.cfi_remember_state
	.cfi_def_cfa sp, 0
	ret
	.cfi_restore_state
2:	ldp	x29, x30, [sp], #48
	.cfi_def_cfa sp, 0
	br	x16
	.cfi_endproc
	.size	dft_weave_\name, . - dft_weave_\name
	.endm
#endif
	.text
	enter	dlopen, dft_weave_opened
	enter	dlsym, dft_weave_looked_up
	enter	dlvsym, dft_weave_looked_up
	.section .note.GNU-stack,"",%progbits
