/* SPDX-License-Identifier: MIT */
/* Notes on how processes with live files ended, or that they still run. */
#ifndef DFT_SOURCE_FATES_H
#define DFT_SOURCE_FATES_H

#include <stdio.h>

#include "object/object.h"

#define DFT_SIGNALS 65 /* their numbers are below */

/* Processes that were killed (dft_process_is_killed). */
struct dft_killed {
    uint32_t count, signals[DFT_SIGNALS]; /* by number; 0: it is not known */
};

/* Adds the process if it was killed. */
void dft_killed_add(struct dft_killed *killed, const struct dft_source_process *process);
/* How, behind "killed": " by SIGTERM", " (or left by a raw exit_group)", ": 1 by SIGSEGV, 3 by SIGTERM, 12 by an unknown
 * signal (or left by a raw exit_group)". */
void dft_killed_how(FILE *out, const struct dft_killed *killed);

/* Writes one note for each kind of ending, however many processes ended so. */
void dft_fates_note(struct dft_source *source);

#endif
