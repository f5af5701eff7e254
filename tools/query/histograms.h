/* SPDX-License-Identifier: MIT */
/* Histograms of how long calls took and of the bytes that they requested. */
#ifndef DFT_HISTOGRAMS_H
#define DFT_HISTOGRAMS_H

#include "query/answer.h"
#include "views/filter.h"

/* Durations lie in octaves: number k is from 2^k ns to below 2^(k+1) ns, number 0 from 0 ns on. */
#define DFT_OCTAVES 64u

/* The histograms of one group. */
struct dft_histogram {
    uint64_t octaves[DFT_OCTAVES]; /* durations: a run of calls that is one event has one */
    uint64_t counted;              /* of these in octaves: less than the group's samples, where aggregates lack some */
    struct dft_totals sizes[DFT_SIZE_CLASSES];
};

/* The groups of --by, or all I/O as one group. They are on rank 0. */
struct dft_histograms {
    struct dft_answer parts;  /* the groups by size class, in order of their keys */
    struct dft_answer groups; /* in order of --sort, the first of --top; its arrays are those of `parts` */
    struct dft_bin *bins;     /* of these */
};

/* Asks for at most `order->top` groups (0: all) of a query, or for all I/O as one group (is_one). Returns 0, -ENOMEM,
 * or -E2BIG: the groups need too much memory. Collective. The caller calls dft_histograms_fini, whatever is
 * returned. */
int dft_histograms_ask(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                       int is_one, const struct dft_order *order, struct dft_histograms *histograms);
void dft_histograms_fini(struct dft_histograms *histograms);
/* The histograms of a group. */
void dft_histogram_of(const struct dft_histograms *histograms, const struct dft_group *group,
                      struct dft_histogram *histogram);

#endif
