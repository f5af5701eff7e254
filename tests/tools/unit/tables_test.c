/* SPDX-License-Identifier: MIT */
/* Tables of live files: what is read from one whose owner was killed at any point of a step, or goes
 * on while the table is read. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/calls.h"
#include "format/live_format.h"
#include "format/live_table.h"
#include "live/source_snapshot.h"
#include "live/source_tables.h"
#include "suites.h"

#define FILE_BYTES (DFT_LIVE_PAGE + DFT_LIVE_TABLE_BYTES)
#define KEYS       40u
#define KEY        77u
#define BYTES      10u

/* The owner of a table, as the traced process is one. */
struct owner {
    char *file;
    struct dft_live_table *table;
    uint32_t rows[KEYS], files[KEYS];
};

/* Where a step ends when its owner is killed. */
enum stage { NOTHING, OBJECTS, TICKET, NOTED, APPLYING, HALF, APPLIED, DONE, STAGES };

static void begin(struct owner *owner)
{
    struct dft_live_table *table;

    memset(owner, 0, sizeof *owner);
    owner->file = aligned_alloc(DFT_LIVE_PAGE, FILE_BYTES);
    memset(owner->file, 0x5a, FILE_BYTES);
    table = owner->table = (struct dft_live_table *)(void *)(owner->file + DFT_LIVE_PAGE);
    memset(table, 0, sizeof *table);
    *table = (struct dft_live_table){.magic = DFT_LIVE_TABLE_MAGIC,
                                     .bytes = DFT_LIVE_TABLE_BYTES,
                                     .tid = 5,
                                     .call_stream = 8,
                                     .file_stream = 9,
                                     .width_ns = 1000000000,
                                     .low = DFT_LIVE_ARENA,
                                     .high = DFT_LIVE_TABLE_BYTES / 8};
}

static void make_row(struct owner *owner, uint32_t i)
{
    struct dft_live_table *table = owner->table;
    uint32_t place = atomic_load(&table->high) - (uint32_t)(sizeof(struct dft_live_row) / 8);
    struct dft_live_row *row = dft_live_at(table, place);

    memset(row, 0, sizeof *row);
    row->key.interval = i;
    row->key.call = 1u + i % 5u + ((uint32_t)DFT_IO_READ << 16);
    row->dur_min = row->first_start = row->size_min = UINT64_MAX;
    row->offset_min = INT64_MAX;
    row->offset_max = -1;
    atomic_store(&table->high, place);
    owner->rows[i] = place;
}

static void make_file(struct owner *owner, uint32_t i)
{
    struct dft_live_table *table = owner->table;
    uint32_t place = atomic_load(&table->low), data_place = place + (uint32_t)(sizeof(struct dft_live_file) / 8);
    struct dft_live_file *file = dft_live_at(table, place);
    struct dft_live_data *data = dft_live_at(table, data_place);

    memset(file, 0, sizeof *file);
    memset(data, 0, sizeof *data);
    file->object = (struct dft_live_object){.type = DFT_LIVE_FILE, .which = DFT_IO_READ};
    file->file = 1000 + i;
    file->dur_min = file->first_start = UINT64_MAX;
    file->data = data_place;
    data->object = (struct dft_live_object){.type = DFT_LIVE_DATA, .other = place};
    data->size_min = UINT64_MAX;
    data->offset_min = INT64_MAX;
    data->offset_max = -1;
    atomic_store(&table->low, data_place + (uint32_t)(sizeof *data / 8));
    owner->files[i] = place;
}

static void note_step(struct owner *owner, uint32_t i, uint64_t number)
{
    struct dft_live_table *table = owner->table;
    struct dft_live_step *step = &table->step;
    struct dft_live_file *file = dft_live_at(table, owner->files[i]);
    uint64_t start_ns = (uint64_t)i * 1000000000u + number;

    *step = (struct dft_live_step){.start_ns = start_ns,
                                   .end_ns = start_ns + 3,
                                   .bytes = BYTES,
                                   .asked = BYTES + 1,
                                   .offset = 0,
                                   .samples = 1,
                                   .calls = 1,
                                   .is_data = 1,
                                   .row = owner->rows[i],
                                   .file = owner->files[i],
                                   .data = file->data};
    step->row_sums = ((struct dft_live_row *)dft_live_at(table, step->row))->sums;
    step->file_sums = file->sums;
    step->data_sums = ((struct dft_live_data *)dft_live_at(table, step->data))->sums;
}

