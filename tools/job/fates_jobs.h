/* SPDX-License-Identifier: MIT */
#ifndef DFT_JOB_FATES_JOBS_H
#define DFT_JOB_FATES_JOBS_H

#include "job/fates.h"

/* "3 of 36 jobs (40034, 40035, 40036): ": those with an accident. *status: the exit status that all accidents have, 0
 * where they differ. Returns 0, and says nothing, where there are not several jobs, or no accident. */
int dft_fates_say_jobs(FILE *out, const struct dft_fates *fates, const struct dft_source *source, int *status);

#endif
