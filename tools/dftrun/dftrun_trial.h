/* SPDX-License-Identifier: MIT */
/* Runs a small program under the library, to see whether the library gets into it and writes a trace. */
#ifndef DFT_DFTRUN_TRIAL_H
#define DFT_DFTRUN_TRIAL_H

#include "dftrun/dftrun_checks.h"

/* Makes the folder. Returns 0 or -errno. */
int dft_trial_begin(struct dft_trial *trial);
/* Runs `cat` under the library, with the user's variables or with none of ours. Returns 0 or -errno. */
int dft_trial_run(struct dft_trial *trial, const struct dft_run *run, int with_settings);
/* Puts the version of the C library that the memory map names, as "2.36", or "" where that is not
 * known. */
void dft_trial_libc(const struct dft_trial *trial, char *version, size_t capacity);
/* Does the memory map lack the library? No where there is no map. */
int dft_trial_is_without(const struct dft_trial *trial);
/* Removes the folder and frees the texts. */
void dft_trial_end(struct dft_trial *trial);

#endif
