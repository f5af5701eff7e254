/* SPDX-License-Identifier: MIT */
/* How processes ended, as far as END records and live files say. */
#ifndef DFT_SOURCE_ENDING_H
#define DFT_SOURCE_ENDING_H

#include <stdint.h>

#include "object/object.h"

/* Records what the live files say about the ends of their processes. The processes must be known.
 * Returns 0 or -ENOMEM. */
int dft_live_processes(struct dft_source *source);
/* Notes these ends. It must be known which events are new. */
void dft_live_notes(struct dft_source *source);
/* Notes processes that wrote more events than the source has. The processes with only some groups
 * must be known. */
void dft_missing_notes(struct dft_source *source);
/* A lower bound for the events that END or the live file says were written, and that no block has. */
uint64_t dft_source_missing(const struct dft_source_process *process);
/* Was its trace removed while it ran, and written again whole? */
int dft_source_was_rewritten(const struct dft_source_process *process);
/* Is this one of the lines? */
int dft_source_has_line(struct dft_text lines, const char *line, size_t length);
/* Notes how many calls DFTRACER_DATA_DIR has left out, if any. */
void dft_source_note_outside(struct dft_source *source);

/* Notes what processes could not do as usual, each such line once. all 0: only those by which calls may be unseen. */
void dft_source_hindrances(struct dft_source *source, int all);

#endif
