/* SPDX-License-Identifier: MIT */
/* Reads the tables of live files: copies each, so that a step that was going on is finished in the
 * copy, and makes rows of it. */
#include "live/source_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "format/encode.h"
#include "format/live_table.h"

struct reading {
    struct dft_live_table *table; /* the copy */
    struct dft_live_rows rows;
    dft_tables_fn *emit;
    void *context;
    uint64_t key;
};

static int reading_init(struct reading *reading)
{
    struct dft_live_rows *rows = &reading->rows;

    reading->table = aligned_alloc(64, DFT_LIVE_TABLE_BYTES);
    rows->capacity = (uint32_t)DFT_LIVE_ROWS_MAX;
    rows->bins_capacity = (uint32_t)DFT_LIVE_BINS_MAX;
    rows->patterns_capacity = (uint32_t)DFT_LIVE_PATTERNS_MAX;
    rows->rows = malloc(rows->capacity * sizeof *rows->rows);
    rows->calls = malloc(rows->capacity * sizeof *rows->calls);
    rows->bins = malloc(rows->bins_capacity * sizeof *rows->bins);
    rows->patterns = malloc(rows->patterns_capacity * sizeof *rows->patterns);
    return reading->table && rows->rows && rows->calls && rows->bins && rows->patterns ? 0 : -ENOMEM;
}

static void reading_fini(struct reading *reading)
{
    free(reading->table);
    free(reading->rows.rows);
    free(reading->rows.calls);
    free(reading->rows.bins);
    free(reading->rows.patterns);
}

/* The rows of one of a table's two streams. Numbers are those of events, from 0 on. */
static int give(struct reading *reading, int calls)
{
    const struct dft_live_table *table = reading->table;
    struct dft_live_rows *rows = &reading->rows;
    uint64_t first = atomic_load(calls ? &reading->table->calls_first : &reading->table->files_first);
    uint64_t events = atomic_load(&reading->table->events);
    struct dft_buckets buckets = {.key = reading->key,
                                  .stream = calls ? table->call_stream : table->file_stream,
                                  .tid = table->tid,
                                  .first = first,
                                  .last = events - 1,
                                  .interval_ns = table->width_ns};
    int rc;

    if (events <= first)
        return 0;
    rc = calls ? dft_live_table_calls(table, rows) : dft_live_table_files(table, rows);
    if (rc || !rows->count)
        return rc;
    buckets.rows = rows->rows;
    buckets.count = rows->count;
    buckets.calls = rows->calls;
    buckets.ncalls = rows->ncalls;
    dft_buckets_find_times(&buckets);
    return reading->emit(reading->context, &buckets);
}

int dft_live_tables(const void *bytes, size_t length, uint64_t key, dft_tables_fn *emit, void *context, uint64_t *bad)
{
    struct reading reading = {.emit = emit, .context = context, .key = key};
    const struct dft_live_table *table;
    size_t offset = 0;
    int rc = 0;

    while (!rc && (table = dft_live_table_find(bytes, length, &offset))) {
        if (!reading.table)
            rc = reading_init(&reading);
        if (!rc)
            rc =
                dft_live_table_copy(reading.table, table, length - (size_t)((const char *)table - (const char *)bytes));
        if (!rc)
            rc = give(&reading, 1);
        if (!rc)
            rc = give(&reading, 0);
        if (rc == -EBADMSG || rc == -EAGAIN) {
            ++*bad;
            rc = 0;
        }
    }
    reading_fini(&reading);
    return rc;
}
