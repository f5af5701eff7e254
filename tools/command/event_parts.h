/* SPDX-License-Identifier: MIT */
/* Texts with something for every event, in order: a directory with a file for each process, written by all ranks. */
#ifndef DFT_EVENT_PARTS_H
#define DFT_EVENT_PARTS_H

#include <stdio.h>

#include "source/filter.h"
#include "source/source_object.h"

struct dft_event_parts {
    struct dft_source *source;
    const struct dft_filter *filter;
    const char *ending; /* of the files' names; with .gz they are compressed */
    int outer_first;    /* dft_timeline_outer_first */
    FILE **out;         /* where the functions below find the stream to write to; its errors need not be looked at */
    void *context;      /* theirs. They return 0 or -errno; head and tail may be NULL */
    int (*head)(void *context, const struct dft_source_process *process);
    int (*event)(void *context, const struct dft_event_at *at);
    int (*tail)(void *context, const struct dft_source_process *process);
};

/* Writes the files of all processes that pass the filter. Every rank writes some, all of about the same bytes of traces; the
 * files do not depend on the number of ranks. Each is made whole or not at all. Collective. Returns an agreed 0 or -errno,
 * which was said on stderr, but for -ENOMEM. */
int dft_event_parts_write(const struct dft_event_parts *parts, const char *directory);

#endif
