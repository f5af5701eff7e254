/* SPDX-License-Identifier: MIT */
/* Owns what several repetitions say about an item: medians, ranges, and whether sides differ by
 * more than repetitions do. */
#include "compare/compare.h"

/* A number of all runs of a side that know it. */
static struct dft_repeated gather(const struct dft_comparison *comparison, const struct dft_measured_item *measured,
                                  int side, int measure)
{
    uint64_t values[DFT_REPETITIONS_MAX];
    uint32_t n = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        if (comparison->runs[run].side == side && measured[run].known[measure])
            values[n++] = measured[run].value[measure];
    return dft_repeated_of(values, n);
}

static enum dft_spread judge(struct dft_change *change, const struct dft_repeated of[2], int lossy)
{
    enum dft_repeated_sure sure;
    int higher = dft_repeated_judge(&of[0], &of[1], &sure);

    change->sure = (uint8_t)sure;
    if (higher == 2 || lossy)
        return DFT_SPREAD_UNKNOWN;
    if (of[0].low == of[0].high && of[1].low == of[1].high && of[0].low == of[1].low)
        return DFT_SPREAD_SAME;
    return higher ? DFT_SPREAD_BEYOND : DFT_SPREAD_WITHIN;
}

void dft_compare_repeated(const struct dft_comparison *comparison, struct dft_item *item,
                          const struct dft_measured_item *measured)
{
    struct dft_change *time = &item->changes[DFT_MEASURE_TIME];
    int lossy = 0;

    for (uint32_t run = 0; run < comparison->nruns; run++)
        lossy |= comparison->runs[run].lossy;
    for (int m = 0; m < DFT_MEASURES; m++) {
        struct dft_change *change = &item->changes[m];
        struct dft_repeated of[2];

        for (int side = 0; side < 2; side++) {
            of[side] = gather(comparison, measured, side, m);
            change->value[side] = of[side].median;
            change->low[side] = of[side].low;
            change->high[side] = of[side].high;
            change->known[side] = of[side].n != 0;
        }
        change->spread = (uint8_t)judge(change, of, lossy && m <= DFT_MEASURE_BYTES);
        if (m >= DFT_MEASURE_TIME && change->spread == DFT_SPREAD_BEYOND && dft_change_is_below_floor(change))
            change->spread = DFT_SPREAD_WITHIN;
    }
    item->by_cost = time->spread == DFT_SPREAD_BEYOND;
    if (item->changes[DFT_MEASURE_COUNT].spread == DFT_SPREAD_BEYOND && dft_compare_calls_explain(item) &&
        !dft_change_is_below_floor(time))
        time->spread = DFT_SPREAD_BEYOND;
}
