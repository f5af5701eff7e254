/* SPDX-License-Identifier: MIT */
/* The verdict on repetitions: by hand, and by the laws that it must keep. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/repeated.h"
#include "suites.h"

#define MOST 9u

struct values {
    uint64_t of[2 * MOST];
    uint32_t n;
};

/* The library sorts what it is given. */
static struct dft_repeated repeated(const struct values *values)
{
    uint64_t copy[2 * MOST];

    memcpy(copy, values->of, sizeof copy);
    return dft_repeated_of(copy, values->n);
}

static int judge(const struct values *a, const struct values *b, enum dft_repeated_sure *sure)
{
    const struct dft_repeated x = repeated(a), y = repeated(b);

    return dft_repeated_judge(&x, &y, sure);
}

static struct values any(void)
{
    struct values values = {.n = 1 + (uint32_t)rand() % MOST};
    uint64_t base = (uint64_t)rand() % 200, width = 1 + (uint64_t)rand() % 60;

    for (uint32_t i = 0; i < values.n; i++)
        values.of[i] = base + (uint64_t)rand() % width;
    return values;
}

static void by_hand(void)
{
    static const struct {
        struct values a, b;
        int judged;
        enum dft_repeated_sure sure;
    } cases[] = {
        {{{100}, 1}, {{200}, 1}, 2, DFT_REPEATED_LOW},                         /* nothing is known */
        {{{100, 104, 102}, 3}, {{200, 204, 207}, 3}, 1, DFT_REPEATED_HIGH},    /* far */
        {{{200, 204, 207}, 3}, {{100, 104, 102}, 3}, -1, DFT_REPEATED_HIGH},   /* the other way */
        {{{100, 120, 110}, 3}, {{140, 160, 150}, 3}, 1, DFT_REPEATED_MEDIUM},  /* twice the range */
        {{{100, 120, 110}, 3}, {{121, 125, 123}, 3}, 0, DFT_REPEATED_MEDIUM},  /* apart by less than the range */
        {{{100, 150, 149}, 3}, {{148, 205, 204}, 3}, 0, DFT_REPEATED_MEDIUM},  /* the ranges meet */
        {{{100, 104}, 2}, {{200, 204}, 2}, 1, DFT_REPEATED_MEDIUM},            /* two and far */
        {{{100, 104}, 2}, {{112, 116}, 2}, 1, DFT_REPEATED_LOW},               /* two and near */
        {{{100}, 1}, {{200, 204, 207}, 3}, 1, DFT_REPEATED_LOW},               /* one has no range */
        {{{1, 2, 3, 4, 5}, 5}, {{7, 8, 9, 10, 11}, 5}, 1, DFT_REPEATED_HIGH},  /* 2 of 252 by chance */
        {{{1, 2, 3, 4, 5}, 5}, {{1, 2, 3, 4, 5}, 5}, 0, DFT_REPEATED_HIGH},    /* the same */
        {{{0}, 0}, {{1, 2}, 2}, 2, DFT_REPEATED_LOW},                          /* a side knows none */
        {{{0, UINT64_MAX}, 2}, {{5, UINT64_MAX - 1}, 2}, 0, DFT_REPEATED_LOW}, /* as wide as can be */
        {{{0, 0}, 2}, {{UINT64_MAX, UINT64_MAX}, 2}, 1, DFT_REPEATED_MEDIUM},  /* as far as can be */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum dft_repeated_sure sure;

        CU_ASSERT_EQUAL(judge(&cases[i].a, &cases[i].b, &sure), cases[i].judged);
        CU_ASSERT_EQUAL(sure, cases[i].sure);
    }
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_chance(3, 3), 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_chance(1, 3), 50, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_chance(5, 5), 200.0 / 252, 1e-9);
}

/* Median and range against sorting by hand. */
static void medians(void)
{
    struct values odd = {{9, 1, 5}, 3}, even = {{8, 2, 4, 6}, 4}, large = {{UINT64_MAX, UINT64_MAX - 2}, 2};

    CU_ASSERT(repeated(&odd).median == 5 && repeated(&odd).low == 1 && repeated(&odd).high == 9);
    CU_ASSERT_EQUAL(repeated(&even).median, 5);
    CU_ASSERT_EQUAL(repeated(&large).median, UINT64_MAX - 1);
}

static void laws(void)
{
    unsigned wrong = 0, told = 0;

    srand(3);
    for (int round = 0; round < 50000; round++) {
        struct values a = any(), b = any(), more = a, twice = a, larger[2] = {a, b};
        enum dft_repeated_sure sure, other;
        int judged = judge(&a, &b, &sure);

        told += judged == 1 || judged == -1;
        /* The sides are alike: to swap them mirrors the answer. */
        wrong += judge(&b, &a, &other) != (judged == 2 ? 2 : -judged) || other != sure;
        /* Only differences matter, not where they lie. */
        for (uint32_t i = 0; i < 2 * MOST; i++) {
            larger[0].of[i] = larger[0].of[i] * 3 + 1000;
            larger[1].of[i] = larger[1].of[i] * 3 + 1000;
        }
        if (a.n % 2 && b.n % 2) /* the middle of two may fall between numbers */
            wrong += judge(&larger[0], &larger[1], &other) != judged || other != sure;
        /* A repetition like the one in the middle, and all of them once more, never make it less
         * sure. */
        more.of[more.n++] = repeated(&a).median;
        memcpy(twice.of + twice.n, a.of, a.n * sizeof *a.of);
        twice.n *= 2;
        if (judged != 2) {
            wrong += judge(&more, &b, &other) != judged || other < sure;
            wrong += judge(&twice, &b, &other) != judged || other < sure;
        }
        /* A difference is never beyond where the medians are closer than a side is wide. */
        if (judged == 1 || judged == -1) {
            const struct dft_repeated x = repeated(&a), y = repeated(&b);
            uint64_t off = x.median > y.median ? x.median - y.median : y.median - x.median;

            wrong += off <= x.high - x.low || off <= y.high - y.low || (x.low <= y.high && y.low <= x.high);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(told > 1000);
}

/* Of sides of one pot, "high" is wrong less than once in a hundred. */
static void chance(void)
{
    for (uint32_t n = 2; n <= 6; n++) {
        unsigned high = 0, rounds = 20000;

        srand(n);
        for (unsigned round = 0; round < rounds; round++) {
            struct values a = {.n = n}, b = {.n = n};
            enum dft_repeated_sure sure;
            int judged;

            for (uint32_t i = 0; i < n; i++) {
                a.of[i] = (uint64_t)(1e6 - 1e5 * log((rand() + 1.0) / (RAND_MAX + 2.0)));
                b.of[i] = (uint64_t)(1e6 - 1e5 * log((rand() + 1.0) / (RAND_MAX + 2.0)));
            }
            judged = judge(&a, &b, &sure);
            high += judged && sure == DFT_REPEATED_HIGH;
        }
        CU_ASSERT(high * 100 < rounds);
    }
}

int suite_repeated(void)
{
    CU_TestInfo tests[] = {
        {"by hand", by_hand}, {"medians", medians}, {"laws", laws}, {"chance", chance}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"repetitions", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
