/* SPDX-License-Identifier: MIT */
/* A law: calls that are added to the rows of a thread at once give what the same calls give as
 * events (aggregator/aggregate.h), to the integer, however the table is written and copied. */
#include "rows_test.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "format/slot_event.h"
#include "os/clock.h"
#include "os/sys.h"
#include "thread/append.h"
#include "rows/mode.h"
#include "store/counters.h"

/* --- what the rows need of the library -------------------------------------------------------- */

static uint32_t generation = 1;
static struct dft_live live_head;
volatile uint32_t *dft_generation = &generation;
__thread struct dft_thread *dft_self;
__thread uint32_t dft_vfork_mark;
struct dft_live *dft_live = &live_head;
int dft_late, dft_sandbox;
uint32_t dft_too_large;
uint64_t dft_clock_start_ns = UINT64_C(1700000000123456789);

int dft_clock_update(struct dft_clock *clock)
{
    *clock = (struct dft_clock){.base_ticks = BASE_TICKS, .base_ns = dft_clock_start_ns, .mult = run.mult};
    return 0;
}

int dft_is_sandboxed(void)
{
    return 0;
}

int dft_is_vfork_child(void)
{
    return 0;
}

struct dft_thread_hooks dft_thread_hooks;

void dft_counters_drained(void) {}

void dft_mode_update(struct dft_thread *self)
{
    (void)self;
}

void dft_name_send(struct dft_thread *self, uint64_t id, struct dft_text text)
{
    (void)text;
    self->sent[id & (DFT_SENT_NAMES - 1)] = id;
}

/* --- the two tables --------------------------------------------------------------------------- */

struct run run;

static struct dft_table *new_table(void)
{
    return dft_table_create(run.width, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
}

static int is_directory(uint64_t id)
{
    static const char *const paths[] = {"//",       "/",        "/data/",   "/data/0/", "/data/1/",
                                        "/data/2/", "/data/3/", "/data/4/", "/data/5/", "/data/6/"};
    int found = 0;

    for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++)
        found |= id == dft_name_id(paths[i], (uint32_t)strlen(paths[i]));
    return found;
}

static void merge(struct dft_table *table, const struct dft_live_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct dft_row *row = &rows->rows[i];

        CU_ASSERT_EQUAL_FATAL(dft_table_merge(table, row), 0);
        if (row->kind == DFT_ROW_FILE && !row->pattern && row->metrics.bytes && row->metrics.offset_max >= 0)
            CU_ASSERT_EQUAL_FATAL(dft_table_merge(run.unknown, row), 0);
        run.is_folded |= row->kind == DFT_ROW_FILE && is_directory(row->subject);
    }
}

/* Adds the rows of a thread's table to a table. */
static void convert(struct dft_table *table, const struct dft_live_table *live, unsigned what)
{
    static struct dft_row rows_of[DFT_LIVE_ROWS_MAX];
    static struct dft_call calls[DFT_LIVE_ROWS_MAX];
    static struct dft_bin bins[DFT_LIVE_BINS_MAX];
    static struct dft_pattern patterns[DFT_LIVE_PATTERNS_MAX];
    struct dft_live_rows rows = {.rows = rows_of,
                                 .calls = calls,
                                 .capacity = DFT_LIVE_ROWS_MAX,
                                 .bins = bins,
                                 .bins_capacity = DFT_LIVE_BINS_MAX,
                                 .patterns = patterns,
                                 .patterns_capacity = DFT_LIVE_PATTERNS_MAX};

    if (what & DFT_LIVE_CALLS_WRITTEN) {
        CU_ASSERT_EQUAL_FATAL(dft_live_table_calls(live, &rows), 0);
        merge(table, &rows);
    }
    if (what & DFT_LIVE_FILES_WRITTEN) {
        CU_ASSERT_EQUAL_FATAL(dft_live_table_files(live, &rows), 0);
        merge(table, &rows);
    }
}

uint32_t dft_livefile_number;

int dft_rows_flush(struct dft_thread *thread)
{
    return dft_rows_flush_some(thread, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN);
}

int dft_rows_flush_some(struct dft_thread *thread, unsigned what)
{
    convert(run.by_rows, thread->rows->live, what);
    dft_rows_empty(thread->rows, what);
    run.flushes++;
    return 0;
}

