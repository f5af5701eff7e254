/* SPDX-License-Identifier: MIT */
/* `dftmerge merge --group`. */
#ifndef DFT_MERGE_GROUPS_H
#define DFT_MERGE_GROUPS_H

struct dft_source;

/* Writes one archive for each group. `rules`: a file, or the rules themselves. */
int dft_merge_groups(struct dft_source *source, const char *path, const char *rules, int quiet);

#endif
