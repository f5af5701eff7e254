/* SPDX-License-Identifier: MIT */
/* Names of regions and functions, in the stream of the thread that uses them. */
#ifndef DFT_NAMES_H
#define DFT_NAMES_H

#include "ring/ring.h"

/* The id of "category NUL name". This thread's stream has carried the text of the name. */
uint64_t dft_names_define(struct dft_thread *self, const char *category, const char *name);

/* The id of the name of an address of code. The process has recorded the text of the name. */
uint64_t dft_names_of_code(struct dft_thread *self, uint64_t address);
/* Forgets the names of addresses. Addresses have a new meaning (a library was unloaded), or the
 * trace lacks the names (a forked child). */
void dft_names_forget_code(void);

#endif
