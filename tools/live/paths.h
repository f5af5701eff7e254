/* SPDX-License-Identifier: MIT */
/* Paths of calls in flight. */
#ifndef DFT_LIVE_PATHS_H
#define DFT_LIVE_PATHS_H

#include <stddef.h>

struct dft_live;

/* In a copy of a live file: gives calls in flight on a path the path, where the kernel tells it. `now`: the file
 * itself, mapped. The process runs, and its pid means the same here. */
void dft_live_paths(void *copy, const struct dft_live *now, size_t length);

#endif
