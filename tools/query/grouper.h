/* SPDX-License-Identifier: MIT */
/* The groups of the events of one batch. Each group is a call of its own for the aggregator's
 * table. */
#ifndef DFT_GROUPER_H
#define DFT_GROUPER_H

#include "aggregator/aggregate.h"
#include "base/map.h"

struct dft_batch;

#define DFT_NO_GROUP UINT32_MAX

/* The last group of what looks alike in a batch; group_keys.c. */
struct dft_grouper_memo {
    uint64_t file, stack, region, time;
    uint64_t batch;    /* which batch it holds for */
    uint32_t call;     /* of the batch */
    uint32_t position; /* of the group among the calls for the table; DFT_NO_GROUP: there is none */
    uint32_t facets;
};
#define DFT_GROUPER_MEMO 1024u

/* Calls of a group in a batch: all, and by their size class; and the time of those that are I/O. */
struct dft_grouper_sums {
    uint64_t calls, sizes[DFT_SIZE_CLASSES], io_ns;
};

/* The batch being counted: its groups as calls for the table, and the events that belong to one;
 * grouper.c. */
struct dft_grouper {
    struct dft_call *calls;
    uint32_t ncalls;
    uint32_t *slots;                        /* (group, op) -> position + 1 in calls */
    uint32_t *counts;                       /* of each call: events; then where those that come next go */
    uint32_t (*accesses)[DFT_ACCESS_COUNT]; /* of each call: events, while they are counted */
    struct dft_grouper_sums *sums;          /* ... likewise */
    uint32_t *listed;                       /* the events */
    uint32_t *order;                        /* the events, those of one call together */
    uint32_t nlisted, capacity;
    struct dft_grouper_memo *memo;
    uint64_t batch;
};

/* Ready for a batch of so many events; anew within it, when positions are used up. 0 or -ENOMEM. */
int dft_grouper_reserve(struct dft_grouper *grouper, uint32_t events);
void dft_grouper_begin(struct dft_grouper *grouper);
void dft_grouper_fini(struct dft_grouper *grouper);
/* Position of (group, op) among the calls for the table; -EAGAIN: there are too many, flush and
 * begin anew. */
int dft_grouper_call(struct dft_grouper *grouper, uint32_t group, uint8_t op, uint32_t *position);
/* Adds how many of the events listed are strided and random accesses. 0 or -ENOMEM. */
int dft_grouper_accesses(struct dft_grouper *grouper, const struct dft_batch *batch, struct dft_table *table);
/* Adds the process of the batch, the size classes of the events listed, and their time in I/O. 0 or -ENOMEM. */
int dft_grouper_members(struct dft_grouper *grouper, const struct dft_batch *batch, uint32_t process,
                        struct dft_map *members);
/* Adds the events listed (their calls are positions now) to the table. 0 or -ENOMEM. */
int dft_grouper_flush(struct dft_grouper *grouper, const struct dft_batch *batch, struct dft_table *table);

#endif
