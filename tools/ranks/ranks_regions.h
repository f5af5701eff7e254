/* SPDX-License-Identifier: MIT */
/* The innermost region that each suspect was in at its spike. */
#ifndef DFT_RANKS_REGIONS_H
#define DFT_RANKS_REGIONS_H

#include "ranks/ranks_job.h"

/* Finds the regions of suspects of telemetry in the traces of job->source, by rank and by the
 * time of the rank's own clock: moments, in the order of suspects. Nothing else of the job is
 * needed. */
int dft_ranks_phases(struct dft_ranks_job *job, const struct dft_first_cause *cause);
/* The region that a suspect was in at its spike; 0: none, or not known. */
uint64_t dft_ranks_region(const struct dft_ranks_job *job, const struct dft_suspect *suspect);

#endif
