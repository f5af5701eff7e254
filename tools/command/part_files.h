/* SPDX-License-Identifier: MIT */
/* A directory of parts: the names of its files, and the files that may lie there already. */
#ifndef DFT_PART_FILES_H
#define DFT_PART_FILES_H

#include "object/object.h"

/* The name of a process's file. Names sort by rank, and differ for every process. From malloc;
 * NULL: no memory. */
char *dft_part_name(const struct dft_source_process *process, const char *ending);

/* Is the file one of those that the source reads? */
int dft_is_input(struct dft_source *source, const char *path);

/* Makes the directory when it does not exist. Says on stderr why it refuses a directory (-EEXIST).
 * It refuses other files that readers of these parts would read with the parts. These are traces,
 * where the parts are traces, else files with the same ending. It also refuses to replace an input.
 * `names`: the files that will be written, and that may be replaced. Called on rank 0. Returns 0 or
 * -errno. */
int dft_part_directory(struct dft_source *source, const char *directory, const char *ending, char *const *names,
                       size_t count);

#endif
