/* SPDX-License-Identifier: MIT */
/* Other libraries in this process that take the same calls: another copy of ours, or another tool's. */
#ifndef DFT_BESIDE_H
#define DFT_BESIDE_H

/* Does another copy of this library record this process? Then this one records nothing: its wrappers pass each call
 * on, and annotations go to the other copy. Constructor only, after dft_config_init. */
int dft_beside_steps_back(void);

/* Notes a library that takes calls before ours and does not look for the next function. Constructor only. */
void dft_beside_note_taken(void);

#endif