/* Adds an event of row and file i, up to a stage. */
static void add(struct owner *owner, uint32_t i, enum stage last)
{
    struct dft_live_table *table = owner->table;
    uint64_t ticket = atomic_load(&table->events) + 1;

    if (last >= OBJECTS && !owner->rows[i]) {
        make_row(owner, i);
        make_file(owner, i);
    }
    if (last >= TICKET)
        atomic_store(&table->ticket, ticket);
    if (last >= NOTED)
        note_step(owner, i, ticket);
    if (last >= APPLYING)
        atomic_store(&table->applying, ticket);
    if (last == HALF)
        dft_live_add_to_row(dft_live_at(table, owner->rows[i]), &table->step);
    if (last >= APPLIED)
        dft_live_apply(table);
    if (last >= DONE)
        atomic_store(&table->events, ticket);
}

struct found {
    uint64_t calls, errors, bytes, file_calls, file_data, first, last;
    uint32_t tid, torn;
};

static int count(void *context, const struct dft_buckets *buckets)
{
    struct found *found = context;

    found->torn += buckets->key != KEY;
    found->tid = buckets->tid;
    found->first = buckets->first;
    found->last = buckets->last;
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_metrics *metrics = &buckets->rows[i].metrics;

        if (buckets->rows[i].kind == DFT_ROW_CALL) {
            found->calls += metrics->count;
            found->bytes += metrics->bytes;
            found->torn += metrics->samples != metrics->data || metrics->bytes != BYTES * metrics->data ||
                           metrics->asked != (BYTES + 1) * metrics->data || metrics->dur_sum != 3 * metrics->samples;
        } else {
            found->file_calls += metrics->count;
            found->file_data += metrics->data;
            found->torn += metrics->data > metrics->count || metrics->dur_sum != 3 * metrics->samples;
        }
    }
    return 0;
}

static struct found read_tables(const void *file)
{
    struct found found = {0};
    uint64_t bad = 0;

    CU_ASSERT_EQUAL(dft_live_tables(file, FILE_BYTES, KEY, count, &found, &bad), 0);
    CU_ASSERT_EQUAL(bad, 0);
    return found;
}

static void test_killed_at_any_stage(void)
{
    for (int stage = NOTHING; stage < STAGES; stage++)
        for (uint32_t events = 0; events < 3 * KEYS; events += 1 + events / 2) {
            uint64_t wanted = events + (stage >= APPLYING);
            struct owner owner;
            struct found found;

            begin(&owner);
            for (uint32_t i = 0; i < events; i++)
                add(&owner, i % KEYS, DONE);
            add(&owner, events % KEYS, (enum stage)stage);
            found = read_tables(owner.file);
            CU_ASSERT_EQUAL(found.calls, wanted);
            CU_ASSERT_EQUAL(found.bytes, BYTES * wanted);
            CU_ASSERT_EQUAL(found.file_calls, wanted);
            CU_ASSERT_EQUAL(found.file_data, wanted);
            CU_ASSERT_EQUAL(found.torn, 0);
            if (wanted) {
                CU_ASSERT_EQUAL(found.last - found.first + 1, wanted);
                CU_ASSERT_EQUAL(found.tid, 5);
            }
            free(owner.file);
        }
}

static void test_what_was_written(void)
{
    struct owner owner;
    struct found found;

    begin(&owner);
    for (uint32_t i = 0; i < 30; i++)
        add(&owner, i, DONE);
    atomic_store(&owner.table->written, DFT_LIVE_CALLS_WRITTEN);
    found = read_tables(owner.file);
    CU_ASSERT_EQUAL(found.calls, 0);
    CU_ASSERT_EQUAL(found.file_calls, 30);
    atomic_store(&owner.table->written, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN);
    found = read_tables(owner.file);
    CU_ASSERT_EQUAL(found.calls + found.file_calls, 0);
    free(owner.file);
}

static void test_nonsense(void)
{
    struct owner owner;
    struct found found = {0};
    uint64_t bad = 0;

    begin(&owner);
    add(&owner, 0, DONE);
    atomic_store(&owner.table->high, 1);
    CU_ASSERT_EQUAL(dft_live_tables(owner.file, FILE_BYTES, KEY, count, &found, &bad), 0);
    CU_ASSERT_EQUAL(bad, 1);
    CU_ASSERT_EQUAL(dft_live_tables(owner.file, FILE_BYTES - 1, KEY, count, &found, &bad), 0);
    CU_ASSERT_EQUAL(bad, 1);
    free(owner.file);
}

