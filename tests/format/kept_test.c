/* SPDX-License-Identifier: MIT */
/* When events were kept: the column there and back, times of a window, and columns that are
 * damaged. */
#include <CUnit/Basic.h>
#include <string.h>

#include "format/kept.h"
#include "format/row.h"
#include "suites.h"

#define START UINT64_C(1700000000000000000)
#define S     UINT64_C(1000000000)

static uint8_t column[200];

/* Events for 2 s, aggregates for 3 s, events for 1 s, aggregates from then on. */
static struct dft_process sample(void)
{
    uint32_t used = dft_kept_put(column, 2 * S, DFT_KEEP_AGGREGATES, DFT_KEEP_WHY_OVERHEAD);

    used += dft_kept_put(column + used, 3 * S, DFT_KEEP_EVENTS, DFT_KEEP_WHY_OVERHEAD);
    used += dft_kept_put(column + used, S, DFT_KEEP_AGGREGATES, DFT_KEEP_WHY_BYTES);
    return (struct dft_process){.start_ns = START, .kept = {(const char *)column, used}};
}

static void test_stretches(void)
{
    static const struct {
        uint64_t from, to;
        enum dft_keep keep;
        enum dft_keep_why why;
    } expected[] = {{0, 2, DFT_KEEP_EVENTS, DFT_KEEP_WHY_SETTINGS},
                    {2, 5, DFT_KEEP_AGGREGATES, DFT_KEEP_WHY_OVERHEAD},
                    {5, 6, DFT_KEEP_EVENTS, DFT_KEEP_WHY_OVERHEAD},
                    {6, 10, DFT_KEEP_AGGREGATES, DFT_KEEP_WHY_BYTES}};
    struct dft_process process = sample();
    struct dft_kept_reader reader;
    struct dft_kept_span kept;
    unsigned n = 0;

    for (dft_kept_begin(&reader, &process, START + 10 * S); dft_kept_next(&reader, &kept); n++) {
        CU_ASSERT_FATAL(n < sizeof expected / sizeof *expected);
        CU_ASSERT(kept.from_ns == START + expected[n].from * S && kept.to_ns == START + expected[n].to * S);
        CU_ASSERT(kept.keep == expected[n].keep && kept.why == expected[n].why && kept.known);
    }
    CU_ASSERT(n == sizeof expected / sizeof *expected);
}

static void test_times(void)
{
    struct dft_process process = sample(), old = {.start_ns = START};
    uint64_t times[DFT_KEEP_COUNT + 1] = {0};

    dft_kept_times(&process, START, START + 10 * S, times);
    CU_ASSERT(times[DFT_KEEP_EVENTS] == 3 * S && times[DFT_KEEP_AGGREGATES] == 7 * S);
    memset(times, 0, sizeof times);
    dft_kept_times(&process, START + 4 * S, START + 5 * S + S / 2, times);
    CU_ASSERT(times[DFT_KEEP_EVENTS] == S / 2 && times[DFT_KEEP_AGGREGATES] == S && !times[DFT_KEEP_COUNT]);
    memset(times, 0, sizeof times);
    dft_kept_times(&old, START - S, START + S, times); /* nothing before the process began */
    CU_ASSERT(times[DFT_KEEP_EVENTS] == S);
    dft_kept_times(&old, START + S, START + S, times);
    dft_kept_times(&old, START + 2 * S, START + S, times);
    CU_ASSERT(times[DFT_KEEP_EVENTS] == S);
}

/* A process that begins with aggregates has no stretch before. */
static void test_from_the_start(void)
{
    uint32_t used = dft_kept_put(column, 0, DFT_KEEP_AGGREGATES, DFT_KEEP_WHY_SETTINGS);
    struct dft_process process = {.start_ns = START, .kept = {(const char *)column, used}};
    struct dft_kept_reader reader;
    struct dft_kept_span kept;

    dft_kept_begin(&reader, &process, START + S);
    CU_ASSERT(dft_kept_next(&reader, &kept) && kept.keep == DFT_KEEP_AGGREGATES && kept.to_ns - kept.from_ns == S);
    CU_ASSERT(!dft_kept_next(&reader, &kept));
}

/* Every cut and every changed byte: the time before is as it was, and no time is counted twice. */
static void test_damage(void)
{
    struct dft_process process = sample();
    uint8_t whole[sizeof column];
    uint64_t cut[DFT_KEEP_COUNT + 1] = {0};

    memcpy(whole, column, sizeof whole);
    process.kept.length--; /* the last pair is not whole */
    dft_kept_times(&process, START, START + 10 * S, cut);
    CU_ASSERT(cut[DFT_KEEP_EVENTS] == 2 * S && cut[DFT_KEEP_AGGREGATES] == 3 * S && cut[DFT_KEEP_COUNT] == 5 * S);
    process.kept.length++;
    for (uint32_t i = 0; i < process.kept.length * 256; i++) {
        uint64_t times[DFT_KEEP_COUNT + 1] = {0}, all = 0;

        memcpy(column, whole, sizeof column);
        column[i / 256] = (uint8_t)i;
        dft_kept_times(&process, START, START + 10 * S, times);
        for (unsigned k = 0; k <= DFT_KEEP_COUNT; k++)
            all += times[k];
        CU_ASSERT(all == 10 * S);
    }
}

static void test_texts(void)
{
    CU_ASSERT_STRING_EQUAL(dft_keep_text(DFT_KEEP_SELECTED), "selected events");
    CU_ASSERT_STRING_EQUAL(dft_keep_text((enum dft_keep)9), "unknown");
    CU_ASSERT_STRING_EQUAL(dft_keep_why_text(DFT_KEEP_WHY_CONTROL), "control");
    CU_ASSERT_STRING_EQUAL(dft_keep_why_text((enum dft_keep_why)99), "unknown");
}

int suite_kept(void)
{
    CU_TestInfo tests[] = {
        {"one stretch after the other", test_stretches},
        {"times of a window", test_times},
        {"aggregates from the start", test_from_the_start},
        {"damage", test_damage},
        {"texts", test_texts},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"kept", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
