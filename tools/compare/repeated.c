/* SPDX-License-Identifier: MIT */
/* Owns the verdict on a number that repetitions of two sides have. */
#include "compare/repeated.h"

#include <stdlib.h>

#define CHANCE_SURE  1  /* per cent */
#define OUTLIER_PART 4u /* of the median, one in so many */
#define JUDGES       4u /* values that are left without the outlier */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Finds the outlier of sorted values: the end that is further from its neighbour. */
static void find_outlier(const uint64_t *values, uint32_t n, struct dft_repeated *of)
{
    uint64_t below = values[1] - values[0], above = values[n - 1] - values[n - 2];
    uint64_t gap = above > below ? above : below;
    uint64_t low = above > below ? values[0] : values[1], high = above > below ? values[n - 2] : values[n - 1];

    if (gap / DFT_REPEATED_FAR < high - low || gap < of->median / OUTLIER_PART || !gap)
        return;
    of->outlier = above > below ? 1 : -1;
    of->rest_low = low;
    of->rest_high = high;
}

struct dft_repeated dft_repeated_of(uint64_t *values, uint32_t n)
{
    struct dft_repeated of = {.n = n};

    if (!n)
        return of;
    qsort(values, n, sizeof *values, ascending);
    of.low = of.rest_low = values[0];
    of.high = of.rest_high = values[n - 1];
    of.median = values[(n - 1) / 2] + (values[n / 2] - values[(n - 1) / 2]) / 2;
    if (n >= 3)
        find_outlier(values, n, &of);
    return of;
}

double dft_repeated_chance(uint32_t n, uint32_t m)
{
    uint32_t least = n < m ? n : m;
    double ways = 1;

    for (uint32_t i = 1; i <= least; i++)
        ways = ways * (n + m - least + i) / i;
    return 200 / ways;
}

static enum dft_repeated_sure sure_beyond(uint32_t n, uint32_t m, uint64_t distance, uint64_t width)
{
    uint32_t least = n < m ? n : m;
    int is_far = distance / DFT_REPEATED_FAR >= width;

    if ((least >= 3 && is_far) || dft_repeated_chance(n, m) < CHANCE_SURE)
        return DFT_REPEATED_HIGH;
    return least >= 3 || (least >= 2 && is_far) ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
}

/* The range that decides. Returns whether an outlier was left out. */
static int range_of(const struct dft_repeated *of, uint64_t *low, uint64_t *high)
{
    int without = of->outlier && of->n > JUDGES;

    *low = without ? of->rest_low : of->low;
    *high = without ? of->rest_high : of->high;
    return without;
}

int dft_repeated_judge(const struct dft_repeated *a, const struct dft_repeated *b, enum dft_repeated_sure *sure)
{
    const struct dft_repeated *lower = a->median <= b->median ? a : b, *upper = lower == a ? b : a;
    uint64_t distance = upper->median - lower->median, low[2], high[2], width;
    uint32_t least = a->n < b->n ? a->n : b->n;
    int without = range_of(lower, &low[0], &high[0]) | range_of(upper, &low[1], &high[1]);

    *sure = least >= 5 ? DFT_REPEATED_HIGH : least >= 3 ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
    if (!least || a->n + b->n < 3)
        return 2;
    width = high[0] - low[0] > high[1] - low[1] ? high[0] - low[0] : high[1] - low[1];
    if (high[0] >= low[1] || (least < 3 && distance <= width))
        return 0;
    *sure = sure_beyond(a->n, b->n, distance, width);
    if (without && *sure == DFT_REPEATED_HIGH)
        *sure = DFT_REPEATED_MEDIUM;
    return lower == a ? 1 : -1;
}

const char *dft_repeated_sure_name(enum dft_repeated_sure sure)
{
    static const char *const names[] = {"low", "medium", "high"};

    return names[sure];
}
