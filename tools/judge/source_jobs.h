/* SPDX-License-Identifier: MIT */
/* Jobs: which processes belong to one launch of a parallel program. */
#ifndef DFT_SOURCE_JOBS_H
#define DFT_SOURCE_JOBS_H

#include <stdint.h>

#include "object/object.h"

/* Finds the processes of each job. Returns 0 or -ENOMEM. */
int dft_source_find_jobs(struct dft_source *source);

#endif
