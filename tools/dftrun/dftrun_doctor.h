/* SPDX-License-Identifier: MIT */
/* dftrun --doctor. */
#ifndef DFT_DFTRUN_DOCTOR_H
#define DFT_DFTRUN_DOCTOR_H

#include "dftrun/dftrun.h"

/* Looks for everything that keeps calls from being recorded, and prints what it found. `error`: why
 * there is no library, or 0. Returns the exit code: 1 when something is wrong. */
int dft_doctor(struct dft_run *run, int error);

#endif
