/* SPDX-License-Identifier: MIT */
/* A text with something for every event, in order: one file, written by one rank. */
#ifndef DFT_EVENT_TEXT_H
#define DFT_EVENT_TEXT_H

#include <stdio.h>

#include "views/filter.h"
#include "object/object.h"

struct dft_event_text {
    struct dft_source *source;
    const struct dft_filter *filter;
    int is_inside;   /* the path is a name in a directory, which the user did not give */
    int unsorted;    /* in the order of the files */
    int outer_first; /* dft_ordering_outer_first */
    /* where the functions below find the stream to write to; they need not check the stream's
     * errors */
    FILE **out;
    /* context of the functions below. They return 0 or -errno; all but `event` may be NULL */
    void *context;
    int (*head)(void *context);
    int (*event)(void *context, const struct dft_event_at *at);
    int (*tail)(void *context);
};

/* Writes the text to `path` on rank 0. Collective: the other ranks give rank 0 the blocks that they
 * alone can read. Returns 0 or -errno, the same on all ranks. */
int dft_event_text_write(const struct dft_event_text *text, const char *path);

#endif
