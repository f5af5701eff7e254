/* SPDX-License-Identifier: MIT */
/* What the launcher of a job tells its ranks, by its variables. */
#ifndef DFT_DFTRUN_LAUNCH_H
#define DFT_DFTRUN_LAUNCH_H

#include "dftrun/dftrun.h"

void dft_launch_find(struct dft_launch *launch);
/* The value of a variable, or NULL when it is empty. */
const char *dft_run_variable(const char *name);

#endif
