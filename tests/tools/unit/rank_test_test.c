/* SPDX-License-Identifier: MIT */
/* The rank-sum test of `compare`: against all ways to deal the values, and against counting
 * pairs. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/rank_test.h"
#include "suites.h"

#define Z_SQUARE 10.828 /* of one in a thousand, two-sided */

/* The library sorts what it is given. */
static int test_of(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    uint64_t left[64], right[64];

    memcpy(left, a, n * sizeof *a);
    memcpy(right, b, m * sizeof *b);
    return dft_rank_test(left, n, right, m);
}

/* 2 U of a: a pair counts 2 where a's value is larger, 1 where both are equal. */
static int64_t count_pairs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    int64_t twice = 0;

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m; k++)
            twice += a[i] > b[k] ? 2 : a[i] == b[k];
    return twice;
}

/* The same decision in floating point, from pairs. */
static int slow_test(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    double u = (double)count_pairs(a, n, b, m) / 2, middle = (double)n * m / 2, all = n + m, ties = 0, distance;
    uint64_t both[128];

    memcpy(both, a, n * sizeof *a);
    memcpy(both + n, b, m * sizeof *b);
    for (uint32_t i = 0; i < n + m; i++) { /* each value adds its part of t^3 - t */
        double same = 0;

        for (uint32_t k = 0; k < n + m; k++)
            same += both[i] == both[k];
        ties += same * same - 1;
    }
    distance = fabs(u - middle) - 0.5;
    if (distance <= 0 || distance * distance <= Z_SQUARE * n * m / 12 * (all + 1 - ties / (all * (all - 1))))
        return 0;
    return u < middle ? 1 : -1;
}

static void by_hand(void)
{
    const uint64_t low[8] = {1, 2, 3, 4, 5, 6, 7, 8}, high[8] = {9, 10, 11, 12, 13, 14, 15, 16};
    const uint64_t one_lower[8] = {8, 10, 11, 12, 13, 14, 15, 16}, low_9[8] = {1, 2, 3, 4, 5, 6, 7, 9};

    /* U is 0: z = (32 - 0.5) / sqrt(8 * 8 * 17 / 12) = 3.308; with U = 1 it is 3.203; the limit is
     * 3.2905. */
    CU_ASSERT_EQUAL(test_of(low, 8, high, 8), 1);
    CU_ASSERT_EQUAL(test_of(high, 8, low, 8), -1);
    CU_ASSERT_EQUAL(test_of(low_9, 8, one_lower, 8), 0);
    CU_ASSERT_EQUAL(test_of(low, 8, low, 8), 0);
    CU_ASSERT_EQUAL(test_of(low, 7, high, 8), 2);
    CU_ASSERT_EQUAL(test_of(low, 8, high, 7), 2);
    CU_ASSERT_EQUAL(test_of(low, 0, high, 0), 2);
}

/* How likely is a U as far off as this one, over all ways to choose which n of the n + m values are
 * a's? */
static void all_deals(void)
{
    enum { N = 8, M = 9, ALL = N + M };
    static double by_u[N * M + 1];
    double deals = 0;
    int told = 0;

    for (uint32_t mask = 0; mask < 1u << ALL; mask++) {
        uint32_t u = 0, others = 0;

        if (__builtin_popcount(mask) != N)
            continue;
        for (uint32_t i = 0; i < ALL; i++)
            if (mask >> i & 1)
                u += others;
            else
                others++;
        by_u[u]++;
        deals++;
    }
    for (uint32_t from = 0; from <= M; from++) { /* `from` of b's values are below all of a's */
        uint64_t a[N], b[M];
        double beyond = 0;
        uint32_t u = N * from, other = N * M - u;

        for (uint32_t i = 0; i < M; i++)
            b[i] = i < from ? i : 100 + i;
        for (uint32_t i = 0; i < N; i++)
            a[i] = 50 + i;
        for (uint32_t i = 0; i <= N * M; i++)
            beyond += i <= (u < other ? u : other) || i >= (u < other ? other : u) ? by_u[i] : 0;
        told += test_of(a, N, b, M) != 0;
        /* The normal law is a little stricter than the true chance is, at numbers this small. */
        CU_ASSERT_EQUAL(test_of(a, N, b, M) != 0, beyond / deals < 0.0002);
    }
    CU_ASSERT_EQUAL(told, 2);
}

