/* SPDX-License-Identifier: MIT */
/* `dftmerge merge` into a directory: one archive a process, rank or host. */
#ifndef DFT_MERGE_SPLIT_H
#define DFT_MERGE_SPLIT_H

struct dft_source;

/* One archive a process, rank or host into the directory `path`. Returns 0 or -errno, said on
 * stderr. */
enum dft_split_by { DFT_SPLIT_BY_PROCESS, DFT_SPLIT_BY_RANK, DFT_SPLIT_BY_HOST };
int dft_merge_split(struct dft_source *source, const char *path, enum dft_split_by by, int quiet);

#endif
