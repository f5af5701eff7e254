/* SPDX-License-Identifier: MIT */
/* How processes ended, as far as END records and live files say. */
#ifndef DFT_SOURCE_ENDING_H
#define DFT_SOURCE_ENDING_H

#include <stdint.h>

#include "source/source_object.h"

/* What the live files say about the ends of their processes, after the processes are known. Returns 0 or -ENOMEM. */
int dft_live_processes(struct dft_source *source);
/* What there is to tell about it, when it is known which events are new. */
void dft_live_notes(struct dft_source *source);
/* Which processes wrote more events than are here, when it is known of which only groups are. */
void dft_missing_notes(struct dft_source *source);
/* Events that END says were written, and that no block has: at least so many. */
uint64_t dft_source_missing(const struct dft_source_process *process);
/* Notes how many calls DFTRACER_DATA_DIR has left out, where there are some. */
void dft_source_note_outside(struct dft_source *source);

#endif
