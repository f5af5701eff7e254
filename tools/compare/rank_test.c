/* SPDX-License-Identifier: MIT */
/* Owns the rank-sum test of Wilcoxon, Mann and Whitney, in integers. */
#include "compare/rank_test.h"

#include <stdlib.h>

#define CHANCE 10828 /* 1000 z^2 of one in a thousand, two-sided: z = 3.2905 */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Twice the rank sum of a's values among both, equal ones having the mean of their ranks; *ties:
 * the sum of t^3 - t over groups of t equal values. Both lists are sorted. */
static uint64_t rank_sum(const uint64_t *a, uint64_t n, const uint64_t *b, uint64_t m, uint64_t *ties)
{
    uint64_t i = 0, j = 0, twice = 0;

    *ties = 0;
    while (i < n || j < m) {
        uint64_t value = j >= m || (i < n && a[i] < b[j]) ? a[i] : b[j], from_i = i, from = i + j, t;

        while (i < n && a[i] == value)
            i++;
        while (j < m && b[j] == value)
            j++;
        t = i + j - from;
        *ties += t * t * t - t;
        twice += (i - from_i) * (2 * from + t + 1);
    }
    return twice;
}

int dft_rank_test(uint64_t *a, uint32_t n, uint64_t *b, uint32_t m)
{
    __int128 all = (__int128)n + m, middle = (__int128)n * m, twice_u, distance, spread;
    uint64_t ties, ranks;

    if (n < DFT_RANK_TEST_MIN || m < DFT_RANK_TEST_MIN)
        return 2;
    qsort(a, n, sizeof *a, ascending);
    qsort(b, m, sizeof *b, ascending);
    ranks = rank_sum(a, n, b, m, &ties);
    twice_u = (__int128)ranks - (__int128)n * (n + 1);
    distance = (twice_u < middle ? middle - twice_u : twice_u - middle) - 1;
    if (distance <= 0)
        return 0;
    spread = 4 * middle * ((all + 1) * all * (all - 1) - ties);
    if (distance * distance * 12 * all * (all - 1) * 1000 <= CHANCE * spread)
        return 0;
    return twice_u < middle ? 1 : -1;
}
