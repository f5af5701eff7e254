/* SPDX-License-Identifier: MIT */
/* What --file and --dir mean as patterns of absolute paths. */
#ifndef DFT_FILTER_PATHS_H
#define DFT_FILTER_PATHS_H

#include "views/filter.h"

/* Makes patterns of the option's texts, each followed by `end`. One that begins with neither a slash
 * nor a star may begin at any directory; one that begins with . or .. counts from the working
 * directory of each process. Returns 0 or -ENOMEM. */
int dft_filter_paths_make(struct dft_filter_paths *paths, const struct dft_source *source, const char *const *patterns,
                          size_t count, const char *end);
void dft_filter_paths_fini(struct dft_filter_paths *paths);

#endif