static void begin_run(uint64_t width, int is_dense, uint32_t nfiles, uint32_t ncalls, uint32_t nregions)
{
    struct dft_live_table *live = (struct dft_live_table *)run.table;

    memset(&run, 0, sizeof run);
    run.mult = (UINT64_C(1) << 31) + below(UINT64_C(1) << 33);
    run.width = width;
    run.is_dense = is_dense;
    run.now = BASE_TICKS + below(1000000000);
    run.nfiles = nfiles;
    run.ncalls = ncalls;
    run.nregions = nregions;
    for (uint32_t i = 0; i < ncalls; i++)
        do
            run.calls[i] = (uint16_t)(1 + below(DFT_CALL_COUNT - 1));
        while (dft_call_rows[run.calls[i]].op == DFT_OP_FRESH || /* these have no records */
               (i % 2 && !dft_op_is_data(dft_call_rows[run.calls[i]].op)));
    run.by_rows = new_table();
    run.by_events = new_table();
    run.unknown = new_table();
    live->magic = DFT_LIVE_TABLE_MAGIC;
    live->bytes = DFT_LIVE_TABLE_BYTES;
    live->width_ns = width;
    atomic_store(&live->low, DFT_LIVE_ARENA);
    atomic_store(&live->high, TABLE);
    memset(run.table + DFT_LIVE_ARENA, 0xa5, sizeof run.table - 8 * DFT_LIVE_ARENA); /* unused memory is anything */
    run.rows.live = live;
    run.thread.rows = &run.rows;
    dft_self = &run.thread;
}

/* --- comparing -------------------------------------------------------------------------------- */

static int is_same_number(const char *what, uint64_t a, uint64_t b, const struct dft_row *row)
{
    if (a != b)
        printf("\n%s: %llu, not %llu, in a row of kind %u, op %u, io %u, size class %u, access %u, errno %u, interval "
               "%llu\n",
               what, (unsigned long long)a, (unsigned long long)b, row->kind, row->op, row->io, row->size_class,
               row->access, row->err, (unsigned long long)row->interval);
    return a == b;
}

static int is_same_metrics(const struct dft_row *row, const struct dft_metrics *a, const struct dft_metrics *b)
{
    int same = 1;

#define SAME(field) same &= is_same_number(#field, (uint64_t)a->field, (uint64_t)b->field, row)
    SAME(count), SAME(samples), SAME(errors), SAME(dur_sum), SAME(dur_min), SAME(dur_max), SAME(edge), SAME(step);
    SAME(first_start), SAME(last_end), SAME(data), SAME(bytes), SAME(size_min), SAME(size_max), SAME(offset_min);
    SAME(offset_max), SAME(sequential), SAME(consecutive), SAME(asked), SAME(turns);
    if (row->kind == DFT_ROW_CALL) /* that of files is not kept */
        SAME(occupancy);
    return same;
}

static int is_same_bins(const struct dft_row *row, const struct dft_bin *a, uint32_t na, const struct dft_bin *b,
                        uint32_t nb)
{
    int same = is_same_number("bins", na, nb, row);

    for (uint32_t i = 0; same && i < na; i++)
        same = is_same_number("bin", a[i].bin, b[i].bin, row) && is_same_number("count", a[i].count, b[i].count, row);
    return same;
}

static int is_unknown(const struct dft_row *row)
{
    struct dft_row *rows;
    uint32_t count;

    CU_ASSERT_EQUAL_FATAL(dft_table_rows(run.unknown, &rows, &count), 0);
    for (uint32_t i = 0; i < count; i++)
        if (!dft_row_compare(&rows[i], row))
            return 1;
    return 0;
}

static int is_same_pattern(const struct dft_row *a, const struct dft_row *b)
{
    if ((!a->pattern && !b->pattern) || is_unknown(a))
        return 1;
    if (!is_same_number("has a pattern", a->pattern != NULL, b->pattern != NULL, a))
        return 0;
    run.known++;
    return is_same_number("shift", a->pattern->touched.shift, b->pattern->touched.shift, a) &&
           is_same_number("touched", 0,
                          (uint64_t)memcmp(&a->pattern->touched, &b->pattern->touched, sizeof a->pattern->touched), a);
}

static int is_same_row(const struct dft_row *a, const struct dft_row *b)
{
    if (!is_same_number("key", 0, (uint64_t)(int64_t)dft_row_compare(a, b), dft_row_compare(a, b) < 0 ? a : b))
        return 0;
    if (a->kind == DFT_ROW_HISTOGRAM)
        return is_same_bins(a, a->durations, a->ndurations, b->durations, b->ndurations) &&
               is_same_bins(a, a->sizes, a->nsizes, b->sizes, b->nsizes) &&
               is_same_bins(a, a->asked, a->nasked, b->asked, b->nasked);
    return is_same_metrics(a, &a->metrics, &b->metrics) && (a->kind != DFT_ROW_FILE || is_same_pattern(a, b));
}

/* Where files were counted for others, their rows are the same in sum. */
static uint32_t sum_of_files(struct dft_row *rows, uint32_t count, struct dft_row *sum)
{
    *sum = (struct dft_row){.kind = DFT_ROW_FILE};
    dft_metrics_clear(&sum->metrics);
    while (count && rows[count - 1].kind == DFT_ROW_FILE)
        dft_metrics_merge(&sum->metrics, &rows[--count].metrics);
    return count;
}

