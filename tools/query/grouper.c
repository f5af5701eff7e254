/* SPDX-License-Identifier: MIT */
/* The events of a batch that belong to groups: each group is a call of its own for the
 * aggregator's table, and its events are added together (a counting sort by call), so that a row
 * and its histogram are in the cache while they are filled. */
#include "query/grouper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/ops.h"
#include "query/partial.h"

#define CALLS_MAX DFT_BLOCK_EVENTS_MAX /* blocks of other writers may hold more events, and more groups */
#define SLOTS     (2u * CALLS_MAX)

int dft_grouper_reserve(struct dft_grouper *grouper, uint32_t events)
{
    if (!grouper->calls)
        grouper->calls = malloc(CALLS_MAX * sizeof *grouper->calls);
    if (!grouper->slots)
        grouper->slots = calloc(SLOTS, sizeof *grouper->slots);
    if (!grouper->counts)
        grouper->counts = malloc(CALLS_MAX * sizeof *grouper->counts);
    if (!grouper->accesses)
        grouper->accesses = calloc(CALLS_MAX, sizeof *grouper->accesses);
    if (!grouper->sums)
        grouper->sums = calloc(CALLS_MAX, sizeof *grouper->sums);
    if (!grouper->memo)
        grouper->memo = calloc(DFT_GROUPER_MEMO, sizeof *grouper->memo);
    if (events > grouper->capacity) {
        free(grouper->listed);
        free(grouper->order);
        grouper->listed = malloc(events * sizeof *grouper->listed);
        grouper->order = malloc(events * sizeof *grouper->order);
        grouper->capacity = grouper->listed && grouper->order ? events : 0;
    }
    if (!grouper->calls || !grouper->slots || !grouper->counts || !grouper->accesses || !grouper->sums ||
        !grouper->memo || events > grouper->capacity)
        return -ENOMEM;
    return 0;
}

/* Where the search for its slot begins. */
static uint32_t place_of(uint64_t subject, uint8_t op)
{
    return ((uint32_t)DFT_GROUP(subject) * 64u + op) * 2654435761u;
}

/* Empties the slots in use: mostly few of them are. */
void dft_grouper_begin(struct dft_grouper *grouper)
{
    for (uint32_t call = 0; call < grouper->ncalls; call++) {
        uint32_t i = place_of(grouper->calls[call].id, grouper->calls[call].op);

        while (grouper->slots[i % SLOTS] != call + 1)
            i++;
        grouper->slots[i % SLOTS] = 0;
    }
    grouper->ncalls = grouper->nlisted = 0;
    grouper->batch++;
}

void dft_grouper_fini(struct dft_grouper *grouper)
{
    free(grouper->calls);
    free(grouper->slots);
    free(grouper->counts);
    free(grouper->listed);
    free(grouper->order);
    free(grouper->memo);
    free(grouper->accesses);
    free(grouper->sums);
    *grouper = (struct dft_grouper){0};
}

int dft_grouper_call(struct dft_grouper *grouper, uint32_t group, uint8_t op, uint32_t *position)
{
    uint32_t i = place_of(DFT_SUBJECT(group), op);

    for (;; i++) {
        uint32_t *slot = &grouper->slots[i % SLOTS];
        struct dft_call *call;

        if (!*slot) {
            if (grouper->ncalls == CALLS_MAX)
                return -EAGAIN;
            grouper->calls[grouper->ncalls] =
                (struct dft_call){.id = DFT_SUBJECT(group), .op = op, .io = (uint8_t)dft_op_io(op)};
            grouper->counts[grouper->ncalls] = 0;
            *slot = ++grouper->ncalls;
            *position = *slot - 1;
            return 0;
        }
        call = &grouper->calls[*slot - 1];
        if (call->id == DFT_SUBJECT(group) && call->op == op) {
            *position = *slot - 1;
            return 0;
        }
    }
}

int dft_grouper_accesses(struct dft_grouper *grouper, const struct dft_batch *batch, struct dft_table *table)
{
    int rc = 0;

    for (uint32_t i = 0; i < grouper->nlisted; i++) {
        const struct dft_event *event = &batch->events[grouper->listed[i]];

        grouper->accesses[event->call][dft_facets_access(dft_event_facets(event, grouper->calls[event->call].op))]++;
    }
    for (uint32_t call = 0; call < grouper->ncalls && !rc; call++) {
        struct dft_row row = {.kind = DFT_ROW_CALL, .subject = grouper->calls[call].id};

        dft_metrics_clear(&row.metrics);
        row.metrics.strided = grouper->accesses[call][DFT_ACCESS_STRIDED];
        row.metrics.random = grouper->accesses[call][DFT_ACCESS_RANDOM];
        memset(grouper->accesses[call], 0, sizeof grouper->accesses[call]);
        if (row.metrics.strided || row.metrics.random)
            rc = dft_table_merge(table, &row);
    }
    return rc;
}

int dft_grouper_members(struct dft_grouper *grouper, const struct dft_batch *batch, uint32_t process,
                        struct dft_map *members)
{
    int rc = 0;

    for (uint32_t i = 0; i < grouper->nlisted; i++) {
        const struct dft_event *event = &batch->events[grouper->listed[i]];
        struct dft_grouper_sums *sums = &grouper->sums[event->call];

        sums->calls += event->calls;
        sums->sizes[dft_facets_size_class(dft_event_facets(event, grouper->calls[event->call].op))] += event->calls;
    }
    for (uint32_t call = 0; call < grouper->ncalls && !rc; call++) {
        struct dft_grouper_sums *sums = &grouper->sums[call];
        uint32_t group = (uint32_t)DFT_GROUP(grouper->calls[call].id);

        rc = dft_members_add(members, group, process, sums->calls);
        rc = rc ? rc : dft_members_add(members, group, DFT_MEMBER_IO, sums->io_ns);
        for (uint32_t size = DFT_SIZE_CLASS_NONE + 1; size < DFT_SIZE_CLASSES && !rc; size++)
            rc = dft_members_add(members, group, DFT_MEMBER_SIZE(size), sums->sizes[size]);
        memset(sums, 0, sizeof *sums);
    }
    return rc;
}

int dft_grouper_flush(struct dft_grouper *grouper, const struct dft_batch *batch, struct dft_table *table)
{
    struct dft_batch groups = *batch;
    uint32_t sum = 0;

    groups.calls = grouper->calls;
    groups.ncalls = grouper->ncalls;
    if (grouper->ncalls <= 1)
        return dft_table_add_ordered(table, &groups, grouper->listed, grouper->nlisted);
    for (uint32_t i = 0; i < grouper->ncalls; i++) {
        uint32_t count = grouper->counts[i];

        grouper->counts[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < grouper->nlisted; i++) {
        uint32_t event = grouper->listed[i];

        grouper->order[grouper->counts[batch->events[event].call]++] = event;
    }
    return dft_table_add_ordered(table, &groups, grouper->order, grouper->nlisted);
}
