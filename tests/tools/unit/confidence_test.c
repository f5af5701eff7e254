/* SPDX-License-Identifier: MIT */
/* How sure the first cause is: each line of the table in ranks_confidence.h, on both sides of its
 * limit. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "ranks/ranks_confidence.h"
#include "suites.h"

/* What of a job is told: rank 1 is `times` over the usual in `bad` buckets from `from` on, rank 0
 * `others` times. */
struct asked {
    uint32_t ranks, buckets, from, bad;
    uint64_t times, others;
    uint32_t lead;                                         /* buckets before another rank begins; 0: none does */
    int missing, over_before, together, by_chance, little; /* little: it lost less than 1 % of the job's time */
};

static enum dft_confidence confide(const struct asked *asked, const char *reason)
{
    static struct made_job made;
    struct dft_sample samples[JOB_BUCKETS];
    struct dft_suspect suspects[2];
    struct dft_metric_series series = {.rank = 1, .samples = samples};
    struct dft_searched searched = {.job = &made.job, .kind = DFT_LOST_DATA, .series = &series, .count = 1};
    struct dft_blamed blamed = {.rank = 1};
    struct dft_measured measured = {.floor = 100, .beyond = 2, .blamed = &blamed, .nblamed = !asked->by_chance};
    uint32_t to = asked->from + asked->bad, onset = asked->from + (asked->together ? 0 : asked->lead);

    job_init(&made, asked->ranks, asked->buckets);
    made.job.nmissing = (uint32_t)asked->missing;
    for (uint32_t b = 0; b < asked->buckets; b++) {
        int is_bad = b >= asked->from && b < to;

        for (uint32_t r = 0; r < asked->ranks; r++)
            job_set(&made, r, b, 10 * (r == 1 && is_bad ? asked->times : r == 0 && is_bad ? asked->others : 1), 10);
        samples[b] = (struct dft_sample){1000 * (int64_t)b, is_bad ? 100 : 0};
    }
    series.count = asked->buckets;
    suspects[0] =
        (struct dft_suspect){.rank = 1, .time_ns = 1000 * (int64_t)asked->from, .lead_ns = 1000 * (int64_t)asked->lead};
    suspects[0].aligned_ns = suspects[0].time_ns;
    suspects[1] = (struct dft_suspect){.rank = 2, .aligned_ns = 1000 * (int64_t)onset};
    measured.cause = (struct dft_first_cause){.candidates = 1, .suspects = suspects, .nsuspects = 1};
    if (asked->lead || asked->together) {
        measured.cause.has_onset = 1;
        measured.cause.nsuspects = measured.cause.candidates = 2;
        measured.cause.onset_ns = suspects[1].aligned_ns;
    }
    measured.over_before = asked->over_before;
    measured.lost = made.job.wall_ns / 100 - (asked->little != 0);
    CU_ASSERT_EQUAL_FATAL(dft_ranks_confide(&searched, &measured), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(measured.reason);
    if (strcmp(measured.reason, reason)) {
        printf("\n    %s\n    %s\n", measured.reason, reason);
        CU_FAIL("the reason");
    }
    free(measured.reason);
    return suspects[0].confidence;
}

static void high(void)
{
    const struct asked sure = {.ranks = 4, .buckets = 20, .from = 10, .bad = 10, .times = 6, .others = 1};
    struct asked asked = sure;

    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_HIGH);
    asked.lead = 2;
    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 1.0 "
                                    "until the next one began"),
                    DFT_CONFIDENCE_HIGH);
    asked = sure;
    asked.from = 15; /* a quarter of the time to its end */
    asked.bad = 5;
    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 5 of 5 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_HIGH);
    asked = sure;
    asked.times = 8; /* four times as much as the others */
    asked.others = 2;
    CU_ASSERT_EQUAL(confide(&asked, "8.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 2.0"),
                    DFT_CONFIDENCE_HIGH);
}

static void medium(void)
{
    const struct asked sure = {.ranks = 4, .buckets = 20, .from = 10, .bad = 10, .times = 6, .others = 1};
    struct asked asked = sure;

    asked.lead = 1; /* another one began a bucket later */
    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 1.0 "
                                    "until the next one began"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.times = 4;
    CU_ASSERT_EQUAL(confide(&asked, "4.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.others = 2;
    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 10 of 10 buckets (of 20 in all), no other rank above 2.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.from = 2; /* over long before the end, and less than half of the time */
    asked.bad = 6;  /* it reaches on while three of four samples are beyond the floor */
    asked.times = 9;
    CU_ASSERT_EQUAL(confide(&asked, "7.0 times the usual in 6 of 8 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.times = 2; /* little, but for long */
    CU_ASSERT_EQUAL(confide(&asked, "2.0 times the usual in 10 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.ranks = 2;
    CU_ASSERT_EQUAL(confide(&asked, "only two: no third says which is unusual; 6.0 times the usual in 10 of 10 buckets "
                                    "(of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.missing = 1;
    CU_ASSERT_EQUAL(confide(&asked, "ranks are missing, and one of these may have been first; 6.0 times the usual in "
                                    "10 of 10 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
    asked = sure;
    asked.little = 1;
    CU_ASSERT_EQUAL(confide(&asked, "what it lost is less than 1 % of the job's time; 6.0 times the usual in 10 of 10 "
                                    "buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_MEDIUM);
}

static void low(void)
{
    const struct asked sure = {.ranks = 4, .buckets = 20, .from = 10, .bad = 10, .times = 6, .others = 1};
    struct asked asked = sure;

    asked.times = 2;
    asked.from = 11;
    asked.bad = 9; /* buckets: of ten and more it would be steady */
    CU_ASSERT_EQUAL(confide(&asked, "2.0 times the usual in 9 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_LOW);
    asked.times = 5;
    asked.others = 3;
    CU_ASSERT_EQUAL(confide(&asked, "5.0 times the usual in 9 of 9 buckets (of 20 in all), no other rank above 3.0"),
                    DFT_CONFIDENCE_LOW);
    asked = sure;
    asked.by_chance = 1;
    CU_ASSERT_EQUAL(confide(&asked, "others lose as much by chance; 6.0 times the usual in 10 of 10 buckets (of 20 in "
                                    "all), no other rank above 1.0"),
                    DFT_CONFIDENCE_LOW);
    asked = sure;
    asked.bad = 2; /* two buckets */
    CU_ASSERT_EQUAL(confide(&asked, "6.0 times the usual in 2 of 2 buckets (of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_LOW);
    asked = (struct asked){
        .ranks = 4, .buckets = 50, .from = 10, .bad = 3, .times = 6, .others = 1}; /* less than a tenth */
    CU_ASSERT_EQUAL(confide(&asked, "4.8 times the usual in 3 of 4 buckets (of 50 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_LOW);
    asked = sure;
    asked.together = 1;
    CU_ASSERT_EQUAL(
        confide(&asked, "others began in the same bucket; 6.0 times the usual in 10 of 10 buckets (of 20 in all)"),
        DFT_CONFIDENCE_LOW);
    asked = sure;
    asked.over_before = 1;
    CU_ASSERT_EQUAL(confide(&asked, "as usual again when the next one began; 6.0 times the usual in 10 of 10 buckets "
                                    "(of 20 in all), no other rank above 1.0"),
                    DFT_CONFIDENCE_LOW);
}

int suite_confidence(void)
{
    CU_TestInfo tests[] = {{"high", high}, {"medium", medium}, {"low", low}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"ranks: how sure", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
