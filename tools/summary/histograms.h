/* SPDX-License-Identifier: MIT */
/* Histograms of how long calls took and of the bytes that they asked for. */
#ifndef DFT_HISTOGRAMS_H
#define DFT_HISTOGRAMS_H

#include "base/write_json.h"
#include "summary/summary.h"

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

/* Is --hist asked for in a way that it cannot be answered? Says why on stderr. Returns 0 or
 * -EINVAL. */
int dft_histograms_check(const struct dft_summary *summary);
/* Asks for at most `top` groups (0: all). Returns 0, -ENOMEM, or -E2BIG: the groups need too much
 * memory. Collective. The caller calls dft_histograms_fini, whatever is returned. */
int dft_histograms_ask(struct dft_summary *summary, uint64_t top, struct dft_histograms *histograms);
void dft_histograms_fini(struct dft_histograms *histograms);
/* The histograms of a group. */
void dft_histogram_of(const struct dft_histograms *histograms, const struct dft_group *group,
                      struct dft_histogram *histogram);
/* Asks, and prints them: durations at the left, sizes at the right. Returns as
 * dft_histograms_ask. */
int dft_histograms_print(struct dft_summary *summary);
/* Asks, and writes the member "histograms". Returns as dft_histograms_ask. */
int dft_histograms_json(struct dft_json *json, struct dft_summary *summary);

#endif
