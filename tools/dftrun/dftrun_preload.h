/* SPDX-License-Identifier: MIT */
/* Owns LD_PRELOAD. */
#ifndef DFT_DFTRUN_PRELOAD_H
#define DFT_DFTRUN_PRELOAD_H

#include "dftrun/dftrun.h"

/* Puts the library before what LD_PRELOAD has, and leaves other copies of the library out. Returns 0 or -errno. */
int dft_preload_set(const struct dft_run *run);
/* Says which copies are left out. */
void dft_preload_say(const struct dft_run *run);
/* Is this entry of LD_PRELOAD such a copy? */
int dft_preload_is_other_copy(const struct dft_run *run, const char *entry);

#endif
