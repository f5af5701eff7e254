/* syscall(): what has no row in syscalls.def is jumped through, with nothing touched, and so is a clone that returns on another stack. In
 * assembly, since the last of its seven arguments lies on the stack: a caller that gives fewer has something else there, and a function in C may write to where its arguments are. */
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
/* The stack is made a multiple of 16 for functions in C: for the C library's own syscall() it need not be one. */
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
#endif
	.section .note.GNU-stack,"",%progbits
