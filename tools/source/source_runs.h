/* SPDX-License-Identifier: MIT */
/* Runs: which processes were started together. */
#ifndef DFT_SOURCE_RUNS_H
#define DFT_SOURCE_RUNS_H

#include "source/source_object.h"

/* Which processes are of one run. Returns 0 or -ENOMEM. */
int dft_source_find_runs(struct dft_source *source);
/* Leaves out all runs but those that are asked for (patterns), or the newest. Returns 0 or -ENOMEM. */
int dft_source_choose_runs(struct dft_source *source, const char *patterns, int newest);
/* Says that there are several. */
void dft_source_note_runs(struct dft_source *source);

#endif
