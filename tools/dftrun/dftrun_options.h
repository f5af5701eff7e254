/* SPDX-License-Identifier: MIT */
/* The options of dftrun. */
#ifndef DFT_DFTRUN_OPTIONS_H
#define DFT_DFTRUN_OPTIONS_H

#include "dftrun/dftrun.h"

/* Returns 0 or an exit code, after it has said why. */
int dft_run_parse(struct dft_run *run, int argc, char **argv);

#endif
