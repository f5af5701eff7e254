/* SPDX-License-Identifier: MIT */
/* The doctor looks at the limits of this process, and at what encloses it. */
#ifndef DFT_DFTRUN_DOCTOR_LIMITS_H
#define DFT_DFTRUN_DOCTOR_LIMITS_H

#include "dftrun/dftrun_checks.h"

void dft_doctor_limits(struct dft_checks *checks);

#endif
