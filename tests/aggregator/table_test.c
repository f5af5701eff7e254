/* SPDX-License-Identifier: MIT */
/* Tables: what one event adds, full tables, refusals, clearing, order of rows, memory touched. */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"
#include "suites.h"
#include "aggregator/pattern.h"
#include "format/event.h"

enum { READ = 0, OPEN = 2, FREAD = 4, EXEC = 8, INSTANT = 10, GETC = 11 };

static struct dft_event an_event(uint32_t call)
{
    return (struct dft_event){.start_ns = 10500,
                              .dur_ns = 70,
                              .call = call,
                              .calls = 1,
                              .unit = 1,
                              .file = 901,
                              .size = 128,
                              .result = 100,
                              .offset = 4096};
}

static int add_events(struct dft_table *table, struct dft_event *events, uint32_t count, uint32_t *position)
{
    struct dft_batch batch = {.events = events, .count = count, .calls = model_calls, .ncalls = MODEL_CALLS};

    return dft_table_add(table, &batch, position);
}

static struct dft_row *rows_after(struct dft_table *table, struct dft_event *events, uint32_t count, uint32_t *nrows)
{
    struct dft_row *rows;
    uint32_t position = 0;

    CU_ASSERT_EQUAL_FATAL(add_events(table, events, count, &position), 0);
    CU_ASSERT_EQUAL(position, count);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, nrows), 0);
    return rows;
}

static void *fixed_memory(uint32_t rows)
{
    void *memory = aligned_alloc(64, dft_table_bytes(rows));

    if (!memory)
        abort();
    return memset(memory, 0, dft_table_bytes(rows));
}

