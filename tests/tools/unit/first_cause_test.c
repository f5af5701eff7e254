/* SPDX-License-Identifier: MIT */
/* The first cause: by hand, and against a search that starts anew for each sample. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "suites.h"
#include "telemetry/first_cause.h"

#define RANKS   6
#define SAMPLES 12

static void by_hand(void)
{
    const struct dft_sample flat[3] = {{0, 5}, {10, 6}, {20, 5}}, early[4] = {{0, 0}, {10, 60}, {20, 110}, {30, 0}};
    const struct dft_sample late[4] = {{0, 0}, {20, 0}, {30, 0}, {42, 200}}, one[1] = {{0, 1000}};
    const struct dft_metric_series series[] = {{0, 3, flat, 0}, {1, 4, early, 0}, {2, 4, late, 2}, {5, 1, one, 0}};
    struct dft_first_cause found;

    /* Rank 1 reaches 100 at 20 by two rises; rank 2 at 42, which is 40 on its own clock's
     * offset. */
    CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series, 3, 100, 10, 0, &found), 0);
    CU_ASSERT_EQUAL(found.candidates, 2);
    CU_ASSERT(found.has_onset && found.onset_ns == 40);
    CU_ASSERT_EQUAL_FATAL(found.nsuspects, 2);
    CU_ASSERT(found.suspects[0].rank == 1 && found.suspects[0].time_ns == 20 && found.suspects[0].delta == 110 &&
              found.suspects[0].samples == 2 && found.suspects[0].lead_ns == 20);
    CU_ASSERT_EQUAL(found.suspects[0].confidence, DFT_CONFIDENCE_HIGH);
    CU_ASSERT(found.suspects[1].rank == 2 && found.suspects[1].time_ns == 42 && found.suspects[1].aligned_ns == 40);
    CU_ASSERT_EQUAL(found.suspects[1].confidence, DFT_CONFIDENCE_LOW);
    dft_first_cause_fini(&found);

    CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series, 3, 100, 21, 0, &found), 0); /* less than an interval before */
    CU_ASSERT_EQUAL(found.suspects[0].confidence, DFT_CONFIDENCE_MEDIUM);
    dft_first_cause_fini(&found);
    CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series, 3, 100, 10, 1, &found), 0); /* ranks are missing */
    CU_ASSERT_EQUAL(found.suspects[0].confidence, DFT_CONFIDENCE_LOW);
    dft_first_cause_fini(&found);
    CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series, 4, 100, 10, 0, &found), 0); /* one has a single sample */
    CU_ASSERT(found.nshort == 1 && found.short_ranks[0] == 5 && found.suspects[0].confidence == DFT_CONFIDENCE_LOW);
    dft_first_cause_fini(&found);
    CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series + 1, 1, 100, 10, 0, &found), 0); /* alone: against whom? */
    CU_ASSERT(!found.candidates && !found.nsuspects && !found.has_onset);
    dft_first_cause_fini(&found);
}

/* Where the rises up to a sample, one after another, first reach the threshold; -1: nowhere. */
static int slow_spike(const struct dft_metric_series *series, int64_t floor)
{
    int64_t largest = 0;

    for (uint32_t i = 0; i < series->count; i++)
        largest = series->samples[i].value > largest ? series->samples[i].value : largest;
    floor = largest / 10 > floor ? largest / 10 : floor;
    for (uint32_t i = 1; i < series->count; i++) {
        uint32_t from = i;

        while (from && series->samples[from].value > series->samples[from - 1].value)
            from--;
        if (from < i && series->samples[i].value - series->samples[from].value >= floor)
            return (int)i;
    }
    return -1;
}

static void anew_for_each_sample(void)
{
    unsigned differ = 0, with_onset = 0;

    for (int round = 0; round < 20000; round++) {
        struct dft_sample samples[RANKS][SAMPLES];
        struct dft_metric_series series[RANKS];
        uint32_t count = 2 + roll(RANKS - 1), candidates = 0, suspects = 0;
        int64_t floor = 1 + roll(round % 2 ? 60 : 8), first = INT64_MAX, second = INT64_MAX;
        struct dft_first_cause found;

        for (uint32_t r = 0; r < count; r++) {
            series[r] = (struct dft_metric_series){r, roll(SAMPLES + 1), samples[r], (int64_t)roll(5) - 2};
            for (uint32_t i = 0; i < series[r].count; i++)
                samples[r][i] = (struct dft_sample){10 * (int64_t)i + roll(3), roll(roll(4) ? 20 : 100)};
        }
        for (uint32_t r = 0; r < count; r++) {
            int at = slow_spike(&series[r], floor);
            int64_t aligned = at < 0 ? 0 : samples[r][at].time_ns - series[r].offset_ns;

            if (at < 0)
                continue;
            candidates++;
            second = aligned < first ? first : aligned < second ? aligned : second;
            first = aligned < first ? aligned : first;
        }
        CU_ASSERT_EQUAL_FATAL(dft_first_cause_find(series, count, floor, 10, 0, &found), 0);
        for (uint32_t r = 0; r < count; r++) {
            int at = slow_spike(&series[r], floor);
            int64_t last = candidates > 1 ? second : first;

            suspects += at >= 0 && samples[r][at].time_ns - series[r].offset_ns <= last;
        }
        differ += found.candidates != candidates || found.has_onset != (candidates > 1) || found.nsuspects != suspects;
        differ += candidates && found.suspects[0].aligned_ns != first;
        differ += candidates > 1 && (found.onset_ns != second || found.suspects[0].lead_ns != second - first);
        for (uint32_t i = 0; i < found.nsuspects; i++) {
            const struct dft_suspect *suspect = &found.suspects[i];

            differ += suspect->time_ns != samples[suspect->rank][slow_spike(&series[suspect->rank], floor)].time_ns;
            differ += i && suspect->aligned_ns < found.suspects[i - 1].aligned_ns;
        }
        with_onset += candidates > 1;
        dft_first_cause_fini(&found);
    }
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(with_onset > 1000);
}

int suite_first_cause(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand}, {"anew for each sample", anew_for_each_sample}, CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"first cause", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
