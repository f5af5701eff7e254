/* SPDX-License-Identifier: MIT */
/* The log-linear bins of duration and size histograms, and percentiles defined on them.
 *
 * v < 64: bin v; else with e = floor(log2 v) - 5: bin 32 e + (v >> e). Relative width at most 1/32
 * (error of the middle 1.6 %). Percentile p of n counted values: the bin that holds rank max(1,
 * ceil(p n / 100)), its middle rounded down, clamped to [min, max]. */
#ifndef DFT_HISTOGRAM_H
#define DFT_HISTOGRAM_H

#include <stdint.h>

#define DFT_BINS 1920u /* bins of 64-bit values: 32 * 58 + 63 + 1 */

static inline uint32_t dft_bin_of(uint64_t value)
{
    unsigned e;

    if (value < 64)
        return (uint32_t)value;
    e = 58u - (unsigned)__builtin_clzll(value);
    return 32u * e + (uint32_t)(value >> e);
}

/* Smallest value of a bin, and the number of values in it. */
static inline uint64_t dft_bin_low(uint32_t bin)
{
    return bin < 64 ? bin : (uint64_t)(32 + bin % 32) << (bin / 32 - 1);
}

static inline uint64_t dft_bin_width(uint32_t bin)
{
    return bin < 64 ? 1 : UINT64_C(1) << (bin / 32 - 1);
}

static inline uint64_t dft_bin_middle(uint32_t bin)
{
    return dft_bin_low(bin) + (dft_bin_width(bin) - 1) / 2;
}

#endif
