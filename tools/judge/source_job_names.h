/* SPDX-License-Identifier: MIT */
/* Names of jobs and runs, and the choice among them. */
#ifndef DFT_SOURCE_JOB_NAMES_H
#define DFT_SOURCE_JOB_NAMES_H

#include <stdint.h>

#include "object/object.h"

/* Orders and names the jobs. job_of: for each process the number of its job + 1. Returns 0 or
 * -ENOMEM. */
int dft_source_name_jobs(struct dft_source *source, const uint32_t *job_of);
/* Leaves out all processes but those of the jobs that the user asks for. Returns 0 or -ENOMEM. */
int dft_source_choose_jobs(struct dft_source *source, const char *patterns);
/* Notes that there are several jobs. */
void dft_source_note_jobs(struct dft_source *source);
/* "NAME (4 of 4 ranks, from TIME), ..." from malloc, or NULL. */
char *dft_source_list_jobs(const struct dft_source_job *jobs, uint32_t count);
/* Does a name fit one of the patterns between commas? Returns -ENOMEM without memory. */
int dft_source_name_fits(const char *patterns, const char *name);
/* Keeps only the processes with keep[], and their blocks. Returns 0 or -ENOMEM. */
int dft_source_keep_processes(struct dft_source *source, const uint8_t *keep);
void dft_source_job_widen(struct dft_source_job *job, uint64_t start_ns, uint64_t end_ns);

#endif
