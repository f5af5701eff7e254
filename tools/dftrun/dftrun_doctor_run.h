/* SPDX-License-Identifier: MIT */
/* The doctor runs COMMAND once under the tracer, with traces in a temporary folder, and looks at what COMMAND left. */
#ifndef DFT_DFTRUN_DOCTOR_RUN_H
#define DFT_DFTRUN_DOCTOR_RUN_H

#include "dftrun/dftrun_checks.h"

/* Runs COMMAND, and looks at what it left. */
void dft_doctor_run(struct dft_checks *checks, const struct dft_run *run);

#endif
