/* SPDX-License-Identifier: MIT */
/* Percentiles of a histogram (histogram.h defines them). */
#include "aggregator/aggregate.h"

/* ceil(p n / 100), at least 1. In integers: a double would be off by one where n is large. */
static uint64_t histogram_rank(uint64_t n, double p)
{
    uint64_t millionths = p >= 100 ? 100000000u : p > 0 ? (uint64_t)(p * 1e6 + 0.5) : 0;
    unsigned __int128 scaled = (unsigned __int128)n * millionths;
    uint64_t rank = (uint64_t)((scaled + 99999999u) / 100000000u);

    return rank ? rank : 1;
}

uint64_t dft_percentile(const struct dft_bin *bins, uint32_t count, double p, uint64_t min, uint64_t max)
{
    uint64_t n = 0, rank, value;
    uint32_t i;

    for (i = 0; i < count; i++)
        n += bins[i].count;
    if (!n)
        return 0;
    rank = histogram_rank(n, p);
    for (i = 0; i + 1 < count && bins[i].count < rank; i++)
        rank -= bins[i].count;
    value = dft_bin_middle(bins[i].bin);
    if (value < min)
        return min;
    return value > max ? max : value;
}
