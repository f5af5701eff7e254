/* SPDX-License-Identifier: MIT */
/* dlopen, dlsym and dlvsym as woven programs call them. */
#include "loader/with_caller.inc"

	.text
	.hidden	dft_weave_dlopen, dft_weave_dlsym, dft_weave_dlvsym
	with_caller	dft_weave_dlopen, dft_weave_answer_dlopen
	with_caller	dft_weave_dlsym, dft_weave_answer_dlsym
	with_caller	dft_weave_dlvsym, dft_weave_answer_dlvsym
	.section .note.GNU-stack,"",%progbits