static void test_one_read(void)
{
    struct dft_table *table = dft_table_create(1000, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
    struct dft_event event = an_event(READ);
    struct dft_row *rows;
    uint32_t count;

    event.bits = DFT_BIT_SEQUENTIAL | DFT_BIT_TURN;
    rows = rows_after(table, &event, 1, &count);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    struct dft_metrics expected = {.count = 1,
                                   .samples = 1,
                                   .dur_sum = 70,
                                   .dur_min = 70,
                                   .dur_max = 70,
                                   .edge = 70,
                                   .data = 1,
                                   .bytes = 100,
                                   .size_min = 100,
                                   .size_max = 100,
                                   .offset_min = 4096,
                                   .offset_max = 4196,
                                   .first_start = 10500,
                                   .last_end = 10570,
                                   .sequential = 1,
                                   .asked = 128,
                                   .turns = 1,
                                   .occupancy = UINT64_C(31) << 32}; /* 500 to 569 of 1,000 ns */
    CU_ASSERT_EQUAL(memcmp(&rows[0].metrics, &expected, sizeof(expected)), 0);
    CU_ASSERT_TRUE(rows[0].kind == DFT_ROW_CALL && rows[0].interval == 10 && rows[0].subject == model_calls[READ].id);
    CU_ASSERT_TRUE(rows[0].io == DFT_IO_READ && rows[0].access == DFT_ACCESS_SEQUENTIAL && rows[0].err == 0);
    CU_ASSERT_EQUAL(rows[0].size_class, dft_size_class(128));
    CU_ASSERT_TRUE(rows[1].nasked == 1 && rows[1].asked[0].bin == dft_bin_of(128));
    CU_ASSERT_TRUE(rows[1].kind == DFT_ROW_HISTOGRAM && rows[1].interval == 0 && rows[1].ndurations == 1);
    CU_ASSERT_TRUE(rows[1].durations[0].bin == dft_bin_of(70) && rows[1].sizes[0].bin == dft_bin_of(100));
    CU_ASSERT_TRUE(rows[2].kind == DFT_ROW_FILE && rows[2].subject == 901 && rows[2].class == DFT_CLASS_READ);
    CU_ASSERT_TRUE(rows[2].pattern && rows[2].pattern->touched.shift == 3 && rows[2].io == DFT_IO_READ);
    CU_ASSERT_EQUAL(dft_touched_bytes(&rows[2].pattern->touched), 104);
    expected.occupancy = 1 << 10; /* of 64 times 1,000 ns */
    CU_ASSERT_EQUAL(memcmp(&rows[2].metrics, &expected, sizeof(expected)), 0);
    dft_table_destroy(table);
}

static void test_a_run_of_calls_is_one_sample(void)
{
    struct dft_table *table = dft_table_create(1000, DFT_KEEP_HISTOGRAMS);
    struct dft_event events[2] = {an_event(GETC), an_event(GETC)};
    struct dft_row *rows;
    uint32_t count;

    events[0].calls = events[0].result = events[0].size = 500;
    events[1].calls = events[1].size = 3;
    events[1].err = 5;
    rows = rows_after(table, events, 2, &count);
    CU_ASSERT_EQUAL_FATAL(count, 4);
    CU_ASSERT_TRUE(rows[1].metrics.count == 500 && rows[1].metrics.samples == 1 && rows[1].metrics.errors == 0);
    CU_ASSERT_TRUE(rows[1].metrics.bytes == 500 && rows[1].metrics.size_min == 500 && rows[1].metrics.data == 1);
    CU_ASSERT_TRUE(rows[1].metrics.asked == 500 && rows[1].size_class == dft_size_class(1));
    CU_ASSERT_TRUE(rows[0].err == 5 && rows[0].access == DFT_ACCESS_NONE && rows[0].size_class == dft_size_class(1));
    CU_ASSERT_TRUE(rows[0].metrics.count == 3 && rows[0].metrics.errors == 3 && rows[0].metrics.data == 0);
    CU_ASSERT_TRUE(rows[3].ndurations == 1 && rows[3].durations[0].count == 1);
    CU_ASSERT_TRUE(rows[3].nsizes == 1 && rows[3].sizes[0].count == 1 && rows[3].sizes[0].bin == dft_bin_of(500));
    CU_ASSERT_TRUE(rows[2].ndurations == 1 && rows[2].nsizes == 0 && rows[2].nasked == 0);
    dft_table_destroy(table);
}

static void test_what_is_not_aggregated(void)
{
    struct dft_table *table = dft_table_create(1000, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
    struct dft_event events[6] = {an_event(INSTANT), an_event(READ), an_event(READ),
                                  an_event(READ),    an_event(EXEC), an_event(1000)};
    struct dft_row *rows;
    uint32_t count;

    events[0].phase = DFT_PHASE_INSTANT;
    events[1].bits = DFT_BIT_OPEN;
    events[2].phase = DFT_PHASE_BEGIN;
    events[3].phase = DFT_PHASE_ASYNC_END;
    events[4].phase = DFT_PHASE_END;
    rows = rows_after(table, events, 6, &count); /* the last has no call of its batch */
    CU_ASSERT_EQUAL(count, 0);
    events[4].phase = DFT_PHASE_BEGIN; /* an exec that did not return: counted, without duration */
    rows = rows_after(table, events, 6, &count);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_TRUE(rows[0].metrics.count == 1 && rows[0].metrics.dur_sum == 0 && rows[0].metrics.last_end == 10500);
    CU_ASSERT_TRUE(rows[2].kind == DFT_ROW_FILE && rows[2].class == DFT_CLASS_META && rows[2].io == DFT_IO_NONE);
    CU_ASSERT_TRUE(rows[2].metrics.count == 1);
    dft_table_destroy(table);
}

static void test_offsets_and_times_at_their_limits(void)
{
    struct dft_table *table = dft_table_create(1000, 0);
    struct dft_event events[3] = {an_event(READ), an_event(READ), an_event(READ)};
    struct dft_row *rows;
    uint32_t count;

    events[0].offset = INT64_MAX - 1;
    events[1].offset = INT64_MAX; /* stands for none */
    events[2].start_ns = UINT64_MAX - 5;
    events[2].offset = -1;
    rows = rows_after(table, events, 3, &count);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_EQUAL(rows[0].metrics.offset_min, INT64_MAX - 1);
    CU_ASSERT_EQUAL(rows[0].metrics.offset_max, INT64_MAX);
    CU_ASSERT_EQUAL(rows[1].metrics.last_end, UINT64_MAX);
    CU_ASSERT_TRUE(rows[1].metrics.dur_sum == 5 && rows[1].metrics.edge == 5);
    CU_ASSERT_TRUE(rows[1].metrics.offset_min == INT64_MAX && rows[1].metrics.offset_max == -1);
    dft_table_destroy(table);
}

static void test_intervals_that_are_refused(void)
{
    void *memory = fixed_memory(1);

    CU_ASSERT_PTR_NULL(dft_table_create(0, 0));
    CU_ASSERT_PTR_NULL(dft_table_create(DFT_INTERVAL_NS_MAX + 1, 0));
    CU_ASSERT_PTR_NULL(dft_table_init(memory, 1, 0, 0));
    CU_ASSERT_EQUAL(dft_table_bytes(0), dft_table_bytes(DFT_TABLE_ROWS_MIN));
    CU_ASSERT_EQUAL(dft_table_bytes(UINT32_MAX), dft_table_bytes(DFT_TABLE_ROWS_MAX));
    free(memory);
}

/* Events that each need rows of their own; a full table stops before one, and goes on after
 * clearing. */
static void test_a_full_table_stops_between_events(void)
{
    enum { EVENTS = 300 };
    static struct dft_event events[EVENTS];
    const unsigned keep = DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES;
    void *memory = fixed_memory(40);
    struct dft_table *table = dft_table_init(memory, 40, 1000, keep), *total = dft_table_create(1000, 0);
    struct dft_table *direct = dft_table_create(1000, keep);
    struct dft_row *rows, *expected;
    uint32_t position = 0, count, nexpected, flushes = 0;
    int rc;

    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i] = an_event(READ);
        events[i].region = i / 2;
        events[i].dur_ns = i % 3 ? 70 : 500000; /* spans intervals of calls and of files */
    }
    do {
        uint32_t before = position;

        rc = add_events(table, events, EVENTS, &position);
        CU_ASSERT_TRUE_FATAL(rc == 0 || rc == -ENOSPC);
        CU_ASSERT_TRUE_FATAL(position > before);
        CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
        CU_ASSERT_TRUE(count <= 40);
        for (uint32_t i = 0; i < count; i++)
            CU_ASSERT_EQUAL(dft_table_merge(total, &rows[i]), 0);
        dft_table_clear(table);
        CU_ASSERT_EQUAL(dft_table_count(table), 0);
        flushes++;
    } while (rc);
    CU_ASSERT_EQUAL(position, EVENTS);
    CU_ASSERT_TRUE(flushes > 10);
    expected = rows_after(direct, events, EVENTS, &nexpected);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(total, &rows, &count), 0);
    CU_ASSERT_PTR_NULL(model_difference(expected, nexpected, rows, count, 0));
    dft_table_destroy(total);
    dft_table_destroy(direct);
    free(memory);
}

