/* SPDX-License-Identifier: MIT */
/* The columns of a time line: where each lies, and which processes live in it. */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/source_ending.h"
#include "source/source_node.h"

uint64_t dft_timeline_value(const struct dft_timeline_column *column, enum dft_timeline_measure measure)
{
    return measure == DFT_TIMELINE_BYTES   ? column->read + column->written
           : measure == DFT_TIMELINE_CALLS ? column->calls
                                           : column->busy_ns;
}

/* Makes room for so many columns. */
static int reserve_columns(struct dft_timeline *timeline, uint64_t count)
{
    struct dft_timeline_column *bigger;

    if (count <= timeline->count)
        return 0;
    bigger = realloc(timeline->columns, count * sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    memset(bigger + timeline->count, 0, (count - timeline->count) * sizeof *bigger);
    timeline->columns = bigger;
    timeline->count = (uint32_t)count;
    return 0;
}

struct dft_timeline_column *dft_timeline_column_of(struct dft_timeline *timeline, const struct dft_answer *answer,
                                                   const struct dft_group *group, int *rc)
{
    uint64_t start = answer->query.base_ns + group->key.time * answer->query.width_ns, at;

    if (start < timeline->base_ns || start >= timeline->options->filter.to_ns)
        return NULL;
    at = (start - timeline->base_ns) / timeline->width_ns;
    if (at >= 2 * DFT_TIMELINE_COLUMNS_MAX)
        return NULL;
    *rc = reserve_columns(timeline, at + 1);
    return *rc ? NULL : &timeline->columns[at];
}

/* The column that a time of what is asked about lies in. */
static uint32_t column_at(const struct dft_timeline *timeline, uint64_t time_ns)
{
    return time_ns > timeline->base_ns ? (uint32_t)((time_ns - timeline->base_ns) / timeline->width_ns) : 0;
}

int dft_timeline_add_lives(struct dft_timeline *timeline)
{
    const struct dft_filter *filter = &timeline->options->filter;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(timeline->source, &count);
    int rc = timeline->count ? reserve_columns(timeline, column_at(timeline, timeline->end_ns - 1) + UINT64_C(1)) : 0;

    if (rc || !timeline->count)
        return rc;
    for (uint32_t p = 0; p < count; p++) {
        uint64_t start, end;

        if (dft_process_is_node(&processes[p]) || !dft_filter_process(filter, &processes[p]))
            continue;
        dft_process_lifetime(&processes[p], &start, &end);
        start = start < timeline->start_ns ? timeline->start_ns : start;
        end = end > timeline->end_ns ? timeline->end_ns : end;
        if (end < start)
            continue;
        for (uint32_t at = column_at(timeline, start); at < timeline->count && at <= column_at(timeline, end); at++)
            timeline->columns[at].alive++;
    }
    return rc;
}
