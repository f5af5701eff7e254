/* SPDX-License-Identifier: MIT */
/* Finds traces and live files. */
#ifndef DFT_TOP_FIND_H
#define DFT_TOP_FIND_H

#include "top/watch.h"

int dft_top_find(struct dft_top_watch *watch);
/* A path that is not known yet. Returns 0 or -ENOMEM. */
int dft_top_add_trace(struct dft_top_watch *watch, const char *path);
int dft_top_add_live(struct dft_top_watch *watch, const char *path);
int dft_top_is_new_file(struct dft_top_watch *watch, uint64_t device, uint64_t inode);

#endif