static void test_the_smallest_table_takes_any_event(void)
{
    void *memory = fixed_memory(1);
    struct dft_table *table = dft_table_init(memory, 1, 1000, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
    struct dft_event event = an_event(READ);
    uint32_t count;

    event.dur_ns = UINT64_C(1) << 40;
    rows_after(table, &event, 1, &count);
    CU_ASSERT_EQUAL(count, 7);
    free(memory);
}

static void test_merging_refuses_bad_rows(void)
{
    struct dft_table *table = dft_table_create(1000, 0);
    const struct dft_bin bad = {DFT_BINS, 1}, good = {0, 1};
    struct dft_row row = {.kind = 3};

    CU_ASSERT_EQUAL(dft_table_merge(table, &row), -EINVAL);
    row = (struct dft_row){.kind = DFT_ROW_HISTOGRAM, .durations = &good, .ndurations = 1, .sizes = &bad, .nsizes = 1};
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), -EINVAL);
    row.nsizes = 0;
    CU_ASSERT_EQUAL(dft_table_merge_finer(table, &row, 0), -EINVAL);
    CU_ASSERT_EQUAL(dft_table_count(table), 0);
    dft_table_destroy(table);
}

/* Many rows at once are what they are one by one, through growing, a row that is refused, and no
 * rows at all. */
