/* SPDX-License-Identifier: MIT */
/* The files that a running process writes by its memory, as the tracer does its live file. */
#ifndef DFT_SHARED_FILES_H
#define DFT_SHARED_FILES_H

#include <stdint.h>

/* Visits each shared mapping of a file that the process may write to, until `found` returns nonzero. One that only reads
 * a live file is not its process. `path` is valid while `found` runs. Returns what `found` returned, 0, or -errno: the
 * mappings cannot be read. */
int dft_shared_files_visit(uint32_t pid, int (*found)(void *context, uint64_t device, uint64_t inode, const char *path),
                           void *context);

#endif
