/* SPDX-License-Identifier: MIT */
/* Chooses intervals. */
#include "spans/intervals.h"

#include "base/svg.h"

#define USUAL 100u

int dft_spans_intervals_make(struct dft_spans_intervals *intervals, const struct dft_spans_asked *asked, int64_t start,
                             int64_t end)
{
    uint64_t span = (uint64_t)(end - start);
    uint64_t width =
        asked->interval_ns ? (uint64_t)asked->interval_ns : dft_scale_step(span ? span : 1, USUAL, DFT_SVG_NS);

    *intervals = (struct dft_spans_intervals){start, end, width, (size_t)(span / width) + 1};
    if (span / width < DFT_SPANS_INTERVALS_MAX)
        return 0;
    fprintf(stderr, "dftmerge %s: --interval: that makes more than %u intervals; choose a longer one\n",
            asked->verb->name, DFT_SPANS_INTERVALS_MAX);
    return DFT_EXIT_USAGE;
}

void dft_spans_intervals_json(struct dft_json *json, const struct dft_spans_intervals *intervals)
{
    dft_json_int(json, "start_ns", intervals->start);
    dft_json_int(json, "end_ns", intervals->end);
    dft_json_uint(json, "width_ns", intervals->width);
}
