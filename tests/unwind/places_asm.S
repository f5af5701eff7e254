/* SPDX-License-Identifier: MIT */
/* Hand-written functions whose tables use what compilers seldom do. Each calls the function in
 * %rdi. */
    .text
    .globl dft_places_assembler
    .type dft_places_assembler, @function
dft_places_assembler:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbx, -16
    mov %rdi, %rbx
    call by_other_register
    call by_saved_pointer
    call by_register_return
    call two_ends
    call moved_frame
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size dft_places_assembler, . - dft_places_assembler

/* The frame is counted from %rbp, which is saved elsewhere meanwhile. */
by_other_register:
    .cfi_startproc
    sub $40, %rsp
    .cfi_adjust_cfa_offset 40
    mov %rbp, 8(%rsp)
    .cfi_offset %rbp, -40
    lea 16(%rsp), %rbp
    .cfi_def_cfa %rbp, 32
    mov $1, %edi
    call *%rbx
    mov 8(%rsp), %rbp
    .cfi_def_cfa %rsp, 48
    .cfi_restore %rbp
    add $40, %rsp
    .cfi_adjust_cfa_offset -40
    ret
    .cfi_endproc

/* The frame's address is kept in memory: DW_CFA_def_cfa_expression (DW_OP_breg7 8, DW_OP_deref). */
by_saved_pointer:
    .cfi_startproc
    lea 8(%rsp), %rax
    sub $24, %rsp
    .cfi_adjust_cfa_offset 24
    mov %rax, 8(%rsp)
    .cfi_escape 0x0f, 0x03, 0x77, 0x08, 0x06
    mov $2, %edi
    call *%rbx
    nop
    .cfi_def_cfa %rsp, 32
    add $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    .cfi_endproc

/* The return address is in a register, as in vfork. */
by_register_return:
    .cfi_startproc
    pop %rdx
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rdx
    mov $3, %eax
    nop
    push %rdx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rip, 0
    ret
    .cfi_endproc

/* Two ways out, with the state between remembered. */
two_ends:
    .cfi_startproc
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    test %rbx, %rbx
    jz 1f
    .cfi_remember_state
    mov $4, %edi
    call *%rbx
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
1:  .cfi_restore_state
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
    .cfi_endproc

/* The stack goes on below in steps, as arguments are pushed. */
moved_frame:
    .cfi_startproc
    push %r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %r12, 0
    push $1
    .cfi_adjust_cfa_offset 8
    push $2
    .cfi_adjust_cfa_offset 8
    sub $256, %rsp
    .cfi_adjust_cfa_offset 256
    mov %rsp, %r12
    .cfi_def_cfa_register %r12
    and $-64, %rsp
    mov $5, %edi
    call *%rbx
    mov %r12, %rsp
    .cfi_def_cfa_register %rsp
    add $272, %rsp
    .cfi_adjust_cfa_offset -272
    pop %r12
    .cfi_adjust_cfa_offset -8
    .cfi_restore %r12
    ret
    .cfi_endproc
    .section .note.GNU-stack, "", @progbits
