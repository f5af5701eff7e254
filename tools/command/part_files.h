/* SPDX-License-Identifier: MIT */
/* A directory of parts: the names of its files, and what may lie there already. */
#ifndef DFT_PART_FILES_H
#define DFT_PART_FILES_H

#include "source/source_object.h"

/* The file of a process: sorted by rank, and different for every process. From malloc; NULL: no memory. */
char *dft_part_name(const struct dft_source_process *process, const char *ending);

/* Makes the directory when it is not there. Refuses (-EEXIST, said on stderr) a directory with other files that readers of
 * these parts would read with them: traces, where the parts are traces, else files with the same ending. Refuses as well to
 * replace an input. `names`: of the files that will be written; they are replaced. On rank 0. Returns 0 or -errno. */
int dft_part_directory(struct dft_source *source, const char *directory, const char *ending, char *const *names,
                       size_t count);

#endif
