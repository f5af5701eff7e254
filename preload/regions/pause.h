/* SPDX-License-Identifier: MIT */
/* Pauses, and writing all that was recorded. */
#ifndef DFT_PAUSE_H
#define DFT_PAUSE_H

enum dft_pause_of { DFT_PAUSE_THREAD = 0, DFT_PAUSE_PROCESS = 1 };
void dft_pause(int what);
void dft_resume(int what);
void dft_flush(void);

#endif
