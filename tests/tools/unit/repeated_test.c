/* SPDX-License-Identifier: MIT */
/* Repetitions of two sides: by hand, and by the laws that their chance and their interval must keep. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/rank_test.h"
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

static struct dft_repeated_sides sides_of(const struct values *a, const struct values *b)
{
    struct dft_repeated_sides sides = {.n = {a->n, b->n}};

    memcpy(sides.of[0], a->of, a->n * sizeof *a->of);
    memcpy(sides.of[1], b->of, b->n * sizeof *b->of);
    dft_repeated_of(sides.of[0], a->n);
    dft_repeated_of(sides.of[1], b->n);
    return sides;
}

static double chance_of(const struct values *a, const struct values *b, int *higher)
{
    const struct dft_repeated_sides sides = sides_of(a, b);

    return dft_repeated_chance(&sides, higher);
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
        double chance;
        int higher;
        enum dft_repeated_sure sure;
    } cases[] = {
        {{{100}, 1}, {{200}, 1}, 1, 1, DFT_REPEATED_LOW},                                /* nothing is known */
        {{{1, 2, 3, 4, 5}, 5}, {{7, 8, 9, 10, 11}, 5}, 2.0 / 252, 1, DFT_REPEATED_HIGH}, /* apart */
        {{{7, 8, 9, 10, 11}, 5}, {{1, 2, 3, 4, 5}, 5}, 2.0 / 252, -1, DFT_REPEATED_HIGH},
        {{{1, 2, 3, 4, 99}, 5},
         {{7, 8, 9, 10, 11}, 5},
         38.0 / 252,
         1,
         DFT_REPEATED_MEDIUM}, /* U = 5: 19 have as little */
        {{{1, 2, 3, 4}, 4}, {{5, 6, 7, 8}, 4}, 2.0 / 70, 1, DFT_REPEATED_MEDIUM},
        {{{7, 7, 7, 7, 7}, 5}, {{7, 7, 7, 7, 7}, 5}, 1, 0, DFT_REPEATED_MEDIUM},
        {{{100, 100, 100}, 3}, {{200, 200, 200}, 3}, 0, 1, DFT_REPEATED_HIGH}, /* no noise, so no chance */
        {{{100, 100}, 2}, {{200, 200}, 2}, 0, 1, DFT_REPEATED_MEDIUM},
        {{{100, 150, 149}, 3}, {{148, 205, 204}, 3}, 1, 0, DFT_REPEATED_MEDIUM}, /* the sides meet */
        {{{0}, 0}, {{1, 2}, 2}, 1, 0, DFT_REPEATED_LOW},                         /* a side knows none */
        /* t = 4.95 with two degrees of freedom: 1 - t / sqrt(2 + t^2) */
        {{{99, 9999}, 2}, {{999999999, 99999999999}, 2}, 0.038476, 1, DFT_REPEATED_LOW},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dft_repeated_sides sides = sides_of(&cases[i].a, &cases[i].b);
        int higher;
        double chance = dft_repeated_chance(&sides, &higher);

        CU_ASSERT_DOUBLE_EQUAL(chance, cases[i].chance, 1e-6);
        CU_ASSERT_EQUAL(higher, cases[i].higher);
        CU_ASSERT_EQUAL(dft_repeated_sure_beyond(&sides, chance), cases[i].sure);
    }
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_apart(3, 3), 0.1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_apart(1, 3), 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(dft_repeated_apart(5, 5), 2.0 / 252, 1e-9);
}

