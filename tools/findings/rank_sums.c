/* SPDX-License-Identifier: MIT */
/* Adds up calls by rank. */
#include "findings/rank_sums.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/row.h"

int dft_rank_sums_add(struct dft_rank_sums *sums, int64_t rank, const struct dft_metrics *metrics)
{
    size_t i = 0;

    if (rank < 0 || !metrics->count)
        return 0;
    while (i < sums->count && sums->list[i].rank != rank)
        i++;
    if (i == sums->count &&
        DFT_ARRAY_PUSH(sums->list, sums->capacity, sums->count, (struct dft_rank_sum){.rank = rank}))
        return -ENOMEM;
    sums->list[i].time_ns += metrics->dur_sum;
    sums->list[i].calls += metrics->count;
    sums->list[i].bytes += metrics->bytes;
    sums->time_ns += metrics->dur_sum;
    sums->bytes += metrics->bytes;
    return 0;
}

void dft_rank_sums_take(struct dft_rank_sums *sums, int64_t rank, const struct dft_metrics *metrics)
{
    for (size_t i = 0; i < sums->count; i++) {
        if (sums->list[i].rank != rank)
            continue;
        sums->list[i].time_ns -= metrics->dur_sum;
        sums->list[i].calls -= metrics->count;
        sums->list[i].bytes -= metrics->bytes;
        sums->time_ns -= metrics->dur_sum;
        sums->bytes -= metrics->bytes;
    }
}

static int by_time(const void *left, const void *right)
{
    const struct dft_rank_sum *a = left, *b = right;

    return a->time_ns < b->time_ns ? 1 : a->time_ns > b->time_ns ? -1 : a->rank < b->rank ? -1 : a->rank > b->rank;
}

void dft_rank_sums_sort(struct dft_rank_sums *sums)
{
    if (sums->count)
        qsort(sums->list, sums->count, sizeof *sums->list, by_time);
}
