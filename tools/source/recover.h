/* SPDX-License-Identifier: MIT */
/* Moves what a live file holds into the trace of its process. */
#ifndef DFT_RECOVER_H
#define DFT_RECOVER_H

#include <stddef.h>

#include "source/source_object.h"

/* Gives the blocks that a process could not write and that no block of its live file says: a PROCESS when no input
 * has one, and an END that counts what the live file holds. Nothing for a process without a live file, or that has
 * them. `put` gets one whole block, padding included; what it returns other than 0 ends it. Returns 0, -ENOMEM or
 * that. */
int dft_recover_records(const struct dft_source *source, const struct dft_source_process *process,
                        int (*put)(void *context, const void *block, size_t bytes), void *context);

/* Appends to the trace of a dead process what only its live file has, and the END that it could not write, then
 * removes the live file. Without a trace, one is made beside the live file. Whatever fails is noted, and leaves the
 * trace and the live file as they were. Returns 0 or -errno. */
int dft_recover(struct dft_source *source, const struct dft_source_process *process);

#endif
