/* SPDX-License-Identifier: MIT */
/* What stands below a table: how much of the time events were kept, and what was lost. */
#ifndef DFT_JOB_FOOTER_H
#define DFT_JOB_FOOTER_H

#include <stdio.h>

#include "job/job.h"

/* What was not recorded and what was lost; `what` begins the sentence when something was. */
void dft_job_print_losses(FILE *out, const struct dft_job *job, struct dft_source *source, const char *what);
/* For how much of the time events were kept, if not for all: "events were kept for 60.0 % of the time; ". */
void dft_job_print_kept(FILE *out, const struct dft_job *job);

#endif
