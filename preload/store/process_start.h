/* SPDX-License-Identifier: MIT */
/* When the process's files are made: at its first event. */
#ifndef DFT_PROCESS_START_H
#define DFT_PROCESS_START_H

#include <stdint.h>

/* Creates the process's files at its first event. Signals blocked. Returns 0, -EAGAIN (they cannot be had now: for a while
 * dft_process_start_waits()), or -errno (nothing can be kept). */
int dft_process_start(void);
int dft_process_start_is_done(void);
int dft_process_start_waits(void);
/* At its end: whatever dft_process_start_waits() says, if events were lost for want of a trace, or calls were left out. */
void dft_process_start_at_last(uint64_t left_out);
/* An event of a thread that can have no state is counted as lost. */
void dft_process_start_drop(void);
/* In a forked child: it has no files of its own yet. */
void dft_process_start_forked(void);

#endif
