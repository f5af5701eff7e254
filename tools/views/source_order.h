/* SPDX-License-Identifier: MIT */
/* Gives events in global order with bounded memory, of the whole source or of a process. */
#ifndef DFT_SOURCE_ORDER_H
#define DFT_SOURCE_ORDER_H

#include <stdint.h>

#include "object/object.h"

struct dft_filter;
struct dft_sweep;

/* Gives every event that passes the filter (NULL: all) once. The order is start, then process key,
 * tid, stream, sequence. Time windows of about half a million events bound the memory. A window
 * holds more only when more events start in the same nanosecond. Decodes in `threads` threads. The
 * callback runs in the caller's thread. For texts of all names see dft_source_names_locate. */
int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*emit)(void *context, const struct dft_event_at *at), void *context);

/* Gives events window by window (source_window.h). The filter applies to blocks alone. Returns 0,
 * -ENOMEM, or what a callback returned. */
int dft_source_sweep(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep);

/* Gives events in order, on one rank of dftmerge-mpi or on several, each alone. All names must
 * have been located, and the rank must be able to read every block. each_process: gives the events
 * of one process at a time; otherwise `process` has no effect. The caller destroys *timeline in any
 * case. Both return 0 or -ENOMEM; dft_ordering_emit also what `emit` returned. */
struct dft_ordering;
int dft_ordering_create(struct dft_ordering **timeline, struct dft_source *source, const struct dft_filter *filter,
                        int each_process);
int dft_ordering_emit(struct dft_ordering *timeline, uint32_t process,
                      int (*emit)(void *context, const struct dft_event_at *at), void *context);
/* Puts the enclosing event first among events of a thread that start together
 * (dft_enclosing_compare). */
void dft_ordering_outer_first(struct dft_ordering *timeline);
/* Leaves it to the caller to find the texts of names; the source is not changed then. */
void dft_ordering_without_texts(struct dft_ordering *timeline);
void dft_ordering_destroy(struct dft_ordering *timeline);

/* May a block hold events that pass, and does the block answer for these events? */
int dft_source_wants(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block);

#endif
