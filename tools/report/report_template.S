/* SPDX-License-Identifier: MIT */
/* The page without data, as the folder report builds it. */
    .section .rodata
    .globl dft_report_template
    .globl dft_report_template_end
    .hidden dft_report_template
    .hidden dft_report_template_end
dft_report_template:
    .incbin DFT_REPORT_TEMPLATE
dft_report_template_end:
    .section .note.GNU-stack, "", %progbits
