/* SPDX-License-Identifier: MIT */
/* Makes the process's files at its first event. */
#ifndef DFT_PROCESS_START_H
#define DFT_PROCESS_START_H

#include <stdint.h>

/* Creates the process's files at its first event. Signals blocked. Returns 0, -EAGAIN or -errno.
 * -EAGAIN: the files cannot be had now, and dft_process_start_waits() is true for a while. -errno:
 * nothing can be kept. */
int dft_process_start(void);
int dft_process_start_is_done(void);
int dft_process_start_waits(void);
/* At the end of the process. Tries again if events were lost for want of a trace, or calls were
 * left out. This attempt ignores dft_process_start_waits(). */
void dft_process_start_at_last(uint64_t left_out);
/* Counts an event as lost, of a thread that can have no state. */
void dft_process_start_drop(void);
/* In a forked child. The child has no files of its own yet. */
void dft_process_start_forked(void);

#endif
