/* SPDX-License-Identifier: MIT */
/* What calls usually take: the 25th percentile of a histogram, against the sorted times. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "ranks/ranks_usual.h"
#include "suites.h"

#define KINDS 300
#define TIMES 200

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Eight bins to a power of two: the middle of one is at most a sixteenth off. */
static int is_near(uint64_t got, uint64_t expected)
{
    uint64_t off = got > expected ? got - expected : expected - got;

    return expected < 16 ? !off : off * 16 <= expected;
}

static void sorted_times(void)
{
    static uint64_t times[KINDS][TIMES];
    struct dft_usual usual = {0};
    unsigned differ = 0;

    for (uint32_t k = 0; k < KINDS; k++)
        for (uint32_t i = 0; i < TIMES; i++) {
            times[k][i] = UINT64_C(1) << roll(40);
            times[k][i] += roll((uint32_t)(times[k][i] < 1000000 ? times[k][i] : 1000000));
            CU_ASSERT_EQUAL_FATAL(dft_usual_add(&usual, k / 3, k % 3 ? k % 3 : DFT_USUAL_META, 1, times[k][i]), 0);
        }
    dft_usual_finish(&usual);
    for (uint32_t k = 0; k < KINDS; k++) {
        qsort(times[k], TIMES, sizeof **times, ascending);
        differ += !is_near(dft_usual_ns(&usual, k / 3, k % 3 ? k % 3 : DFT_USUAL_META), times[k][TIMES / 4 - 1]);
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT_EQUAL(dft_usual_ns(&usual, KINDS, 1), 0);
    dft_usual_fini(&usual);
}

static void by_hand(void)
{
    struct dft_usual usual = {0};

    CU_ASSERT_EQUAL(dft_usual_ns(&usual, 1, 0), 0);
    CU_ASSERT_EQUAL(dft_usual_add(&usual, 1, 0, 0, 100), 0); /* no call */
    CU_ASSERT_EQUAL(dft_usual_add(&usual, 1, 0, 24, 24 * 5), 0);
    CU_ASSERT_EQUAL(dft_usual_add(&usual, 1, 0, 76, 76 * 1000000), 0);
    CU_ASSERT_EQUAL(dft_usual_add(&usual, 2, 0, 25, 25 * 5 + 24), 0);
    CU_ASSERT_EQUAL(dft_usual_add(&usual, 2, 0, 75, 75 * UINT64_C(1000000)), 0);
    dft_usual_finish(&usual);
    CU_ASSERT(is_near(dft_usual_ns(&usual, 1, 0), 1000000)); /* 24 of 100 are not a quarter */
    CU_ASSERT_EQUAL(dft_usual_ns(&usual, 2, 0), 5);
    dft_usual_fini(&usual);

    CU_ASSERT_EQUAL(dft_usual_size(0, 0), 0);
    CU_ASSERT_EQUAL(dft_usual_size(100, 100), 1);
    CU_ASSERT_EQUAL(dft_usual_size(4095, 1), 12);
    CU_ASSERT_EQUAL(dft_usual_size(8192, 2), 13);
    CU_ASSERT_EQUAL(dft_usual_size(UINT64_MAX, 1), DFT_USUAL_META - 1);
}

int suite_usual(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"sorted times", sorted_times}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"usual times", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
