/* syscall(): what has no row in syscalls.def is jumped through, with nothing touched. In assembly, since the last of its seven arguments
 * lies on the stack: a caller that gives fewer has something else there, and a function in C may write to where its arguments are. */
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
	cmpb	$0, (%r10,%rdi)
	jne	2f
1:	xorl	%eax, %eax
	jmpq	*%r11
2:	pushq	8(%rsp)
	.cfi_def_cfa_offset 16
	call	dft_syscall_make
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	syscall, . - syscall
#endif
	.section .note.GNU-stack,"",%progbits
