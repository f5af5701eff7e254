/* vfork: marks the thread, so that what the child does in its parent's memory can be told apart, and jumps to the real one. Nothing of ours may
 * be on the stack when that returns: the child runs on it before the parent does. */
#if defined(__x86_64__)
	.text
	.globl	vfork
	.type	vfork, @function
vfork:
	.cfi_startproc
	endbr64
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	call	dft_real_vfork
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	movq	dft_vfork_mark@gottpoff(%rip), %rdx
	movl	$1, %fs:(%rdx)
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
	bl	dft_real_vfork
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	adrp	x1, :gottprel:dft_vfork_mark
	ldr	x1, [x1, :gottprel_lo12:dft_vfork_mark]
	mrs	x2, tpidr_el0
	mov	w3, #1
	str	w3, [x2, x1]
	br	x0
	.cfi_endproc
	.size	vfork, . - vfork
#endif
	.section .note.GNU-stack,"",%progbits
