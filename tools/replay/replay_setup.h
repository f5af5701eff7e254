/* SPDX-License-Identifier: MIT */
/* Makes the files and folders that are there when a replay begins. */
#ifndef DFT_REPLAY_SETUP_H
#define DFT_REPLAY_SETUP_H

#include "replay/replay_plan.h"
#include "replay/replay_root.h"

/* Is there room for all that the plan needs? Says on stderr how much is missing. Returns 0 or -ENOSPC. */
int dft_replay_setup_check(const struct dft_replay_plan *plan, const struct dft_replay_root *root);
/* Makes folders, then files, with their bytes. Says on stderr what could not be made. Returns 0 or -errno. */
int dft_replay_setup(const struct dft_replay_plan *plan, const struct dft_replay_root *root, struct dft_source *source);

#endif
