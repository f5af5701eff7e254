/* SPDX-License-Identifier: MIT */
/* The live files of a watch. */
#ifndef DFT_TOP_LIVES_H
#define DFT_TOP_LIVES_H

#include "top/watch.h"

/* The live file that a PROCESS record names. */
int dft_top_live_named(struct dft_top_watch *watch, struct dft_text path);
int dft_top_lives_copy(struct dft_top_watch *watch);
/* Gives back all but the path. */
void dft_top_live_drop(struct dft_top_live *live);

#endif
