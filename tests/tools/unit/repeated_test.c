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
        {{{100}, 1}, {{200}, 1}, 2, DFT_REPEATED_LOW},                        /* nothing is known */
        {{{100, 104, 102}, 3}, {{200, 204, 207}, 3}, 1, DFT_REPEATED_HIGH},   /* far */
        {{{200, 204, 207}, 3}, {{100, 104, 102}, 3}, -1, DFT_REPEATED_HIGH},  /* the other way */
        {{{100, 120, 110}, 3}, {{140, 160, 150}, 3}, 1, DFT_REPEATED_MEDIUM}, /* twice the range */
        {{{100, 120, 110}, 3}, {{121, 125, 123}, 3}, 1, DFT_REPEATED_MEDIUM}, /* the ranges do not meet, by little */
        {{{417, 1040, 383}, 3}, {{83, 65, 152}, 3}, -1, DFT_REPEATED_MEDIUM}, /* ... although one is wide */
        {{{100, 104}, 2}, {{105, 140}, 2}, 0, DFT_REPEATED_LOW},              /* of two, by less than the range */
        {{{10, 11, 12, 13, 99}, 5}, {{20, 21, 22, 23, 24}, 5}, 1, DFT_REPEATED_MEDIUM}, /* an outlier is left out */
        {{{10, 12, 99}, 3}, {{20, 22, 24}, 3}, 0, DFT_REPEATED_MEDIUM},                 /* ... not of three */
        {{{100, 150, 149}, 3}, {{148, 205, 204}, 3}, 0, DFT_REPEATED_MEDIUM},           /* the ranges meet */
        {{{100, 104}, 2}, {{200, 204}, 2}, 1, DFT_REPEATED_MEDIUM},                     /* two and far */
        {{{100, 104}, 2}, {{112, 116}, 2}, 1, DFT_REPEATED_LOW},                        /* two and near */
        {{{100}, 1}, {{200, 204, 207}, 3}, 1, DFT_REPEATED_LOW},                        /* one has no range */
        {{{1, 2, 3, 4, 5}, 5}, {{7, 8, 9, 10, 11}, 5}, 1, DFT_REPEATED_HIGH},           /* 2 of 252 by chance */
        {{{1, 2, 3, 4, 5}, 5}, {{1, 2, 3, 4, 5}, 5}, 0, DFT_REPEATED_HIGH},             /* the same */
        {{{0}, 0}, {{1, 2}, 2}, 2, DFT_REPEATED_LOW},                                   /* a side knows none */
        {{{0, UINT64_MAX}, 2}, {{5, UINT64_MAX - 1}, 2}, 0, DFT_REPEATED_LOW},          /* as wide as can be */
        {{{0, 0}, 2}, {{UINT64_MAX, UINT64_MAX}, 2}, 1, DFT_REPEATED_MEDIUM},           /* as far as can be */
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

/* One value far off the rest, and which one. */
static void outliers(void)
{
    struct values cold = {{1040, 383, 417}, 3}, low = {{5, 100, 101, 102}, 4}, none = {{65, 83, 152}, 3},
                  little = {{1000, 1001, 1040}, 3}, two = {{1, 1000}, 2}, same = {{7, 7, 7}, 3};
    struct dft_repeated of = repeated(&cold);

    CU_ASSERT(of.outlier == 1 && of.rest_low == 383 && of.rest_high == 417);
    of = repeated(&low);
    CU_ASSERT(of.outlier == -1 && of.rest_low == 100 && of.rest_high == 102);
    of = repeated(&none);
    CU_ASSERT(!of.outlier && of.rest_low == 65 && of.rest_high == 152);
    CU_ASSERT(!repeated(&little).outlier && !repeated(&two).outlier && !repeated(&same).outlier);
}

static int has_none(const struct values *a, const struct values *b)
{
    return !repeated(a).outlier && !repeated(b).outlier;
}

static void laws(void)
{
    unsigned wrong = 0, told = 0;

    srand(3);
    for (int round = 0; round < 50000; round++) {
        struct values a = any(), b = any(), more = a, larger[2] = {a, b};
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
        if (a.n % 2 && b.n % 2 && has_none(&a, &b) && has_none(&larger[0], &larger[1])) /* middles are numbers */
            wrong += judge(&larger[0], &larger[1], &other) != judged || other != sure;
        /* Of three and more, a repetition like the one in the middle changes nothing, and makes it
         * no less sure, as long as it makes or unmakes no outlier. */
        more.of[more.n++] = repeated(&a).median;
        if (a.n >= 3 && b.n >= 3 && has_none(&a, &more) && has_none(&b, &b))
            wrong += judge(&more, &b, &other) != judged || other < sure;
        /* Ranges that lie apart are a difference, of three and more; those that meet are none,
         * without an outlier. */
        {
            const struct dft_repeated x = repeated(&a), y = repeated(&b);
            int apart = x.high < y.low || y.high < x.low;

            wrong += judged == 0 && apart && a.n >= 3 && b.n >= 3;
            wrong += (judged == 1 || judged == -1) && !apart && !x.outlier && !y.outlier;
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
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"medians", medians}, {"outliers", outliers},
                           {"laws", laws},       {"chance", chance},   CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"repetitions", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
