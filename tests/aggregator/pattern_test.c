/* SPDX-License-Identifier: MIT */
/* Touched parts against a list of accesses, however they are split; strides; occupancy of long
 * events and on coarser grids. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "suites.h"
#include "aggregator/pattern.h"
#include "format/event.h"

#define ACCESSES 40u

static struct random_state random_state = {77};

static uint64_t below(uint64_t n)
{
    return random_below(&random_state, n);
}

struct access {
    uint64_t offset, end;
};

static struct access any_access(void)
{
    uint64_t offset = random_next(&random_state) >> (1 + below(62)), bytes = below(UINT64_C(1) << below(40));

    return (struct access){offset, offset + bytes > INT64_MAX ? INT64_MAX : offset + bytes};
}

/* What the parts of all accesses are, one part at a time. */
static void touch_slowly(const struct access *accesses, uint32_t count, struct dft_touched *touched)
{
    uint64_t highest = 0;

    memset(touched, 0, sizeof *touched);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].end > accesses[i].offset && accesses[i].end > highest)
            highest = accesses[i].end;
    while ((uint64_t)DFT_TOUCHED_PARTS << touched->shift < highest)
        touched->shift++;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t part = 0; part < DFT_TOUCHED_PARTS; part++)
            if (accesses[i].end > accesses[i].offset && part << touched->shift < accesses[i].end &&
                accesses[i].offset < (part + 1) << touched->shift)
                touched->bits[part / 64] |= UINT64_C(1) << part % 64;
}

static int differ(const struct dft_touched *a, const struct dft_touched *b)
{
    return a->shift != b->shift || memcmp(a->bits, b->bits, sizeof a->bits);
}

static void test_touched_by_any_split(void)
{
    for (unsigned round = 0; round < 300; round++) {
        struct access accesses[ACCESSES];
        struct dft_touched expected, all = {.shift = 0}, parts[3] = {{.shift = 0}};
        uint32_t count = 1 + (uint32_t)below(ACCESSES);

        for (uint32_t i = 0; i < count; i++) {
            accesses[i] = any_access();
            dft_touched_add(&all, accesses[i].offset, accesses[i].end);
            dft_touched_add(&parts[below(3)], accesses[i].offset, accesses[i].end);
        }
        touch_slowly(accesses, count, &expected);
        CU_ASSERT_FATAL(!differ(&expected, &all));
        dft_touched_merge(&parts[1], &parts[2]);
        dft_touched_merge(&parts[0], &parts[1]);
        CU_ASSERT_FATAL(!differ(&expected, &parts[0]));
    }
}

static void test_touched_bytes(void)
{
    struct dft_touched touched = {.shift = 0};

    CU_ASSERT_EQUAL(dft_touched_bytes(&touched), 0);
    dft_touched_add(&touched, 500, 500); /* nothing */
    dft_touched_add(&touched, 10, 20);
    CU_ASSERT_EQUAL(dft_touched_bytes(&touched), 10);
    dft_touched_add(&touched, 15, 1024);
    CU_ASSERT(dft_touched_bytes(&touched) == 1014 && touched.shift == 0);
    dft_touched_add(&touched, 1024, 1025); /* at most: parts are two bytes now */
    CU_ASSERT(dft_touched_bytes(&touched) == 1016 && touched.shift == 1);
    dft_touched_add(&touched, INT64_MAX - 1, INT64_MAX);
    CU_ASSERT(dft_touched_bytes(&touched) == UINT64_C(2) << 53 && touched.shift == 53);
}

static int are_strides(const struct dft_stride strides[2], int64_t a, uint64_t na, int64_t b, uint64_t nb)
{
    return strides[0].bytes == a && strides[0].count == na && strides[1].bytes == b && strides[1].count == nb;
}

static void test_strides_are_merged(void)
{
    struct dft_stride strides[2] = {{8, 5}, {16, 3}};

    dft_strides_merge(strides, (struct dft_stride[2]){{16, 4}, {8, 1}});
    CU_ASSERT(are_strides(strides, 16, 7, 8, 6));
    dft_strides_merge(strides, (struct dft_stride[2]){{-3, 9}, {100, 6}});
    CU_ASSERT(are_strides(strides, -3, 9, 16, 7));
    dft_strides_merge(strides, (struct dft_stride[2]){{3, 9}, {0, 0}}); /* the one forward first */
    CU_ASSERT(are_strides(strides, 3, 9, -3, 9));
    dft_strides_merge(strides, (struct dft_stride[2]){{-2, 9}, {INT64_MIN, 9}}); /* the shorter one */
    CU_ASSERT(are_strides(strides, -2, 9, 3, 9));
    dft_strides_merge(strides, (struct dft_stride[2]){{0, 0}, {0, 0}});
    CU_ASSERT(are_strides(strides, -2, 9, 3, 9));
}

static void test_rows_of_files_merge_patterns(void)
{
    struct dft_table *table = dft_table_create(1000, 0);
    struct dft_pattern pattern = {.touched = {.shift = 1, .bits = {3}}, .strides = {{64, 2}}};
    struct dft_row row = {.kind = DFT_ROW_FILE, .class = DFT_CLASS_READ, .io = DFT_IO_READ, .subject = 9}, *rows;
    uint32_t count;

    dft_metrics_clear(&row.metrics);
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_PTR_NULL(rows[0].pattern);
    row.pattern = &pattern;
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), 0);
    pattern.touched = (struct dft_touched){.shift = 2, .bits = {4}};
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), 0);
    row.io = DFT_IO_STARTUP; /* another row */
    CU_ASSERT_EQUAL(dft_table_merge(table, &row), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_FATAL(count == 2 && rows[0].pattern && rows[1].pattern);
    CU_ASSERT(rows[0].pattern->touched.shift == 2 && rows[0].pattern->touched.bits[0] == 5);
    CU_ASSERT(rows[0].pattern->strides[0].count == 4 && rows[1].pattern->strides[0].count == 2);
    dft_table_destroy(table);
}

/* The first and the last interval say which parts are covered, `step` says the rest. On a coarser
 * grid nothing is known. */
static void test_occupancy(void)
{
    struct dft_event event = {.start_ns = 65536, .dur_ns = 5 * 64000 + 1, .call = 0, .calls = 1, .unit = 1};
    struct dft_batch batch = {.events = &event, .count = 1, .calls = model_calls, .ncalls = MODEL_CALLS};
    struct dft_table *table = dft_table_create(64000, 0), *coarse = dft_table_create(128000, 0);
    uint32_t position = 0, count;
    struct dft_row *rows;

    CU_ASSERT_EQUAL(dft_table_add(table, &batch, &position), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(table, &rows, &count), 0);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_EQUAL(rows[0].metrics.occupancy, UINT64_MAX << 1);
    CU_ASSERT_EQUAL(rows[1].metrics.occupancy, 0);
    CU_ASSERT_EQUAL(rows[2].metrics.occupancy, 3);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(dft_table_merge_finer(coarse, &rows[i], 2), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(coarse, &rows, &count), 0);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(rows[i].metrics.occupancy, 0);
    dft_table_destroy(table);
    dft_table_destroy(coarse);
}

int suite_pattern(void)
{
    CU_TestInfo tests[] = {
        {"parts of any split of accesses", test_touched_by_any_split},
        {"bytes touched", test_touched_bytes},
        {"strides are merged", test_strides_are_merged},
        {"rows of files merge patterns", test_rows_of_files_merge_patterns},
        {"occupancy", test_occupancy},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"pattern", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
