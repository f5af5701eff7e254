/* SPDX-License-Identifier: MIT */
/* Owns --gpu. */
#ifndef DFT_DFTRUN_GPU_H
#define DFT_DFTRUN_GPU_H

#include "dftrun/dftrun.h"

/* Is the library of --gpu here, and the place of CUDA's driver for it free? Returns 0 or an exit code, after it has
 * said why. */
int dft_gpu_check(const struct dft_run *run);
/* Lets CUDA's driver load it: sets a variable. Returns 0 or -errno. */
int dft_gpu_set(const struct dft_run *run);

#endif
