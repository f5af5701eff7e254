/* SPDX-License-Identifier: MIT */
/* A line of bars for each rank, class, process or role. */
#include "timeline/timeline_output.h"

#include <errno.h>
#include <stdlib.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"

#define TOP_LINES 20u

static uint64_t sum_of(const struct dft_timeline *timeline, const struct dft_timeline_series *series)
{
    return timeline->measure == DFT_TIMELINE_BYTES   ? series->read + series->written
           : timeline->measure == DFT_TIMELINE_CALLS ? series->calls
                                                     : series->time_ns;
}

static int by_sum(const void *left, const void *right, void *context)
{
    const struct dft_timeline_series *const *a = left, *const *b = right;
    uint64_t x = sum_of(context, *a), y = sum_of(context, *b);

    if (x != y)
        return x > y ? -1 : 1;
    return (*a)->id < (*b)->id ? -1 : (*a)->id > (*b)->id;
}

static int print_series(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                        const struct dft_timeline_series *series)
{
    uint64_t sum = sum_of(timeline, series);
    char room[DFT_TEXT_ROOM];

    if (timeline->measure == DFT_TIMELINE_BYTES)
        dft_text_bytes(room, sum);
    else if (timeline->measure == DFT_TIMELINE_CALLS)
        dft_text_count(room, sum);
    else
        dft_text_ns(room, sum);
    if (layout->indent > 20)
        printf("%-*.*s %10s  ", (int)layout->indent - 13, (int)layout->indent - 13, series->name, room);
    else
        printf("%-*.*s ", (int)layout->indent - 1, (int)layout->indent - 1, series->name);
    return dft_timeline_bars(series->values, timeline, layout);
}

int dft_timeline_lines(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout)
{
    const struct dft_timeline_series **sorted = malloc((timeline->nseries + 1) * sizeof *sorted);
    uint64_t top = timeline->top ? timeline->top : TOP_LINES;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], first[2 * DFT_TEXT_ROOM + 24] = "";
    int rc = sorted ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < timeline->nseries; i++)
        sorted[i] = &timeline->series[i];
    if (!rc && timeline->nseries) {
        qsort_r(sorted, timeline->nseries, sizeof *sorted, by_sum, (void *)(uintptr_t)timeline);
        if (top < timeline->nseries)
            snprintf(first, sizeof first, " (the first %s of %s)", dft_text_count(a, top),
                     dft_text_count(b, timeline->nseries));
        dft_print_wrapped("%s by %s, each line in its own scale%s", dft_timeline_measure_word(timeline->measure),
                          dft_by_word(timeline->by), first);
        putchar('\n');
    }
    for (size_t i = 0; !rc && i < timeline->nseries && i < top; i++)
        rc = print_series(timeline, layout, sorted[i]);
    if (!rc && timeline->count) {
        dft_timeline_axis(timeline, layout);
        dft_timeline_footer(timeline, layout);
    }
    free(sorted);
    return rc;
}
