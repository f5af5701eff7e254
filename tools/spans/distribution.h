/* SPDX-License-Identifier: MIT */
/* The distribution of durations. */
#ifndef DFT_SPANS_DISTRIBUTION_H
#define DFT_SPANS_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/write_json.h"

struct dft_spans_point {
    int64_t x, y; /* ns: when, and how long */
};

struct dft_spans_distribution {
    uint64_t n;
    int64_t min, mean, p50, p95, p99, max; /* ns; 0 where n is 0 */
};

/* The distribution of the y of points. A percentile p is the value number ceil(p n / 100), in order. Returns 0 or
 * -ENOMEM. */
int dft_spans_distribution_make(struct dft_spans_distribution *distribution, const struct dft_spans_point *points,
                                size_t count);
/* Puts the members n, min_ns ... max_ns; null where n is 0. */
void dft_spans_distribution_json(struct dft_json *json, const struct dft_spans_distribution *distribution);
/* "n 50, min 0.1 s, ..." in a sentence of a picture. */
#define DFT_SPANS_SENTENCE 256
void dft_spans_distribution_text(char text[DFT_SPANS_SENTENCE], const struct dft_spans_distribution *distribution);
/* The mean to the nearest ns, halves upwards. */
int64_t dft_spans_mean(__int128 sum, uint64_t count);
/* A duration for people, which may be negative. `text`: DFT_TEXT_ROOM + 1. */
const char *dft_spans_duration_text(char *text, int64_t ns);

#endif
