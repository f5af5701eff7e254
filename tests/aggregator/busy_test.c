/* SPDX-License-Identifier: MIT */
/* Busy time of rows against a model that marks every nanosecond; also through a coarser grid. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "format/event.h"
#include "format/ops.h"
#include "model.h"
#include "suites.h"

#define TIMES  4000u
#define EVENTS 40u

struct busy_key {
    uint8_t kind, class;
    uint64_t region, subject;
};

static int busy_is_of(const struct dft_row *row, const struct busy_key *key)
{
    return row->kind == key->kind && row->class == key->class && row->region == key->region &&
           row->subject == key->subject;
}

/* busy(k) of one key for all k: from the rows, and from the events. */
static void busy_of_rows(const struct dft_row *rows, uint32_t count, const struct busy_key *key, uint64_t width,
                         uint64_t *busy)
{
    uint64_t steps = 0;

    for (uint64_t k = 0; k * width < TIMES; k++) {
        busy[k] = 0;
        for (uint32_t i = 0; i < count; i++)
            if (busy_is_of(&rows[i], key) && rows[i].interval == k) {
                busy[k] += rows[i].metrics.edge;
                steps += (uint64_t)rows[i].metrics.step;
            }
        busy[k] += width * steps;
    }
}

static void busy_of_events(const struct dft_event *events, const struct busy_key *key, uint64_t width, uint64_t *busy)
{
    memset(busy, 0, TIMES * sizeof(*busy));
    for (uint32_t i = 0; i < EVENTS; i++) {
        const struct dft_call *call = &model_calls[events[i].call];

        if (events[i].region != key->region || events[i].calls == 0)
            continue;
        if (key->kind == DFT_ROW_CALL ? call->id != key->subject
                                      : events[i].file != key->subject ||
                                            dft_class_on_file(dft_op_class(call->op)) != (enum dft_class)key->class)
            continue;
        for (uint64_t t = events[i].start_ns; t < events[i].start_ns + events[i].dur_ns; t++)
            busy[t / width]++;
    }
}

static void busy_compare(struct dft_table *table, const struct dft_event *events, uint64_t width_of_calls)
{
    static uint64_t ours[TIMES], theirs[TIMES];
    struct dft_row *rows;
    uint32_t count;

    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_TRUE(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        struct busy_key key = {rows[i].kind, rows[i].class, rows[i].region, rows[i].subject};
        uint64_t width = rows[i].kind == DFT_ROW_FILE ? 64 * width_of_calls : width_of_calls;

        if (rows[i].kind == DFT_ROW_HISTOGRAM)
            continue;
        busy_of_rows(rows, count, &key, width, ours);
        busy_of_events(events, &key, width, theirs);
        for (uint64_t k = 0; k * width < TIMES; k++)
            if (ours[k] != theirs[k]) {
                fprintf(stderr, "busy(%llu) of width %llu: %llu, and ns by ns %llu\n", (unsigned long long)k,
                        (unsigned long long)width, (unsigned long long)ours[k], (unsigned long long)theirs[k]);
                CU_FAIL_FATAL("busy time differs");
            }
    }
}

static void busy_random_events(struct random_state *random, struct dft_event *events)
{
    const struct model_times times = {.base_ns = 0, .spread_ns = TIMES / 2, .dur_ns = 30, .long_ns = TIMES / 2};

    for (uint32_t i = 0; i < EVENTS; i++) {
        do {
            model_random_event(random, &times, &events[i]);
        } while (events[i].phase != DFT_PHASE_COMPLETE || events[i].bits & DFT_BIT_OPEN ||
                 model_calls[events[i].call].op == DFT_OP_INSTANT);
        events[i].region = 0;
    }
}

