/* SPDX-License-Identifier: MIT */
/* DFTRACER_STACK: the call stack of each event. */
#ifndef DFT_STACK_H
#define DFT_STACK_H

#include "ring/thread.h"

extern uint32_t dft_stack_depth; /* frames of the program that are kept, at most; 0: off */

/* When the option is set: gets ready. Once, before main, when the C library is ready. */
void dft_stack_init(void);

/* The id of the calling thread's stack as the program sees it, for an event of this many ticks; its name is in the thread's stream. 0: none is
 * wanted, or can be had here. */
uint64_t dft_stack_capture(struct dft_thread *self, uint64_t ticks);

#endif
