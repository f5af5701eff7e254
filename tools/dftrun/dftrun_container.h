/* SPDX-License-Identifier: MIT */
/* dftrun --container. */
#ifndef DFT_DFTRUN_CONTAINER_H
#define DFT_DFTRUN_CONTAINER_H

#include "dftrun/dftrun.h"

/* What --container takes, by number, then NULL. */
const char *dft_container_word(size_t i);
/* Prints what makes a container be traced. Returns the exit code. */
int dft_container_print(const struct dft_run *run);

#endif