static void test_busy_against_marks(void)
{
    static const uint64_t widths[] = {1, 2, 3, 7, 50, 64, 1000, 100000};
    struct dft_event events[EVENTS];
    struct random_state random = {99};

    for (unsigned round = 0; round < 40; round++) {
        uint64_t width = widths[round % 8];
        struct dft_table *table = dft_table_create(width, DFT_KEEP_FILES);
        struct dft_batch batch = {.events = events, .count = EVENTS, .calls = model_calls, .ncalls = MODEL_CALLS};
        uint32_t position = 0;

        CU_ASSERT_PTR_NOT_NULL_FATAL(table);
        busy_random_events(&random, events);
        CU_ASSERT_EQUAL(dft_table_add(table, &batch, &position), 0);
        busy_compare(table, events, width);
        dft_table_destroy(table);
    }
}

static void test_busy_of_a_coarser_grid(void)
{
    struct dft_event events[EVENTS];
    struct random_state random = {123};

    for (unsigned round = 0; round < 40; round++) {
        uint64_t width = 1 + random_below(&random, 9), factor = 2 + random_below(&random, 6);
        struct dft_table *fine = dft_table_create(width, DFT_KEEP_FILES | DFT_KEEP_HISTOGRAMS);
        struct dft_table *coarse = dft_table_create(width * factor, 0);
        struct dft_table *direct = dft_table_create(width * factor, DFT_KEEP_FILES | DFT_KEEP_HISTOGRAMS);
        struct dft_batch batch = {.events = events, .count = EVENTS, .calls = model_calls, .ncalls = MODEL_CALLS};
        struct dft_row *rows, *again;
        uint32_t count, count_again, kept = 0, position = 0;

        busy_random_events(&random, events);
        CU_ASSERT_EQUAL(dft_table_add(fine, &batch, &position), 0);
        position = 0;
        CU_ASSERT_EQUAL(dft_table_add(direct, &batch, &position), 0);
        CU_ASSERT_EQUAL_FATAL(dft_table_rows(fine, &rows, &count), 0);
        for (uint32_t i = 0; i < count; i++)
            CU_ASSERT_EQUAL(dft_table_merge_finer(coarse, &rows[i], factor), 0);
        busy_compare(coarse, events, width * factor);

        /* All else is as if the events had been added to the coarse table; rows of busy time alone
         * may be more or fewer. */
        CU_ASSERT_EQUAL_FATAL(dft_table_rows(direct, &rows, &count), 0);
        for (uint32_t i = 0; i < count; i++)
            if (rows[i].metrics.count || rows[i].kind == DFT_ROW_HISTOGRAM)
                rows[kept++] = rows[i];
        count = kept;
        kept = 0;
        CU_ASSERT_EQUAL_FATAL(dft_table_rows(coarse, &again, &count_again), 0);
        for (uint32_t i = 0; i < count_again; i++)
            if (again[i].metrics.count || again[i].kind == DFT_ROW_HISTOGRAM)
                again[kept++] = again[i];
        CU_ASSERT_PTR_NULL(model_difference(rows, count, again, kept, 1));
        dft_table_destroy(fine);
        dft_table_destroy(coarse);
        dft_table_destroy(direct);
    }
}

static void test_busy_of_a_long_region_is_three_rows(void)
{
    struct dft_event event = {.start_ns = 1500, .dur_ns = UINT64_C(36000) * 1000, .call = 7, .calls = 1, .unit = 1};
    struct dft_batch batch = {.events = &event, .count = 1, .calls = model_calls, .ncalls = MODEL_CALLS};
    struct dft_table *table = dft_table_create(1000, 0);
    uint32_t position = 0, count;
    struct dft_row *rows;

    CU_ASSERT_EQUAL(dft_table_add(table, &batch, &position), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_TRUE(rows[0].interval == 1 && rows[0].metrics.edge == 500 && rows[0].metrics.step == 0);
    CU_ASSERT_TRUE(rows[1].interval == 2 && rows[1].metrics.edge == 0 && rows[1].metrics.step == 1);
    CU_ASSERT_TRUE(rows[2].interval == 36001 && rows[2].metrics.edge == 500 && rows[2].metrics.step == -1);
    dft_table_destroy(table);
}

int suite_busy(void)
{
    CU_TestInfo tests[] = {
        {"a long region is three rows", test_busy_of_a_long_region_is_three_rows},
        {"against a mark for every ns", test_busy_against_marks},
        {"through a coarser grid", test_busy_of_a_coarser_grid},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"busy time", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