static void test_merging_many_rows(void)
{
    enum { ROWS = 20000, BAD = 17 };
    static struct dft_row rows[ROWS];
    const struct dft_bin bins[] = {{3, 1}, {700, 2}}, bad = {DFT_BINS, 1};
    struct dft_table *one = dft_table_create(1000, 0), *many = dft_table_create(1000, 0);
    struct dft_row *a, *b;
    uint32_t na, nb, position = 0, refused = 0;

    CU_ASSERT_EQUAL(dft_table_merge_rows(many, rows, 0, &position), 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (struct dft_row){.kind = i % 3, .class = i % 3 == DFT_ROW_FILE, .op = (uint8_t)(i % 5)};
        rows[i].subject = i * 2654435761u % 7000;
        rows[i].interval = i % 2;
        dft_metrics_clear(&rows[i].metrics);
        rows[i].metrics.count = rows[i].metrics.dur_sum = i;
        rows[i].metrics.data = i % 7;
        rows[i].metrics.size_max = i;
        rows[i].durations = i % 1000 == BAD ? &bad : bins;
        rows[i].ndurations = i % 3 == DFT_ROW_HISTOGRAM ? 1 : 0;
        refused += i % 3 == DFT_ROW_HISTOGRAM && i % 1000 == BAD;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        refused -= dft_table_merge(one, &rows[i]) == -EINVAL;
    CU_ASSERT_EQUAL(refused, 0);
    while (dft_table_merge_rows(many, rows, ROWS, &position) == -EINVAL) {
        CU_ASSERT_EQUAL(position % 1000, BAD);
        position++;
        refused++;
    }
    CU_ASSERT_EQUAL(position, ROWS);
    CU_ASSERT(refused > 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(one, &a, &na), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(many, &b, &nb), 0);
    CU_ASSERT_PTR_NULL(model_difference(a, na, b, nb, 0));
    dft_table_destroy(one);
    dft_table_destroy(many);
}

/* A fixed table takes one histogram with all octaves in use, and no second one. */
static void test_a_full_table_refuses_histograms_whole(void)
{
    static struct dft_bin all[DFT_BINS];
    void *memory = fixed_memory(1);
    struct dft_table *table = dft_table_init(memory, 1, 1000, DFT_KEEP_HISTOGRAMS);
    struct dft_row row = {.kind = DFT_ROW_HISTOGRAM, .subject = 1, .durations = all, .sizes = all, .asked = all}, *rows;
    uint32_t count;

    for (uint32_t i = 0; i < DFT_BINS; i++)
        all[i] = (struct dft_bin){i, i + 1};
    row.ndurations = row.nsizes = row.nasked = DFT_BINS;
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), 0);
    row.subject = 2;
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), -ENOSPC);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_EQUAL_FATAL(count, 1);
    CU_ASSERT_EQUAL(rows[0].ndurations, DFT_BINS);
    CU_ASSERT_EQUAL(memcmp(rows[0].durations, all, sizeof(all)), 0);
    CU_ASSERT_EQUAL(memcmp(rows[0].sizes, all, sizeof(all)), 0);
    CU_ASSERT_EQUAL(memcmp(rows[0].asked, all, sizeof(all)), 0);
    free(memory);
}

