/* SPDX-License-Identifier: MIT */
/* Finds the event that another event lies in. Each thread has a list of events that may enclose the
 * next event, with their numbers.
 *
 * Events are put in the order of dft_enclosing_compare: an enclosing event comes before the events
 * in it. One thread at a time. */
#ifndef DFT_ENCLOSING_H
#define DFT_ENCLOSING_H

#include "base/map.h"
#include "object/object.h"

/* An event, with what its place in the order and the events in it need. */
struct dft_enclosing_event {
    uint64_t start_ns, end_ns;
    uint64_t call, sequence;
    uint64_t number; /* number of its line */
    uint32_t process, tid, stream;
    uint16_t depth;
};

struct dft_enclosing_thread;
struct dft_enclosing {
    struct dft_map numbers; /* process and thread -> position + 1 */
    struct dft_enclosing_thread *threads;
    uint32_t count, capacity;
};

struct dft_enclosing_event dft_enclosing_event(const struct dft_event *event, uint64_t call, uint64_t sequence,
                                               const struct dft_block *block);

/* Orders events by start. Among events of a thread that start together, the enclosing event comes
 * first. The enclosing event has the later end, or the lower depth. The order is total. */
int dft_enclosing_compare(const struct dft_enclosing_event *a, const struct dft_enclosing_event *b);

/* Returns 0 or -ENOMEM. */
int dft_enclosing_put(struct dft_enclosing *enclosing, const struct dft_enclosing_event *event);
/* The number of the innermost event that this event says it lies in (its region); -1: there is
 * none. */
int64_t dft_enclosing_find(const struct dft_enclosing *enclosing, const struct dft_event_at *at);

void dft_enclosing_clear(struct dft_enclosing *enclosing);
void dft_enclosing_fini(struct dft_enclosing *enclosing);

#endif
