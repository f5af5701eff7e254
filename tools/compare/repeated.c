/* SPDX-License-Identifier: MIT */
/* Owns the verdict on a number that repetitions of two sides have. */
#include "compare/repeated.h"

#include <stdlib.h>

#define CHANCE_SURE 1 /* per cent */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

struct dft_repeated dft_repeated_of(uint64_t *values, uint32_t n)
{
    struct dft_repeated of = {.n = n};

    if (!n)
        return of;
    qsort(values, n, sizeof *values, ascending);
    of.low = values[0];
    of.high = values[n - 1];
    of.median = values[(n - 1) / 2] + (values[n / 2] - values[(n - 1) / 2]) / 2;
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

int dft_repeated_judge(const struct dft_repeated *a, const struct dft_repeated *b, enum dft_repeated_sure *sure)
{
    const struct dft_repeated *lower = a->median <= b->median ? a : b, *upper = lower == a ? b : a;
    uint64_t distance = upper->median - lower->median, one = a->high - a->low, other = b->high - b->low;
    uint64_t width = one > other ? one : other;
    uint32_t least = a->n < b->n ? a->n : b->n;

    *sure = least >= 5 ? DFT_REPEATED_HIGH : least >= 3 ? DFT_REPEATED_MEDIUM : DFT_REPEATED_LOW;
    if (!least || a->n + b->n < 3)
        return 2;
    if (lower->high >= upper->low || distance <= width)
        return 0;
    *sure = sure_beyond(a->n, b->n, distance, width);
    return lower == a ? 1 : -1;
}

const char *dft_repeated_sure_name(enum dft_repeated_sure sure)
{
    static const char *const names[] = {"low", "medium", "high"};

    return names[sure];
}
