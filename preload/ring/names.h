/* SPDX-License-Identifier: MIT */
/* Names of regions and functions, in the stream of the thread that uses them. */
#ifndef DFT_NAMES_H
#define DFT_NAMES_H

#include "ring/ring.h"

/* The id of "category NUL name", whose text this thread's stream has carried. */
uint64_t dft_names_define(struct dft_thread *self, const char *category, const char *name);

/* The id of the name of an address of code, whose text the process has recorded. */
uint64_t dft_names_of_code(struct dft_thread *self, uint64_t address);
/* What addresses mean has changed (a library was unloaded), or nobody has their names (a forked child). */
void dft_names_forget_code(void);

#endif
