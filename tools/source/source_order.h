/* SPDX-License-Identifier: MIT */
/* Events in global order with bounded memory: of the whole source, or of a process. */
#ifndef DFT_SOURCE_ORDER_H
#define DFT_SOURCE_ORDER_H

#include <stdint.h>

#include "source/source_object.h"

struct dft_filter;
struct dft_sweep;

/* Gives every event that passes the filter (NULL: all), each once: ordered by start, then process key, tid, stream,
 * sequence. Memory is bounded by time windows (about half a million events; more only when more than that start in the
 * same nanosecond). Decodes in `threads` threads; the callback runs in the caller's thread. For texts of all
 * names see dft_source_names_locate. */
int dft_source_ordered(struct dft_source *source, const struct dft_filter *filter,
                       int (*give)(void *context, const struct dft_event_at *at), void *context);

/* Events window by window (source_window.h). The filter is that of blocks alone. Returns 0, -ENOMEM, or what a callback returned. */
int dft_source_sweep(struct dft_source *source, const struct dft_filter *filter, const struct dft_sweep *sweep);

/* Events in order, by one rank of dftmerge-mpi or by several, each by itself: all names have been located, and the rank can
 * read every block. each_process: of one process at a time, else `process` is not looked at. *timeline is to be destroyed, whatever is returned: 0, -ENOMEM, or what give returned. */
struct dft_timeline;
int dft_timeline_create(struct dft_timeline **timeline, struct dft_source *source, const struct dft_filter *filter,
                        int each_process);
int dft_timeline_give(struct dft_timeline *timeline, uint32_t process,
                      int (*give)(void *context, const struct dft_event_at *at), void *context);
/* Of events of a thread that start together the one around others comes first
 * (dft_enclosing_compare). */
void dft_timeline_outer_first(struct dft_timeline *timeline);
void dft_timeline_destroy(struct dft_timeline *timeline);

/* May a block hold events that pass, and answers for them? */
int dft_source_wants(const struct dft_source *source, const struct dft_filter *filter, const struct dft_block *block);

#endif
