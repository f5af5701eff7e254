/* SPDX-License-Identifier: MIT */
/* DFTRACER_STACK: the call stack of each event. */
#ifndef DFT_STACK_H
#define DFT_STACK_H

#include "thread/state.h"

extern uint32_t dft_stack_depth DFT_HIDDEN; /* number of the program's frames to keep, at most; 0: off */

/* Prepares the capture when the option is set. Once, before main, when the C library is ready. */
void dft_stack_init(void);

/* The id of the calling thread's stack as the program sees it, for an event of this many ticks. The
 * thread's stream has the name of the stack. 0: no stack is wanted, or none can be had here. */
uint64_t dft_stack_capture(struct dft_thread *self, uint64_t ticks);

#endif