/* The step of a killed process is added, but not beyond the table. */
static void test_nonsense_of_a_step(void)
{
    struct owner owner;
    uint64_t bad = 0;

    for (uint32_t counter = 1; counter; counter *= 2) {
        struct found found = {0};

        begin(&owner);
        add(&owner, 0, APPLYING);
        owner.table->step.counters[DFT_LIVE_SIZES] = counter;
        atomic_store(&owner.table->low, UINT32_MAX / 2);
        CU_ASSERT_EQUAL(dft_live_tables(owner.file, FILE_BYTES, KEY, count, &found, &bad), 0);
        CU_ASSERT_EQUAL(found.calls, 0);
        free(owner.file);
    }
    CU_ASSERT_EQUAL(bad, 32);
}

/* --- an owner that goes on -------------------------------------------------------------------- */

static _Atomic int is_over;

static void *go_on(void *context)
{
    struct owner *owner = context;

    for (uint32_t i = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); i++)
        add(owner, (i * 7) % KEYS, DONE);
    return NULL;
}

static void test_running(void)
{
    struct owner owner;
    pthread_t thread;
    char *copy = aligned_alloc(DFT_LIVE_PAGE, FILE_BYTES);
    uint64_t before = 0;

    begin(&owner);
    for (uint32_t i = 0; i < KEYS; i++)
        add(&owner, i, DONE);
    atomic_store(&is_over, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, go_on, &owner), 0);
    for (int i = 0; i < 300; i++) {
        uint64_t from = atomic_load(&owner.table->events), to;
        struct found found;

        dft_live_copy(copy, owner.file, FILE_BYTES, -1);
        to = atomic_load(&owner.table->events);
        found = read_tables(copy);
        CU_ASSERT(found.calls >= from && found.calls <= to + 1);
        CU_ASSERT(found.file_calls >= from && found.file_calls <= to + 1);
        CU_ASSERT(found.last - found.first + 1 <= found.calls && found.calls >= before);
        CU_ASSERT_EQUAL(found.torn, 0);
        before = found.calls;
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    free(owner.file);
    free(copy);
}

/* Writes its rows, so that the next event makes new ones. */
static void write_rows(struct owner *owner)
{
    struct dft_live_table *table = owner->table;
    uint64_t events = atomic_load(&table->events);

    atomic_store(&table->written, DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN);
    atomic_store(&table->high, DFT_LIVE_TABLE_BYTES / 8);
    atomic_store(&table->calls_first, events);
    atomic_store(&table->low, DFT_LIVE_ARENA);
    atomic_store(&table->files_first, events);
    atomic_store(&table->written, 0);
    memset(owner->rows, 0, sizeof owner->rows);
}

static void *write_and_go_on(void *context)
{
    struct owner *owner = context;

    for (uint32_t i = 1; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        for (uint32_t n = 0; n < 1000; n++)
            add(owner, n * (i % 5 + 1) / 100 % KEYS, DONE);
        write_rows(owner);
    }
    return NULL;
}

/* Rows are made, and written, while they are read. */
static void test_writing(void)
{
    struct owner owner;
    pthread_t thread;
    char *copy = aligned_alloc(DFT_LIVE_PAGE, FILE_BYTES);

    begin(&owner);
    atomic_store(&is_over, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, write_and_go_on, &owner), 0);
    for (int i = 0; i < 300; i++) {
        struct found found;

        dft_live_copy(copy, owner.file, FILE_BYTES, -1);
        found = read_tables(copy);
        CU_ASSERT_EQUAL(found.torn, 0);
        if (found.calls)
            CU_ASSERT(found.calls >= found.last - found.first + 1 && found.calls <= 1000);
    }
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    free(owner.file);
    free(copy);
}

int suite_tables(void)
{
    CU_pSuite suite = CU_add_suite("tables of live files", NULL, NULL);

    return !suite || !CU_add_test(suite, "killed at any stage of a step", test_killed_at_any_stage) ||
           !CU_add_test(suite, "rows that were written", test_what_was_written) ||
           !CU_add_test(suite, "tables that make no sense", test_nonsense) ||
           !CU_add_test(suite, "a step that makes no sense", test_nonsense_of_a_step) ||
           !CU_add_test(suite, "an owner that goes on", test_running) ||
           !CU_add_test(suite, "an owner that makes and writes rows", test_writing);
}
