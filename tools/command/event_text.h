/* A text with something for every event, in order, written by all ranks: a head, stretches of events, a tail.
 *
 * Rank 0 writes head and tail; every stretch of time (dft_source_stretches) is read and written by one rank. The bytes are
 * the same however many ranks there are. */
#ifndef DFT_EVENT_TEXT_H
#define DFT_EVENT_TEXT_H

#include <stdio.h>

#include "source/enclosing.h"
#include "source/filter.h"

struct dft_event_text {
    struct dft_source *source;
    const struct dft_filter *filter;
    int unsorted;  /* in the order of the files */
    FILE **out;    /* where the functions below find the stream to write to; its errors need not be looked at */
    void *context; /* theirs. They return 0 or -errno; all but `event` may be NULL */
    int (*head)(void *context);
    int (*event)(void *context, const struct dft_event_at *at);
    int (*pause)(void *context); /* behind the events of a stretch */
    int (*sum)(void *context);   /* of all ranks, when all events were given: collective */
    int (*tail)(void *context);
    /* Lines that have numbers: how many an event gets; where the number of the next one stands; and that of the first one
     * behind the head. NULL: they have none. */
    uint64_t (*lines)(const struct dft_event *event, uint8_t op);
    uint64_t *number, first;
    /* Lines that tell of the number of the event around theirs. What is around others comes first
     * then, and may it be? `event` finds them in `enclosing`, and puts there what may. NULL: lines
     * tell of none. */
    struct dft_enclosing *enclosing;
    int (*encloses)(const struct dft_source_process *process, const struct dft_event *event, uint8_t op);
};

/* Collective. Returns an agreed 0 or -errno. */
int dft_event_text_write(struct dft_event_text *text, const char *path);

#endif
