/* The mode without system calls: inside the library. What others call stands in lifecycle.h. */
#ifndef DFT_SANDBOX_H
#define DFT_SANDBOX_H

#include "format/format.h"
#include "ring/thread.h"

/* Counts a call that could not be recorded for want of a system call, if this thread is in the mode. */
void dft_sandbox_drop(void);

/* The thread's ring is full and cannot be drained: goes on in a spare one. Returns 0 when there is none, or when it may drain. */
int dft_sandbox_next_ring(struct dft_thread *self);

/* In a forked child. Returns 1: it inherited the mode and cannot have files of its own; tracing is off (the parent counts one). */
int dft_sandbox_forked(void);

/* The process ends (or is replaced). Returns 1: nothing can be written, and the live file says so. */
int dft_sandbox_ends(enum dft_ending how, int status);

#endif
