/* SPDX-License-Identifier: MIT */
/* dlopen, dlsym and dlvsym: wrap_loader.c answers. */
#include "loader/with_caller.inc"

	.text
	with_caller	dlopen, dft_answer_dlopen
	with_caller	dlsym, dft_answer_dlsym
	with_caller	dlvsym, dft_answer_dlvsym
	.section .note.GNU-stack,"",%progbits
