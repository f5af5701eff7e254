/* SPDX-License-Identifier: MIT */
/* The stage of a run. */
#ifndef DFT_DFTRUN_STAGE_H
#define DFT_DFTRUN_STAGE_H

#include "dftrun/dftrun.h"

/* Finds where the processes of the run stage their traces (DFTRACER_STAGE_DIR). Returns 0 or
 * -errno. */
int dft_stage_find(struct dft_run *run);
/* The last part of the prefix, with which names of files of the run begin, and then "-". */
const char *dft_run_name(const struct dft_run *run);
/* Is it the name of a file of the run? */
int dft_run_has(const struct dft_run *run, const char *name);
/* Once the program has ended: moves what its processes have left in the stage to the other traces. */
void dft_stage_collect(const struct dft_run *run);

#endif
