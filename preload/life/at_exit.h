/* SPDX-License-Identifier: MIT */
/* Handlers of exit and quick_exit. */
#ifndef DFT_AT_EXIT_H
#define DFT_AT_EXIT_H

/* Constructor only. */
void dft_at_exit_init(void);

/* exit or quick_exit was called with this status: the end is to come, behind the program's handlers. */
void dft_at_exit_note(int status);

#endif
