/* SPDX-License-Identifier: MIT */
/* Moves what a live file holds into the trace of its process. */
#ifndef DFT_RECOVER_H
#define DFT_RECOVER_H

#include <stddef.h>

#include "object/object.h"

/* Gives the blocks that a process could not write and that no block of its live file replaces.
 * These are a PROCESS, when no input has one, and an END that counts what the live file holds.
 * Gives nothing for a process without a live file, or for a process whose inputs have both. `put`
 * gets one whole block, padding included. A result of `put` other than 0 stops this function.
 * Returns 0, -ENOMEM or that result. */
int dft_recover_records(const struct dft_source *source, const struct dft_source_process *process,
                        int (*put)(void *context, const void *block, size_t bytes), void *context);

/* Appends to the trace of a dead process what only its live file has. Appends also the END that the
 * process could not write. Then removes the live file. A process without a trace gets one beside
 * its live file. A failure is noted, and leaves the trace and the live file as they were. Returns 0
 * or -errno. */
int dft_recover(struct dft_source *source, const struct dft_source_process *process);

#endif
