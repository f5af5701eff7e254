/* SPDX-License-Identifier: MIT */
/* Functions of instrumented programs as regions. */
#ifndef DFT_FUNCTION_H
#define DFT_FUNCTION_H

/* Constructor only. */
void dft_function_init(void);

#endif