static void counting_pairs(void)
{
    unsigned differ = 0, told = 0;

    for (int round = 0; round < 20000; round++) {
        uint32_t n = 6 + roll(30), m = 6 + roll(30), values = 2 + roll(round % 2 ? 10 : 1000), shift = roll(values);
        uint64_t a[64], b[64], larger_a[64], larger_b[64];
        int result;

        for (uint32_t i = 0; i < n; i++)
            a[i] = roll(values);
        for (uint32_t i = 0; i < m; i++)
            b[i] = roll(values) + (round % 3 ? shift : 0);
        for (uint32_t i = 0; i < 64; i++) { /* only the order of values matters */
            larger_a[i] = i < n ? 3 * a[i] + 7 : 0;
            larger_b[i] = i < m ? 3 * b[i] + 7 : 0;
        }
        result = test_of(a, n, b, m);
        differ += result != (n < 8 || m < 8 ? 2 : slow_test(a, n, b, m));
        differ += result != test_of(larger_a, n, larger_b, m);
        differ += result != (result == 2 ? 2 : -test_of(b, m, a, n));
        told += result == 1 || result == -1;
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(told > 1000);
}

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* How many of all deals of these values have a rank sum as far from its mean, by counting pairs. */
static double dealt(const uint64_t *both, uint32_t n, uint32_t m)
{
    int64_t own = count_pairs(both, n, both + n, m) - (int64_t)n * m;
    double far = 0, all = 0;

    for (uint32_t mask = 0; mask < 1u << (n + m); mask++) {
        uint64_t a[16], b[16];
        uint32_t i = 0, k = 0;

        if ((uint32_t)__builtin_popcount(mask) != n)
            continue;
        for (uint32_t of = 0; of < n + m; of++)
            if (mask >> of & 1)
                a[i++] = both[of];
            else
                b[k++] = both[of];
        far += llabs(count_pairs(a, n, b, m) - (int64_t)n * m) >= llabs(own);
        all++;
    }
    return far / all;
}

static void chances(void)
{
    unsigned differ = 0;

    for (int round = 0; round < 300; round++) {
        uint32_t n = 1 + roll(5), m = 1 + roll(6), values = round % 2 ? 6 : 1000;
        uint64_t both[16];
        double want;
        int higher;

        for (uint32_t i = 0; i < n + m; i++)
            both[i] = roll(values) + (i >= n && round % 3 ? roll(values) : 0);
        want = dealt(both, n, m);
        qsort(both, n, sizeof *both, ascending);
        qsort(both + n, m, sizeof *both, ascending);
        differ += fabs(dft_rank_chance(both, n, both + n, m, &higher) - want) > 1e-9;
        differ += higher != (count_pairs(both, n, both + n, m) < n * m) - (count_pairs(both, n, both + n, m) > n * m);
    }
    CU_ASSERT_EQUAL(differ, 0);
}

/* Where the normal law takes over, it says about the same. */
static void more_than_can_be_counted(void)
{
    for (uint32_t shift = 0; shift < 20; shift += 2) {
        uint64_t a[20], b[21];
        double counted, by_law;
        int higher;

        for (uint32_t i = 0; i < 21; i++) {
            b[i] = 2 * (i + shift) + 1;
            if (i < 20)
                a[i] = 2 * i;
        }
        counted = dft_rank_chance(a, 20, b, 20, &higher);
        for (uint32_t i = 20; i > 10; i--) /* one more in the middle changes little */
            b[i] = b[i - 1];
        by_law = dft_rank_chance(a, 20, b, 21, &higher);
        CU_ASSERT_DOUBLE_EQUAL(by_law, counted, 0.02);
        CU_ASSERT_EQUAL(higher, 1);
    }
}

/* The table of Mann and Whitney, two-sided at 5 %: U as small as this is beyond chance. */
static void table(void)
{
    static const struct {
        uint32_t n, m, u;
    } limits[] = {{5, 5, 2}, {5, 8, 6}, {8, 8, 13}, {10, 12, 29}, {12, 12, 37}, {20, 20, 127}, {4, 4, 0}, {3, 5, 0}};
    double confidence;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CU_ASSERT_EQUAL(dft_rank_trim(limits[i].n, limits[i].m, &confidence), limits[i].u);
        CU_ASSERT(confidence >= 0.95 && confidence < 0.98);
        CU_ASSERT_EQUAL(dft_rank_trim(limits[i].m, limits[i].n, &confidence), limits[i].u);
    }
    CU_ASSERT_EQUAL(dft_rank_trim(3, 3, &confidence), 0);
    CU_ASSERT_DOUBLE_EQUAL(confidence, 0.9, 1e-9);
    CU_ASSERT_EQUAL(dft_rank_trim(40, 40, &confidence), 596); /* 800 - 1.96 sqrt(40 40 81 / 12) */
}

int suite_rank_test(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand},
                           {"all deals", all_deals},
                           {"counting pairs", counting_pairs},
                           {"chances", chances},
                           {"more than can be counted", more_than_can_be_counted},
                           {"table", table},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"rank-sum test", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
