/* SPDX-License-Identifier: MIT */
/* The doctor looks at the variables. */
#ifndef DFT_DFTRUN_DOCTOR_SETTINGS_H
#define DFT_DFTRUN_DOCTOR_SETTINGS_H

#include "dftrun/dftrun_checks.h"

/* `trial` is of a run with the user's variables. */
void dft_doctor_settings(struct dft_checks *checks, const struct dft_trial *trial);

#endif
