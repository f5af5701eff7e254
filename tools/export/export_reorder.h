/* SPDX-License-Identifier: MIT */
/* A reorder buffer. Slices of a thread that begin at the same time must come outermost first.
 * Events of one start wait in this buffer until the next start, and are sorted then. */
#ifndef DFT_EXPORT_REORDER_H
#define DFT_EXPORT_REORDER_H

#include "export/export_nesting.h"
#include "format/event.h"
#include "object/object.h"

struct dft_reorder_event {
    struct dft_event_at at;
    struct dft_event event;
    size_t args; /* position in the list of arguments */
};

struct dft_reorder {
    void (*emit)(void *context, const struct dft_event_at *at);
    void *context;
    struct dft_reorder_event *events;
    struct dft_arg *args;
    /* texts of string arguments; an argument holds its text's position until the event is passed on */
    char *texts;
    size_t count, capacity, nargs, args_capacity, ntexts, texts_capacity;
    struct dft_nesting nesting;
};

/* Adds an event. Events must come in order of start. Returns 0 or -ENOMEM. */
int dft_reorder_add(struct dft_reorder *buffer, const struct dft_event_at *at);
/* Gives the events in the buffer. Callers do so at the end, and before texts of names are
 * forgotten. `buffer` is a struct dft_reorder. */
void dft_reorder_flush(void *buffer);
void dft_reorder_fini(struct dft_reorder *buffer);

#endif
