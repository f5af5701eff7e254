/* SPDX-License-Identifier: MIT */
/* The doctor looks at COMMAND without running it. */
#ifndef DFT_DFTRUN_DOCTOR_COMMAND_H
#define DFT_DFTRUN_DOCTOR_COMMAND_H

#include "dftrun/dftrun_checks.h"

/* Looks at COMMAND without running it. Returns whether it can be run. */
int dft_doctor_command(struct dft_checks *checks, const struct dft_run *run);
/* Does this program run others on another machine, in a container, or later? Says what it does, and
 * what to do. */
int dft_doctor_is_elsewhere(const char *program, const char **found, const char **advice);

#endif