/* Student's t where it decides, against the table of its limits at 5 % and 1 %. */
static void student(void)
{
    static const struct {
        uint32_t n, m;
        double at_5, at_1; /* with n + m - 2 degrees of freedom */
    } limits[] = {{1, 2, 12.7062, 63.6567}, {2, 2, 4.30265, 9.92484}, {2, 3, 3.18245, 5.84091},
                  {3, 3, 2.77645, 4.60409}, {3, 4, 2.57058, 4.03214}, {2, 6, 2.44691, 3.70743}};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int side = 0; side < 4; side++) {
            uint32_t n = limits[i].n, m = limits[i].m;
            double unit = 1e-3, squares = 0, mean = 0, limit = side < 2 ? limits[i].at_5 : limits[i].at_1, off;
            struct values a = {.n = n}, b = {.n = m};
            int higher;

            for (uint32_t k = 0; k < m; k++)
                mean += (double)k / m;
            for (uint32_t k = 0; k < m; k++)
                squares += (k - mean) * (k - mean);
            for (uint32_t k = 0; k < n; k++)
                squares += (k - (n - 1) / 2.0) * (k - (n - 1) / 2.0);
            off = (side % 2 ? 1.001 : 0.999) * limit * sqrt(squares / (n + m - 2) * (1.0 / n + 1.0 / m));
            for (uint32_t k = 0; k < n; k++)
                a.of[k] = (uint64_t)(1e15 * exp(unit * (k - (n - 1) / 2.0)));
            for (uint32_t k = 0; k < m; k++)
                b.of[k] = (uint64_t)(1e15 * exp(unit * (k - mean + off)));
            if (a.of[n - 1] >= b.of[0])
                continue; /* the sides meet: t is not asked */
            CU_ASSERT_EQUAL(chance_of(&a, &b, &higher) < (side < 2 ? 0.05 : 0.01), side % 2);
        }
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

static int all_differ(const struct dft_repeated_sides *sides)
{
    int same = 0;

    for (uint32_t i = 0; i < sides->n[0]; i++)
        for (uint32_t k = 0; k < sides->n[1]; k++)
            same |= sides->of[0][i] == sides->of[1][k] || (i && sides->of[0][i] == sides->of[0][i - 1]) ||
                    (k && sides->of[1][k] == sides->of[1][k - 1]);
    return !same;
}

static void laws(void)
{
    unsigned wrong = 0, told = 0;

    srand(3);
    for (int round = 0; round < 20000; round++) {
        struct values a = any(), b = any();
        const struct dft_repeated_sides sides = sides_of(&a, &b), mirrored = sides_of(&b, &a);
        struct dft_repeated_interval interval = dft_repeated_interval(&sides), other = dft_repeated_interval(&mirrored);
        int higher, back;
        double chance = dft_repeated_chance(&sides, &higher);

        told += chance <= DFT_REPEATED_LEVEL;
        wrong += chance < 0 || chance > 1;
        /* The sides are alike: to swap them mirrors the answer. */
        wrong += fabs(dft_repeated_chance(&mirrored, &back) - chance) > 1e-9 || back != -higher;
        wrong += other.low != -interval.high || other.high != -interval.low;
        /* What ranks find is what has nothing outside of the interval, where no two runs are equal. */
        if (a.n + b.n >= 8 && interval.confidence >= 0.95 && all_differ(&sides))
            wrong += (chance <= DFT_REPEATED_LEVEL) != (interval.low > 0 || interval.high < 0);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(told > 1000);
}

/* "No difference" is as sure as its interval is narrow. */
static void intervals(void)
{
    struct values a = {{1000, 1001, 1002, 1003, 1004}, 5}, near = {{1000, 1001, 1003, 1003, 1005}, 5},
                  wide = {{900, 950, 1000, 1100, 1150}, 5}, far = {{500, 700, 1000, 1500, 3000}, 5},
                  three = {{1000, 1001, 1002}, 3}, two = {{1000, 1001}, 2};
    const struct {
        struct values *a, *b;
        enum dft_repeated_sure sure;
    } cases[] = {{&a, &near, DFT_REPEATED_HIGH},
                 {&a, &wide, DFT_REPEATED_MEDIUM},
                 {&a, &far, DFT_REPEATED_LOW},
                 {&three, &three, DFT_REPEATED_MEDIUM},
                 {&two, &two, DFT_REPEATED_LOW}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dft_repeated_sides sides = sides_of(cases[i].a, cases[i].b);
        struct dft_repeated_interval interval = dft_repeated_interval(&sides);

        CU_ASSERT_EQUAL(dft_repeated_sure_within(&interval, repeated(cases[i].a).median), cases[i].sure);
    }
}

int suite_repeated(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"Student's t", student}, {"medians", medians}, {"outliers", outliers},
                           {"laws", laws},       {"intervals", intervals}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"repetitions", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
