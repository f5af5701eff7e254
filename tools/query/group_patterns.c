/* SPDX-License-Identifier: MIT */
/* Patterns of groups by file: from rows of files, and from events by the same arithmetic. */
#include "query/group_patterns.h"

#include <string.h>

#include "aggregator/pattern.h"
#include "format/event.h"
#include "format/ops.h"
#include "query/grouper.h"
#include "query/partial.h"

static struct dft_row empty_row(uint64_t subject)
{
    struct dft_row row = {.kind = DFT_ROW_FILE, .subject = subject};

    dft_metrics_clear(&row.metrics);
    return row;
}

int dft_add_row_pattern(struct dft_worker *worker, const struct dft_row *row, uint32_t group, int is_known)
{
    struct dft_row added = empty_row(DFT_SUBJECT(group));

    if (is_known)
        added.pattern = row->pattern;
    else
        added.metrics.count = 1;
    return added.pattern || !is_known ? dft_table_merge(worker->partial.table, &added) : 0;
}

/* The bytes that an event accessed: [offset, *end). Returns 0: none, or nobody knows where. */
static int accessed(const struct dft_event *event, uint8_t op, uint64_t *end)
{
    enum dft_class class = dft_op_class(op);
    uint64_t bytes, room;

    if (event->err || (class != DFT_CLASS_READ && class != DFT_CLASS_WRITE) || !dft_event_has_offset(event))
        return 0;
    bytes = dft_event_bytes(event, op);
    room = (uint64_t)(INT64_MAX - event->offset);
    *end = (uint64_t)event->offset + (bytes < room ? bytes : room);
    return bytes != 0;
}

int dft_add_event_patterns(struct dft_worker *worker, const struct dft_batch *batch)
{
    const struct dft_grouper *grouper = &worker->grouper;
    const uint32_t *order = grouper->ncalls > 1 ? grouper->order : grouper->listed;
    int rc = 0;

    for (uint32_t i = 0; i < grouper->nlisted && !rc;) {
        const uint32_t number = batch->events[order[i]].call;
        const struct dft_call *call = &grouper->calls[number];
        struct dft_pattern pattern = {0};
        struct dft_row row = empty_row(call->id);

        for (; i < grouper->nlisted && batch->events[order[i]].call == number; i++) {
            const struct dft_event *event = &batch->events[order[i]];
            uint64_t end;

            if (!accessed(event, call->op, &end))
                continue;
            dft_touched_add(&pattern.touched, (uint64_t)event->offset, end);
            row.metrics.data++;
        }
        row.pattern = &pattern;
        if (row.metrics.data)
            rc = dft_table_merge(worker->partial.table, &row);
    }
    return rc;
}

void dft_take_pattern(struct dft_group *group, const struct dft_row *row)
{
    if (row->metrics.count || !row->pattern)
        return;
    group->has_distinct = 1;
    group->distinct_bytes = dft_touched_bytes(&row->pattern->touched);
    group->has_strides = !row->metrics.data;
    memcpy(group->strides, row->pattern->strides, sizeof group->strides);
}
