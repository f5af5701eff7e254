/* SPDX-License-Identifier: MIT */
/* Owns what dftrun tells of the end of its program. */
#ifndef DFT_DFTRUN_ENDED_H
#define DFT_DFTRUN_ENDED_H

#include "dftrun/dftrun.h"

/* Writes how the program ended, where it has left a live file, and so could not say it itself. */
void dft_ended_write(const struct dft_run *run, const struct dft_outcome *outcome);

#endif
