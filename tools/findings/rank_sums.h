/* SPDX-License-Identifier: MIT */
/* Calls of each rank, added up. */
#ifndef DFT_FINDING_RANK_SUMS_H
#define DFT_FINDING_RANK_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct dft_metrics;

struct dft_rank_sum {
    int64_t rank;
    uint64_t time_ns, calls, bytes;
};

/* All zero at first; the caller frees the list. */
struct dft_rank_sums {
    struct dft_rank_sum *list;
    size_t count, capacity;
    uint64_t time_ns, bytes; /* of all */
};

/* Adds calls of a rank; a rank below 0 is none. Returns 0 or -ENOMEM. */
int dft_rank_sums_add(struct dft_rank_sums *sums, int64_t rank, const struct dft_metrics *metrics);
/* Takes away calls that were added before. */
void dft_rank_sums_take(struct dft_rank_sums *sums, int64_t rank, const struct dft_metrics *metrics);
/* Descending by time. */
void dft_rank_sums_sort(struct dft_rank_sums *sums);

#endif
