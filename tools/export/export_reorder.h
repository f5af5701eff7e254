/* SPDX-License-Identifier: MIT */
/* Slices of a thread that begin at the same time must come outermost first: events of one start wait in this buffer, and
 * are sorted, until the next start. */
#ifndef DFT_EXPORT_REORDER_H
#define DFT_EXPORT_REORDER_H

#include "source/source_object.h"

struct dft_reorder_event {
    struct dft_event_at at;
    struct dft_event event;
    size_t args; /* position in the list of arguments */
};

struct dft_reorder {
    void (*give)(void *context, const struct dft_event_at *at);
    void *context;
    struct dft_reorder_event *events;
    struct dft_arg *args;
    char *texts; /* of string arguments; positions stand in their bytes until they are given */
    size_t count, capacity, nargs, args_capacity, ntexts, texts_capacity;
};

/* Events come in order of start. Returns 0 or -ENOMEM. */
int dft_reorder_add(struct dft_reorder *buffer, const struct dft_event_at *at);
/* Visits what is in the buffer: at the end, and before texts of names are forgotten. `buffer` is a struct dft_reorder. */
void dft_reorder_flush(void *buffer);
void dft_reorder_fini(struct dft_reorder *buffer);

#endif
