/* SPDX-License-Identifier: MIT */
/* Runs: the processes that were started together. */
#ifndef DFT_SOURCE_RUNS_H
#define DFT_SOURCE_RUNS_H

#include "object/object.h"

/* Finds the processes of each run. Returns 0 or -ENOMEM. */
int dft_source_find_runs(struct dft_source *source);
/* Leaves out all runs but those that `patterns` names, or but the newest run. Returns 0 or
 * -ENOMEM. */
int dft_source_choose_runs(struct dft_source *source, const char *patterns, int newest);
/* Notes which run was chosen as the newest, where there are several. */
void dft_source_note_newest(struct dft_source *source);
/* Notes that there are several runs. */
void dft_source_note_runs(struct dft_source *source);

#endif
