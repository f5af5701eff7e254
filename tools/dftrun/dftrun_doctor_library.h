/* SPDX-License-Identifier: MIT */
/* The doctor looks at the library. */
#ifndef DFT_DFTRUN_DOCTOR_LIBRARY_H
#define DFT_DFTRUN_DOCTOR_LIBRARY_H

#include "dftrun/dftrun_checks.h"

/* Returns whether nothing is wrong with the library. */
int dft_doctor_library(struct dft_checks *checks, const struct dft_run *run, int error);
void dft_doctor_preloads(struct dft_checks *checks, const struct dft_run *run);

#endif
