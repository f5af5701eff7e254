/* SPDX-License-Identifier: MIT */
/* Who died first, of what, and after which call. */
#ifndef DFT_RANKS_DIED_H
#define DFT_RANKS_DIED_H

#include "ranks/ranks_job.h"

/* The first line, where a process ended badly (returns 0 or -ENOMEM); the members "ended" and
 * "last_call". */
int dft_ranks_put_died(const struct dft_ranks_job *job);
void dft_ranks_json_died(struct dft_json *json, const struct dft_ranks_job *job);

#endif
