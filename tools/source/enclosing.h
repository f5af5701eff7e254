/* SPDX-License-Identifier: MIT */
/* Which events do others lie in? For each thread those that may be around what comes next, with
 * their numbers.
 *
 * Events are put in the order of dft_enclosing_compare: what is around others comes before them.
 * One thread at a time. */
#ifndef DFT_ENCLOSING_H
#define DFT_ENCLOSING_H

#include "base/map.h"
#include "source/source_object.h"

/* An event, as far as its place in the order and what lies in it need it. */
struct dft_enclosing_event {
    uint64_t start_ns, end_ns;
    uint64_t call, sequence;
    uint64_t number; /* of its line */
    uint32_t process, tid, stream;
    uint16_t depth;
};

struct dft_enclosing_thread;
struct dft_enclosing {
    struct dft_map numbers; /* of process and thread -> position + 1 */
    struct dft_enclosing_thread *threads;
    uint32_t count, capacity;
};

struct dft_enclosing_event dft_enclosing_event(const struct dft_event *event, uint64_t call, uint64_t sequence,
                                               const struct dft_block *block);

/* By start; of those that start together the one that is around others first, in each thread: the
 * later end, the lower depth. A total order. */
int dft_enclosing_compare(const struct dft_enclosing_event *a, const struct dft_enclosing_event *b);

/* Returns 0 or -ENOMEM. */
int dft_enclosing_put(struct dft_enclosing *enclosing, const struct dft_enclosing_event *event);
/* The number of the innermost event that this one says it lies in (its region); -1: there is none. */
int64_t dft_enclosing_find(const struct dft_enclosing *enclosing, const struct dft_event_at *at);

void dft_enclosing_clear(struct dft_enclosing *enclosing);
void dft_enclosing_fini(struct dft_enclosing *enclosing);

#endif
