/* SPDX-License-Identifier: MIT */
/* The page that follows a run. */
#ifndef DFT_DFTRUN_PAGE_H
#define DFT_DFTRUN_PAGE_H

#include "dftrun/dftrun.h"

/* Runs dftmerge with its output in `out`, and its messages in `err`. Returns its exit code, or
 * -errno. */
int dft_dftmerge_run(const struct dft_run *run, const char *const *arguments, int out, int err);
/* Makes the glob of files that begin with this prefix, and escapes what has a meaning in a glob.
 * Returns 0 or -ENAMETOOLONG. */
int dft_dftmerge_glob(const char *prefix, char *glob, size_t capacity);
/* Are --by and --top what dftmerge takes? Returns 0 or an exit code; `loud`: and says why. */
int dft_page_check(const struct dft_run *run, int loud);
/* Can the files of --json and --report be written? Returns 0, or -errno and *which file. */
int dft_page_try_files(const struct dft_run *run, const char **which);
/* Prints the page and writes these files, or says why there are none. */
void dft_page_print(const struct dft_run *run, const struct dft_outcome *outcome);
/* Says how to get the page of a job whose last rank is not known. */
void dft_page_point(const struct dft_run *run);

#endif
