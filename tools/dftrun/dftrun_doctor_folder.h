/* SPDX-License-Identifier: MIT */
/* The doctor looks at the directory of the traces. */
#ifndef DFT_DFTRUN_DOCTOR_FOLDER_H
#define DFT_DFTRUN_DOCTOR_FOLDER_H

#include "dftrun/dftrun_checks.h"

void dft_doctor_folder(struct dft_checks *checks, const struct dft_run *run);

#endif