static int are_same(struct dft_table *by_rows, struct dft_table *by_events)
{
    struct dft_row *a, *b, sum_a, sum_b;
    uint32_t na, nb;
    int same = 1;

    CU_ASSERT_EQUAL_FATAL(dft_table_rows(by_rows, &a, &na), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows(by_events, &b, &nb), 0);
    if (run.is_folded) {
        na = sum_of_files(a, na, &sum_a);
        nb = sum_of_files(b, nb, &sum_b);
        same = is_same_metrics(&sum_a, &sum_a.metrics, &sum_b.metrics);
    }
    for (uint32_t i = 0; same && i < na && i < nb; i++)
        same = is_same_row(&a[i], &b[i]);
    return same && is_same_number("rows", na, nb, a);
}

/* --- the law ---------------------------------------------------------------------------------- */

/* Makes the copy one of a thread that was killed in the middle of its last step: some of its stores
 * were done, others not. Returns 0: the step has done other things than to add. */
static int unfinish(const struct dft_live_table *before, const struct dft_live_table *after)
{
    struct dft_live_table *copy = (struct dft_live_table *)run.copy;

    if (before->low != after->low || before->high != after->high || before->events + 1 != after->events ||
        before->calls_first != after->calls_first || before->files_first != after->files_first)
        return 0;
    if (after->step.pattern &&
        ((const struct dft_live_pattern *)dft_live_at(before, after->step.pattern))->touched.shift !=
            ((const struct dft_live_pattern *)dft_live_at(after, after->step.pattern))->touched.shift)
        return 0;
    for (uint32_t i = DFT_LIVE_ARENA; i < TABLE; i++)
        run.copy[i] = once_in(2) ? run.before[i] : run.table[i];
    copy->events = before->events;
    copy->applying = copy->ticket;
    return 1;
}

/* Is what a reader finds of the thread, had it been killed now, or in its last step, the same? */
static void look(int in_step)
{
    struct dft_live_table *copy = (struct dft_live_table *)run.copy;
    struct dft_table *sum = new_table();
    static uint64_t finished[TABLE];
    struct dft_row *rows;
    uint32_t count;

    memcpy(run.copy, run.table, sizeof run.copy);
    if (in_step)
        run.half_steps += (uint64_t)unfinish((struct dft_live_table *)run.before, (struct dft_live_table *)run.table);
    CU_ASSERT_EQUAL_FATAL(dft_live_table_copy((struct dft_live_table *)finished, copy, sizeof run.copy), 0);
    CU_ASSERT_EQUAL_FATAL(dft_table_rows_unsorted(run.by_rows, &rows, &count), 0);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL_FATAL(dft_table_merge(sum, &rows[i]), 0);
    convert(sum, (struct dft_live_table *)finished, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN);
    CU_ASSERT_FATAL(are_same(sum, run.by_events));
    dft_table_destroy(sum);
}

static void check_run(uint32_t events)
{
    for (uint32_t i = 0; i < events; i++) {
        int in_step = once_in(80);

        if (in_step)
            memcpy(run.before, run.table, sizeof run.before);
        if (give())
            run.taken++;
        else
            run.refused++;
        if (in_step || once_in(1000))
            look(in_step);
    }
    CU_ASSERT_EQUAL(dft_rows_flush_some(&run.thread, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN), 0);
    CU_ASSERT_FATAL(are_same(run.by_rows, run.by_events));
    CU_ASSERT_EQUAL(run.refused, 0);
    dft_table_destroy(run.by_rows);
    dft_table_destroy(run.by_events);
    dft_table_destroy(run.unknown);
}

static const uint64_t widths[] = {1000000, 1000000000, 64000, 123457};

/* A few files, of which each has its row. */
static void test_few_files(void)
{
    uint64_t known = 0, half_steps = 0;

    for (uint32_t i = 0; i < 12; i++) {
        begin_run(widths[i % 4], i % 8 >= 4, 1 + (uint32_t)below(4), 1 + (uint32_t)below(6), 1 + (uint32_t)below(2));
        check_run(4000);
        known += run.known;
        half_steps += run.half_steps;
    }
    CU_ASSERT(known > 100);
    CU_ASSERT(half_steps > 50);
}

/* Many files and calls: the table is full all the time, and files count for their directories. */
static void test_many_files(void)
{
    int is_folded = 0;

    for (uint32_t i = 0; i < 16; i++) {
        int is_dense = i % 8 >= 4;

        begin_run(widths[i % 4], is_dense, 20 + (uint32_t)below(480), is_dense ? 2 : 4 + (uint32_t)below(20),
                  1 + (uint32_t)below(is_dense ? 1 : 5));
        check_run(3000);
        CU_ASSERT(run.flushes > 1);
        is_folded += run.is_folded;
    }
    CU_ASSERT(is_folded > 0);
}

int main(int argc, char **argv)
{
    unsigned failures;

    begin_random(argc > 1 ? strtoull(argv[1], NULL, 0) : 20240229);
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("rows", NULL, NULL);
    CU_add_test(suite, "few files", test_few_files);
    CU_add_test(suite, "many files", test_many_files);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
