/* SPDX-License-Identifier: MIT */
/* Hosts whose clocks may be wrong. */
#ifndef DFT_RANKS_HOSTS_H
#define DFT_RANKS_HOSTS_H

#include "ranks/ranks_job.h"

/* Notes that hosts start so far apart that their clocks may be wrong. Returns 0 or -ENOMEM. */
int dft_ranks_hosts(const struct dft_ranks_job *job);

#endif
