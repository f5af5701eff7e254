/* SPDX-License-Identifier: MIT */
/* Who is slow, since when, and who came late: by hand, and against trying every bucket. */
#include <CUnit/Basic.h>

#include "jobs.h"
#include "suites.h"

static void slow_since(void)
{
    static struct made_job made;
    const struct dft_lag *lag;

    job_init(&made, 5, 20);
    for (uint32_t r = 0; r < 5; r++)
        for (uint32_t b = 0; b < 20; b++)
            job_set(&made, r, b, r == 3 && b >= 8 && b < 14 ? 900 : r == 1 ? 250 : 100, 100);
    CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
    CU_ASSERT_EQUAL(made.job.median_io_ns, 2000);
    CU_ASSERT_EQUAL_FATAL(made.job.nslow, 2); /* 6,800 and 5,000 ns: the slowest first */
    CU_ASSERT(made.job.slow[0] == 3 && made.job.slow[1] == 1);
    lag = &made.ranks[3].lag;
    CU_ASSERT(lag->from == 8 && lag->to == 14);
    CU_ASSERT_DOUBLE_EQUAL(lag->within, 800, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(lag->before, 0, 1e-9);
    lag = &made.ranks[1].lag; /* all the time */
    CU_ASSERT(lag->from == DFT_NO_BUCKET && lag->to == 20);
    CU_ASSERT_DOUBLE_EQUAL(lag->within, 150, 1e-9);
    job_fini(&made);
}

static void nobody_is_slow(void)
{
    static struct made_job made;

    job_init(&made, 4, 10); /* one and a half times the median is the limit */
    for (uint32_t r = 0; r < 4; r++)
        for (uint32_t b = 0; b < 10; b++)
            job_set(&made, r, b, r == 2 ? 150 : 100, 100);
    CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
    CU_ASSERT_EQUAL(made.job.nslow, 0);
    job_fini(&made);
    job_set(&made, 2, 0, 151, 100);
    made.job.wall_ns = 50200; /* of which what it lost, 501 ns, is less than a hundredth */
    CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
    CU_ASSERT_EQUAL(made.job.nslow, 0);
    job_fini(&made);
    made.job.wall_ns = 50000;
    CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
    CU_ASSERT_EQUAL(made.job.nslow, 1);
    job_fini(&made);
}

static void stragglers(void)
{
    static const uint64_t ends[] = {1000, 1010, 990, 1080, 1051, 1000};
    static struct made_job made;

    job_init(&made, 6, 1);
    made.job.wall_ns = 1000;
    for (uint32_t r = 0; r < 6; r++)
        made.ranks[r].end_ns = ends[r];
    CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
    CU_ASSERT_EQUAL(made.job.median_end_ns, 1000); /* ends differ by 10 mostly: later than 1,050, and than 1,040 */
    CU_ASSERT_EQUAL_FATAL(made.job.nstragglers, 2);
    CU_ASSERT(made.job.stragglers[0] == 3 && made.job.stragglers[1] == 4);
    job_fini(&made);
}

static double mean(const int64_t *x, uint32_t from, uint32_t to)
{
    double sum = 0;

    for (uint32_t i = from; i < to; i++)
        sum += (double)x[i];
    return to > from ? sum / (to - from) : 0;
}

/* The sum of what lies over the mean in front of a bucket. */
static double in_front(const int64_t *x, uint32_t count, uint32_t from, uint32_t to)
{
    double sum = 0, all = mean(x, 0, count);

    for (uint32_t i = from; i < to; i++)
        sum += (double)x[i] - all;
    return sum;
}

/* Rank 0 of two or more alike: its series over the median is its own. Every bucket is tried as
 * begin, and as end. */
static void every_bucket(void)
{
    static struct made_job made;
    unsigned differ = 0, with_begin = 0;

    for (int round = 0; round < 5000; round++) {
        uint32_t count = 2u << roll(5), from = 0, to, level = roll(count), end = level + roll(count - level);
        int64_t x[JOB_BUCKETS];
        const struct dft_lag *lag;
        double within;

        job_init(&made, 3, count);
        for (uint32_t b = 0; b < count; b++) { /* so many, of such numbers, make a mean and sums without a rounding */
            x[b] = 1024 * (int64_t)(1 + roll(4) + (b >= level && b <= end ? 20 : 0));
            job_set(&made, 0, b, (uint64_t)x[b], 0);
        }
        for (uint32_t b = 1; b <= count; b++)
            if (in_front(x, count, 0, b) < in_front(x, count, 0, from))
                from = b;
        to = count;
        for (uint32_t b = count, best = 0; b > from; b--)
            if (!best || in_front(x, count, from, b) > in_front(x, count, from, best))
                best = to = b;
        within = mean(x, from, to);
        if (to + 2 >= count || mean(x, to, count) > within / 2)
            to = count;
        if (!from || mean(x, 0, from) > within / 2) {
            from = DFT_NO_BUCKET;
            to = count;
        }
        CU_ASSERT_EQUAL_FATAL(dft_ranks_judge(&made.job), 0);
        CU_ASSERT_EQUAL_FATAL(made.job.nslow, 1);
        lag = &made.ranks[0].lag;
        differ += lag->from != from || lag->to != to;
        with_begin += from != DFT_NO_BUCKET;
        job_fini(&made);
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(with_begin > 1000);
}

int suite_judge(void)
{
    CU_TestInfo tests[] = {{"slow since when", slow_since},
                           {"nobody is slow", nobody_is_slow},
                           {"stragglers", stragglers},
                           {"every bucket tried", every_bucket},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"ranks: who is slow", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
