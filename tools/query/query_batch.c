/* SPDX-License-Identifier: MIT */
/* The events of a batch that belong to groups: each group is a call of its own for the aggregator's table, and its events
 * are added together (a counting sort by call), so that a row and its histogram are in the cache while they are filled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_inside.h"

#define CALLS_MAX DFT_BLOCK_EVENTS_MAX /* blocks of other writers may hold more events, and more groups */
#define SLOTS     (2u * CALLS_MAX)

int dft_placing_reserve(struct dft_placing *placing, uint32_t events)
{
    if (!placing->calls)
        placing->calls = malloc(CALLS_MAX * sizeof *placing->calls);
    if (!placing->slots)
        placing->slots = malloc(SLOTS * sizeof *placing->slots);
    if (!placing->counts)
        placing->counts = malloc(CALLS_MAX * sizeof *placing->counts);
    if (!placing->placed)
        placing->placed = calloc(DFT_PLACED, sizeof *placing->placed);
    if (events > placing->capacity) {
        free(placing->listed);
        free(placing->order);
        placing->listed = malloc(events * sizeof *placing->listed);
        placing->order = malloc(events * sizeof *placing->order);
        placing->capacity = placing->listed && placing->order ? events : 0;
    }
    if (!placing->calls || !placing->slots || !placing->counts || !placing->placed || events > placing->capacity)
        return -ENOMEM;
    return 0;
}

void dft_placing_begin(struct dft_placing *placing)
{
    memset(placing->slots, 0, SLOTS * sizeof *placing->slots);
    placing->ncalls = placing->nlisted = 0;
    placing->batch++;
}

void dft_placing_fini(struct dft_placing *placing)
{
    free(placing->calls);
    free(placing->slots);
    free(placing->counts);
    free(placing->listed);
    free(placing->order);
    free(placing->placed);
    *placing = (struct dft_placing){0};
}

int dft_placing_call(struct dft_placing *placing, uint32_t group, uint8_t op, uint32_t *position)
{
    uint32_t i = (group * 64u + op) * 2654435761u;

    for (;; i++) {
        uint32_t *slot = &placing->slots[i % SLOTS];
        struct dft_call *call;

        if (!*slot) {
            if (placing->ncalls == CALLS_MAX)
                return -EAGAIN;
            placing->calls[placing->ncalls] = (struct dft_call){.id = DFT_SUBJECT(group), .op = op};
            placing->counts[placing->ncalls] = 0;
            *slot = ++placing->ncalls;
            *position = *slot - 1;
            return 0;
        }
        call = &placing->calls[*slot - 1];
        if (call->id == DFT_SUBJECT(group) && call->op == op) {
            *position = *slot - 1;
            return 0;
        }
    }
}

int dft_placing_flush(struct dft_placing *placing, const struct dft_batch *batch, struct dft_table *table)
{
    struct dft_batch groups = *batch;
    uint32_t sum = 0;

    groups.calls = placing->calls;
    groups.ncalls = placing->ncalls;
    if (placing->ncalls <= 1)
        return dft_table_add_ordered(table, &groups, placing->listed, placing->nlisted);
    for (uint32_t i = 0; i < placing->ncalls; i++) {
        uint32_t count = placing->counts[i];

        placing->counts[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < placing->nlisted; i++) {
        uint32_t event = placing->listed[i];

        placing->order[placing->counts[batch->events[event].call]++] = event;
    }
    return dft_table_add_ordered(table, &groups, placing->order, placing->nlisted);
}
