/* SPDX-License-Identifier: MIT */
/* Texts with something for every event, in order: a directory with a file for each process. All
 * ranks write. */
#ifndef DFT_EVENT_PARTS_H
#define DFT_EVENT_PARTS_H

#include <stdio.h>

#include "views/filter.h"
#include "object/object.h"

struct dft_event_parts {
    struct dft_source *source;
    const struct dft_filter *filter;
    const char *ending; /* ending of the files' names; files with .gz are compressed */
    int outer_first;    /* dft_ordering_outer_first */
    /* where the functions below find the stream to write to; they need not check the stream's
     * errors */
    FILE **out;
    /* context of the functions below. They return 0 or -errno; head and tail may be NULL */
    void *context;
    int (*head)(void *context, const struct dft_source_process *process);
    int (*event)(void *context, const struct dft_event_at *at);
    int (*tail)(void *context, const struct dft_source_process *process);
};

/* Writes the files of all processes that pass the filter. Every rank writes files of about the same
 * bytes of traces. The files do not depend on the number of ranks. Each file is made whole or not
 * at all. Collective. Returns 0 or -errno, the same on all ranks. stderr tells every error but
 * -ENOMEM. */
int dft_event_parts_write(const struct dft_event_parts *parts, const char *directory);

#endif
