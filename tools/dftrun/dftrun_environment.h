/* SPDX-License-Identifier: MIT */
/* The variables that the program and the library in it begin with. */
#ifndef DFT_DFTRUN_ENVIRONMENT_H
#define DFT_DFTRUN_ENVIRONMENT_H

#include "dftrun/dftrun.h"

/* Sets the id that tells this run apart from others. An id that a dftrun around this one has set stays as it is.
 * Returns 0, or nonzero: no memory. */
int dft_run_set_id(const struct dft_launch *launch);
/* Sets what the library reads. Runs in the child, because dftmerge must not be traced. `context` is
 * the run. Returns 0 or -errno. */
int dft_run_environment(const void *context);

#endif
