/* SPDX-License-Identifier: MIT */
/* `dftmerge merge` into a directory: one archive for each process, rank or host. */
#ifndef DFT_MERGE_SPLIT_H
#define DFT_MERGE_SPLIT_H

struct dft_source;

/* Writes one archive for each process, rank or host into the directory `path`. Returns 0, or -errno
 * after a message on stderr. */
enum dft_split_by { DFT_SPLIT_BY_PROCESS, DFT_SPLIT_BY_RANK, DFT_SPLIT_BY_HOST };
int dft_merge_split(struct dft_source *source, const char *path, enum dft_split_by by, int quiet);

#endif
