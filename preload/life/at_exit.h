/* SPDX-License-Identifier: MIT */
/* The handlers of exit and quick_exit. */
#ifndef DFT_AT_EXIT_H
#define DFT_AT_EXIT_H

/* Constructor only. */
void dft_at_exit_init(void);

/* Notes that exit or quick_exit was called with this status. The end follows, after the program's
 * handlers. */
void dft_at_exit_note(int status);

#endif
