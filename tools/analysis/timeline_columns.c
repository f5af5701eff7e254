/* SPDX-License-Identifier: MIT */
/* The columns of a time line: how wide they are, where each lies, and which processes live in it. */
#include "analysis/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/plan_times.h"
#include "judge/source_ending.h"
#include "object/source_node.h"

#define FEW 20u /* fewer intervals of the rows than this are no picture */

/* The least of 1, 2, 5, 10, 20 ... times `unit` with which `span` has at most `columns`. */
static uint64_t nice_width(uint64_t span, uint64_t unit, uint32_t columns)
{
    static const uint8_t steps[] = {1, 2, 5};

    for (uint64_t tens = unit; tens < DFT_INTERVAL_NS_MAX / 10; tens *= 10)
        for (int i = 0; i < 3; i++)
            if (span / (tens * steps[i]) < columns)
                return tens * steps[i];
    return DFT_INTERVAL_NS_MAX;
}

/* Short runs have too few intervals of rows for a picture: their events answer, where all are kept. */
int dft_timeline_choose_width(struct dft_timeline *timeline, uint64_t interval_ns, uint32_t columns)
{
    const struct dft_filter *filter = &timeline->options->filter;
    uint64_t from = timeline->job.start_ns, to = from + timeline->job.wall_ns, unit;
    int rc = dft_query_interval(timeline->source, &timeline->interval_ns);

    if (filter->from_ns > from)
        from = filter->from_ns < to ? filter->from_ns : to;
    to = filter->to_ns < to ? filter->to_ns > from ? filter->to_ns : from : to;
    timeline->start_ns = from;
    timeline->end_ns = to;
    unit = timeline->interval_ns;
    if (!unit || timeline->events || ((to - from) / unit < FEW && dft_source_kept(timeline->source) == DFT_KEPT_ALL))
        unit = 1000;
    timeline->width_ns = interval_ns ? interval_ns : nice_width(to - from, unit, columns);
    if (rc || (to - from) / timeline->width_ns < DFT_TIMELINE_COLUMNS_MAX)
        return rc;
    fprintf(
        stderr,
        "dftmerge timeline: --interval: these are %llu intervals, and at most %u are shown: take a longer interval, "
        "or a part of the time (--from, --to)\n",
        (unsigned long long)((to - from) / timeline->width_ns), DFT_TIMELINE_COLUMNS_MAX);
    return -EINVAL;
}

uint64_t dft_timeline_span(const struct dft_timeline *timeline, uint32_t column, uint32_t columns)
{
    uint64_t from = timeline->base_ns + column * timeline->width_ns, to = from + columns * timeline->width_ns;

    from = from < timeline->start_ns ? timeline->start_ns : from;
    to = to > timeline->end_ns ? timeline->end_ns : to;
    return to > from ? to - from : 1;
}

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

/* The column that a time of what is requested lies in. */
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
