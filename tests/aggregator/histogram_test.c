/* SPDX-License-Identifier: MIT */
/* Bins and percentiles. */
#include <CUnit/CUnit.h>
#include <stdlib.h>

#include "model.h"
#include "suites.h"

static void test_bins_of_small_and_round_values(void)
{
    CU_ASSERT_EQUAL(dft_bin_of(0), 0);
    CU_ASSERT_EQUAL(dft_bin_of(63), 63);
    CU_ASSERT_EQUAL(dft_bin_of(64), 64);
    CU_ASSERT_EQUAL(dft_bin_of(65), 64);
    CU_ASSERT_EQUAL(dft_bin_of(66), 65);
    CU_ASSERT_EQUAL(dft_bin_of(127), 95);
    CU_ASSERT_EQUAL(dft_bin_of(128), 96);
    CU_ASSERT_EQUAL(dft_bin_of(4096), 32 * 7 + 32);
    CU_ASSERT_EQUAL(dft_bin_of(UINT64_MAX), DFT_BINS - 1);
    for (uint64_t v = 0; v < 100000; v++)
        if (dft_bin_of(v) != model_bin(v))
            CU_FAIL_FATAL("a small value lies in another bin");
}

static void test_bins_around_powers_of_two(void)
{
    for (unsigned e = 0; e < 64; e++)
        for (int d = -2; d <= 2; d++) {
            uint64_t v = (UINT64_C(1) << e) + (uint64_t)(int64_t)d;

            CU_ASSERT_EQUAL(dft_bin_of(v), model_bin(v));
        }
}

static void test_bins_have_no_gaps(void)
{
    uint64_t next = 0;

    for (uint32_t bin = 0; bin < DFT_BINS; bin++) {
        uint64_t low = dft_bin_low(bin), high = low + (dft_bin_width(bin) - 1), middle = dft_bin_middle(bin);

        CU_ASSERT_EQUAL(low, next);
        CU_ASSERT_EQUAL(model_bin(low), bin);
        CU_ASSERT_EQUAL(model_bin(high), bin);
        CU_ASSERT_TRUE(middle >= low && middle <= high && middle - low == (high - low) / 2);
        CU_ASSERT_TRUE(bin < 64 || dft_bin_width(bin) <= low / 32);
        next = high + 1;
    }
    CU_ASSERT_EQUAL(next, 0); /* the last bin ends with the last 64-bit value */
}

static uint32_t list_bins(const uint64_t *values, uint32_t count, struct dft_bin *bins)
{
    static uint64_t counts[DFT_BINS];
    uint32_t n = 0;

    for (uint32_t bin = 0; bin < DFT_BINS; bin++)
        counts[bin] = 0;
    for (uint32_t i = 0; i < count; i++)
        counts[model_bin(values[i])]++;
    for (uint32_t bin = 0; bin < DFT_BINS; bin++)
        if (counts[bin])
            bins[n++] = (struct dft_bin){bin, counts[bin]};
    return n;
}

static void test_percentiles_against_sorting(void)
{
    static uint64_t values[400];
    static struct dft_bin bins[DFT_BINS];
    struct random_state random = {4711};

    for (unsigned round = 0; round < 300; round++) {
        uint32_t count = 1 + (uint32_t)random_below(&random, round < 100 ? 5 : 400), nbins;
        uint64_t limit = UINT64_C(1) << random_below(&random, 18), min = UINT64_MAX, max = 0;

        for (uint32_t i = 0; i < count; i++) {
            values[i] = random_below(&random, limit + 1);
            min = values[i] < min ? values[i] : min;
            max = values[i] > max ? values[i] : max;
        }
        nbins = list_bins(values, count, bins);
        for (uint32_t p = 1; p <= 100; p++)
            if (dft_percentile(bins, nbins, p, min, max) != model_percentile(values, count, p, min, max))
                CU_FAIL_FATAL("a percentile differs from that of the sorted values");
    }
}

static void test_percentiles_at_the_edges(void)
{
    const struct dft_bin two[] = {{10, 999}, {50, 1}};
    const struct dft_bin large[] = {{1, UINT64_C(1) << 60}, {2, 1}, {3, (UINT64_C(1) << 60) - 1}};
    const struct dft_bin wide[] = {{dft_bin_of(1000000), 7}};

    CU_ASSERT_EQUAL(dft_percentile(NULL, 0, 50, 0, 0), 0);
    CU_ASSERT_EQUAL(dft_percentile(two, 2, 99.9, 10, 50), 10); /* rank 999 */
    CU_ASSERT_EQUAL(dft_percentile(two, 2, 99.91, 10, 50), 50);
    CU_ASSERT_EQUAL(dft_percentile(two, 2, 0.0001, 10, 50), 10);
    CU_ASSERT_EQUAL(dft_percentile(two, 2, 100, 10, 50), 50);
    /* Half of 2^61 is the last of the first bin; a double would lose the 1. */
    CU_ASSERT_EQUAL(dft_percentile(large, 3, 50, 0, 9), 1);
    CU_ASSERT_EQUAL(dft_percentile(wide, 1, 50, 999999, 1000000), 1000000); /* clamped */
    CU_ASSERT_EQUAL(dft_percentile(wide, 1, 50, 0, UINT64_MAX), dft_bin_middle(dft_bin_of(1000000)));
}

int suite_histogram(void)
{
    CU_TestInfo tests[] = {
        {"bins of small and round values", test_bins_of_small_and_round_values},
        {"bins around powers of two", test_bins_around_powers_of_two},
        {"bins have no gaps", test_bins_have_no_gaps},
        {"percentiles against sorting", test_percentiles_against_sorting},
        {"percentiles at the edges", test_percentiles_at_the_edges},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"histogram", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