static void test_rows_are_sorted_and_stay_usable(void)
{
    enum { EVENTS = 5000 };
    static struct dft_event events[EVENTS];
    const struct model_times times = {.base_ns = 0, .spread_ns = 300000, .dur_ns = 900, .long_ns = 90000};
    struct random_state random = {5};
    const unsigned keep = DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES;
    struct dft_table *table = dft_table_create(1000, keep), *once = dft_table_create(1000, keep);
    struct dft_row *rows, *again;
    uint32_t count, count_again;

    for (uint32_t i = 0; i < EVENTS; i++)
        model_random_event(&random, &times, &events[i]);
    for (uint32_t i = 0; i < EVENTS; i += 500)
        rows = rows_after(table, events + i, 500, &count);
    for (uint32_t i = 1; i < count; i++)
        CU_ASSERT_TRUE(dft_row_compare(&rows[i - 1], &rows[i]) < 0);
    again = rows_after(once, events, EVENTS, &count_again);
    CU_ASSERT_PTR_NULL(model_difference(again, count_again, rows, count, 0));
    dft_table_destroy(table);
    dft_table_destroy(once);
}

static void test_clearing_forgets_all(void)
{
    void *memory = fixed_memory(2000);
    struct dft_table *table = dft_table_init(memory, 2000, 1000, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
    struct dft_event events[200], *one = &events[0];
    struct dft_row *rows;
    uint32_t count;

    for (uint32_t i = 0; i < 200; i++) {
        events[i] = an_event(FREAD);
        events[i].region = i;
        events[i].dur_ns = i * i * i;
    }
    rows_after(table, events, 200, &count);
    CU_ASSERT_TRUE(count > 400);
    dft_table_clear(table);
    rows = rows_after(table, one, 1, &count);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_TRUE(rows[0].metrics.count == 1 && rows[1].ndurations == 1 && rows[1].durations[0].count == 1);
    free(memory);
}

static size_t resident_pages(void *memory, size_t bytes, size_t page)
{
    static unsigned char pages[1 << 20];
    size_t n = 0;

    CU_ASSERT_FATAL(bytes / page < sizeof(pages));
    CU_ASSERT_EQUAL_FATAL(mincore(memory, bytes, pages), 0);
    for (size_t i = 0; i < bytes / page; i++)
        n += pages[i] & 1;
    return n;
}

static void test_few_rows_touch_little_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (dft_table_bytes(65536) + page - 1) / page * page, pages;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct dft_table *table;
    struct dft_event events[10];
    uint32_t count;

    CU_ASSERT_PTR_NOT_EQUAL_FATAL(memory, MAP_FAILED);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    table = dft_table_init(memory, 65536, 1000, DFT_KEEP_HISTOGRAMS);
    for (uint32_t i = 0; i < 10; i++) {
        events[i] = an_event(i);
        events[i].dur_ns = UINT64_C(1) << i * 3;
    }
    rows_after(table, events, 10, &count);
    CU_ASSERT_TRUE(count >= 20);
    dft_table_clear(table);
    pages = resident_pages(memory, bytes, page);
    CU_ASSERT_TRUE_FATAL(pages * page <= 96 * 1024);
    CU_ASSERT_TRUE(bytes >= 100 * 96 * 1024); /* of a table that is much larger */
    munmap(memory, bytes);
}

int suite_table(void)
{
    CU_TestInfo tests[] = {
        {"one read", test_one_read},
        {"a run of calls is one sample", test_a_run_of_calls_is_one_sample},
        {"what is not aggregated", test_what_is_not_aggregated},
        {"offsets and times at their limits", test_offsets_and_times_at_their_limits},
        {"intervals that are refused", test_intervals_that_are_refused},
        {"a full table stops between events", test_a_full_table_stops_between_events},
        {"the smallest table takes any event", test_the_smallest_table_takes_any_event},
        {"merging refuses bad rows", test_merging_refuses_bad_rows},
        {"merging many rows at once", test_merging_many_rows},
        {"a full table refuses histograms whole", test_a_full_table_refuses_histograms_whole},
        {"rows are sorted, and stay usable", test_rows_are_sorted_and_stay_usable},
        {"clearing forgets all", test_clearing_forgets_all},
        {"few rows touch little memory", test_few_rows_touch_little_memory},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"table", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
