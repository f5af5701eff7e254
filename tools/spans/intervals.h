/* SPDX-License-Identifier: MIT */
/* Intervals of one length over the time of events. */
#ifndef DFT_SPANS_INTERVALS_H
#define DFT_SPANS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/write_json.h"
#include "spans/asked.h"

#define DFT_SPANS_INTERVALS_MAX 100000u

struct dft_spans_intervals {
    int64_t start, end; /* of the first event, and of the last one */
    uint64_t width;     /* ns; interval i is [start + i * width, start + (i + 1) * width) */
    size_t count;       /* the last one holds `end` */
};

/* By --interval, else a round width with about 100 intervals. Returns 0, or DFT_EXIT_USAGE after an
 * error. */
int dft_spans_intervals_make(struct dft_spans_intervals *intervals, const struct dft_spans_asked *asked, int64_t start,
                             int64_t end);
static inline size_t dft_spans_interval_of(const struct dft_spans_intervals *intervals, int64_t ns)
{
    return (size_t)((uint64_t)(ns - intervals->start) / intervals->width);
}
/* How much of an interval lies before the last event. */
static inline uint64_t dft_spans_interval_ns(const struct dft_spans_intervals *intervals, size_t i)
{
    uint64_t left = (uint64_t)(intervals->end - intervals->start) - i * intervals->width;

    return left < intervals->width ? left : intervals->width;
}
/* Puts the members start_ns, end_ns and width_ns. */
void dft_spans_intervals_json(struct dft_json *json, const struct dft_spans_intervals *intervals);

#endif
