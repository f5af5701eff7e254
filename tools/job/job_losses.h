/* SPDX-License-Identifier: MIT */
/* What was lost of a job, for people. */
#ifndef DFT_JOB_LOSSES_H
#define DFT_JOB_LOSSES_H

#include "job/job.h"

/* Was anything lost? */
int dft_job_is_lossy(const struct dft_job *job, struct dft_source *source);
/* Prints how many events were lost and why: "12 events (ring full)"; true where any was. */
int dft_job_dropped(FILE *out, const struct dft_job *job);
void dft_job_json_dropped(struct dft_json *json, const struct dft_job *job); /* the same as the member dropped */
/* Prints what was: "12 events (the disk was full), 3 arguments (cut or left out)". */
void dft_job_losses(FILE *out, const struct dft_job *job, struct dft_source *source);

#endif
