/* SPDX-License-Identifier: MIT */
/* Owns the rank-sum test of Wilcoxon, Mann and Whitney: in integers, and as a chance. */
#include "compare/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE 10828 /* 1000 z^2 of one in a thousand, two-sided: z = 3.2905 */
#define EXACT  40u   /* values in all, of which all ways to deal them are counted */
#define SUMS   (EXACT * (EXACT + 1) + 1)
#define LEVEL  0.05
#define NORMAL 1.959964 /* z of the level, two-sided */

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

/* --- as a chance ------------------------------------------------------------------------------ */

/* Ways to choose k of some numbers, by their sum. */
struct ways {
    double of[EXACT / 2 + 1][SUMS];
};

/* Adds the numbers one by one: each is chosen, or not. */
static void count_ways(struct ways *ways, const uint32_t *numbers, uint32_t count, uint32_t choose)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < count; i++)
        all += numbers[i];
    for (uint32_t k = 0; k <= choose; k++)
        memset(ways->of[k], 0, (all + 1) * sizeof *ways->of[k]);
    ways->of[0][0] = 1;
    all = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += numbers[i];
        for (uint32_t k = i + 1 < choose ? i + 1 : choose; k && k + count > choose + i; k--) /* the rest must do */
            for (uint32_t sum = numbers[i]; sum <= all; sum++)
                ways->of[k][sum] += ways->of[k - 1][sum - numbers[i]];
    }
}

/* The twofold ranks of all values, equal ones having the mean of theirs. */
static void find_ranks(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, uint32_t *ranks)
{
    for (uint32_t i = 0, j = 0; i < n || j < m;) {
        uint64_t value = j >= m || (i < n && a[i] < b[j]) ? a[i] : b[j];
        uint32_t from = i + j;

        while (i < n && a[i] == value)
            i++;
        while (j < m && b[j] == value)
            j++;
        for (uint32_t k = from; k < i + j; k++)
            ranks[k] = from + 1 + i + j;
    }
}

/* `twice`: the twofold rank sum of a. */
static double exact_chance(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, int64_t twice)
{
    struct ways ways;
    uint32_t ranks[EXACT], choose = n < m ? n : m, all = (n + m) * (n + m + 1);
    int64_t off = llabs(twice - (int64_t)n * (n + m + 1));
    double far = 0, total = 0;

    find_ranks(a, n, b, m, ranks);
    count_ways(&ways, ranks, n + m, choose);
    for (uint32_t sum = 0; sum <= all; sum++) {
        total += ways.of[choose][sum];
        far += llabs(sum - (int64_t)choose * (n + m + 1)) >= off ? ways.of[choose][sum] : 0;
    }
    return far / total;
}

static double normal_chance(uint32_t n, uint32_t m, int64_t twice, uint64_t ties)
{
    double all = (double)n + m, off = (double)llabs(twice - (int64_t)n * (n + m + 1)) - 1;
    double variance = (double)n * m / 3 * (all + 1 - (double)ties / (all * (all - 1))); /* of the twofold sum */

    return off <= 0 || variance <= 0 ? 1 : erfc(off / sqrt(2 * variance));
}

double dft_rank_chance(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m, int *higher)
{
    uint64_t ties;
    int64_t twice = (int64_t)rank_sum(a, n, b, m, &ties), middle = (int64_t)n * (n + m + 1);

    *higher = twice < middle ? 1 : twice > middle ? -1 : 0;
    return n + m <= EXACT ? exact_chance(a, n, b, m, twice) : normal_chance(n, m, twice, ties);
}

uint32_t dft_rank_trim(uint32_t n, uint32_t m, double *confidence)
{
    double pairs = (double)n * m, below, total = 1;
    uint32_t ranks[EXACT], choose = n < m ? n : m, least = choose * (choose + 1) / 2, trim = 0;
    struct ways ways;

    if (n + m > EXACT) {
        *confidence = 1 - LEVEL;
        return (uint32_t)fmax(0, floor(pairs / 2 - NORMAL * sqrt(pairs * (n + m + 1.0) / 12)));
    }
    for (uint32_t i = 0; i < n + m; i++)
        ranks[i] = i + 1;
    count_ways(&ways, ranks, n + m, choose);
    for (uint32_t i = 1; i <= choose; i++)
        total = total * (n + m - choose + i) / i;
    below = ways.of[choose][least]; /* that U is `trim` at most */
    while (2 * (below + ways.of[choose][least + trim + 1]) <= LEVEL * total)
        below += ways.of[choose][least + ++trim];
    *confidence = 1 - 2 * below / total;
    return trim;
}
