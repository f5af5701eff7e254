/* SPDX-License-Identifier: MIT */
/* Reads the table rows. What has events alone is aggregated here, block by block, on a grid of the
 * interval that the traces' own rows have. */
#include <errno.h>
#include <stdlib.h>

#include "aggregator/aggregate.h"
#include "base/facet_words.h"
#include "format/io.h"
#include "views/filter_event.h"
#include "tables/columns.h"
#include "tables/reading.h"

#define WIDTH_NS UINT64_C(1000000000) /* of rows that are made here */

struct rows {
    struct dft_reading *reading;
    struct dft_table **tables; /* by worker */
};

/* Which rows a block has in common. */
struct origin {
    const struct dft_source_process *process;
    const struct dft_block *block;
    uint64_t width_ns;
};

/* Does a row pass? It begins where its interval does; files and regions within are not known. */
static int passes(const struct dft_reading *reading, const struct origin *origin, const struct dft_row *row)
{
    const struct dft_filter *filter = reading->filter;
    struct dft_event start = {.start_ns = row->interval * origin->width_ns};
    struct dft_call call = {.id = row->subject, .op = row->op, .io = row->io};

    if (row->kind != DFT_ROW_CALL || !(row->metrics.count | row->metrics.samples | row->metrics.data))
        return 0;
    if (!reading->picks)
        return 1;
    return dft_filter_time(filter, &start) && dft_filter_call(filter, &call) &&
           (!dft_filter_has(filter, DFT_FILTER_REGION) || dft_filter_region(filter, row->region)) &&
           (!dft_filter_has_facets(filter) || dft_filter_facets(filter, dft_all_row_facets(row))) &&
           dft_filter_durations(filter, &row->metrics) != DFT_PASSES_NOT;
}

static void put_who(struct dft_maker *maker, const struct origin *origin, const struct dft_row *row)
{
    const struct dft_process *process = &origin->process->process;

    dft_maker_set(maker, DFT_ROWS_TIME, (int64_t)(row->interval * origin->width_ns));
    dft_maker_set(maker, DFT_ROWS_WIDTH, (int64_t)origin->width_ns);
    dft_maker_set(maker, DFT_ROWS_PROCESS, origin->process->number);
    dft_maker_set(maker, DFT_ROWS_RANK, process->rank >= 0 ? process->rank : DFT_CELL_NULL);
    dft_maker_set(maker, DFT_ROWS_PID, origin->process->known ? (int64_t)process->pid : DFT_CELL_NULL);
    dft_maker_set(maker, DFT_ROWS_TID, origin->block->tid);
    dft_maker_set(maker, DFT_ROWS_ERRNO, row->err == DFT_ERRNO_UNKNOWN ? DFT_CELL_NULL : row->err);
}

static void put_times(struct dft_maker *maker, const struct dft_metrics *m)
{
    dft_maker_set(maker, DFT_ROWS_CALLS, (int64_t)m->count);
    dft_maker_set(maker, DFT_ROWS_EVENTS, (int64_t)m->samples);
    dft_maker_set(maker, DFT_ROWS_ERRORS, (int64_t)m->errors);
    dft_maker_set(maker, DFT_ROWS_DUR, (int64_t)m->dur_sum);
    if (dft_metrics_knows_dur_min(m))
        dft_maker_set(maker, DFT_ROWS_DUR_MIN, (int64_t)m->dur_min);
    if (dft_metrics_knows_dur_max(m))
        dft_maker_set(maker, DFT_ROWS_DUR_MAX, (int64_t)m->dur_max);
    if (m->samples && m->first_start != UINT64_MAX) {
        dft_maker_set(maker, DFT_ROWS_FIRST, (int64_t)m->first_start);
        dft_maker_set(maker, DFT_ROWS_LAST, (int64_t)m->last_end);
    }
}

static void put_bytes(struct dft_maker *maker, const struct dft_metrics *m)
{
    dft_maker_set(maker, DFT_ROWS_DATA, (int64_t)m->data);
    dft_maker_set(maker, DFT_ROWS_SIZE, (int64_t)m->asked);
    dft_maker_set(maker, DFT_ROWS_BYTES, (int64_t)m->bytes);
    if (dft_metrics_knows_size_min(m))
        dft_maker_set(maker, DFT_ROWS_BYTES_MIN, (int64_t)m->size_min);
    if (dft_metrics_knows_size_max(m))
        dft_maker_set(maker, DFT_ROWS_BYTES_MAX, (int64_t)m->size_max);
    if (m->offset_min != INT64_MAX)
        dft_maker_set(maker, DFT_ROWS_OFFSET_MIN, m->offset_min);
    if (m->offset_max >= 0)
        dft_maker_set(maker, DFT_ROWS_OFFSET_MAX, m->offset_max);
    dft_maker_set(maker, DFT_ROWS_TURNS, (int64_t)m->turns);
}

static int put_row(struct dft_reading *reading, unsigned worker, const struct origin *origin, const struct dft_row *row)
{
    struct dft_maker *maker = &reading->makers[worker];
    int rc = dft_maker_row(maker);

    if (rc)
        return rc;
    put_who(maker, origin, row);
    dft_maker_set(maker, DFT_ROWS_IS_IO, dft_is_io(row->io));
    put_times(maker, &row->metrics);
    put_bytes(maker, &row->metrics);
    rc = dft_maker_set_call(maker, DFT_ROWS_CAT, DFT_ROWS_NAME, row->subject);
    if (!rc)
        rc = dft_maker_set_call(maker, DFT_ROWS_REGION_CAT, DFT_ROWS_REGION, row->region);
    if (!rc)
        rc = dft_maker_set_word(maker, DFT_ROWS_CLASS, dft_io_word(row->io));
    if (!rc)
        rc = dft_maker_set_word(maker, DFT_ROWS_ACCESS, dft_access_word(row->access));
    return rc ? rc : dft_reading_give_full(reading, worker, 0);
}

static int put_rows(struct rows *rows, unsigned worker, const struct origin *origin, const struct dft_row *list,
                    uint32_t count)
{
    int rc = 0;

    for (uint32_t i = 0; i < count && !rc; i++)
        if (passes(rows->reading, origin, &list[i]))
            rc = put_row(rows->reading, worker, origin, &list[i]);
    return rc;
}

/* Rows of a block of events that no rows stand for. */
static int make_rows(struct rows *rows, unsigned worker, struct origin *origin, struct dft_reader *reader)
{
    struct dft_table **table = &rows->tables[worker];
    struct dft_batch batch;
    struct dft_row *list;
    uint32_t done = 0, count;
    int rc = dft_reader_events(reader, origin->block, &batch);

    if (rc)
        return rc == -ENOMEM ? rc : 0;
    if (!*table)
        *table = dft_table_create(WIDTH_NS, 0);
    rc = *table ? dft_table_add(*table, &batch, &done) : -ENOMEM;
    if (!rc)
        rc = dft_table_rows(*table, &list, &count);
    origin->width_ns = WIDTH_NS;
    if (!rc)
        rc = put_rows(rows, worker, origin, list, count);
    if (*table)
        dft_table_clear(*table);
    return rc;
}

static int read_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct rows *rows = context;
    uint32_t all;
    struct origin origin = {&dft_source_processes(rows->reading->source, &all)[block->process], block, 0};
    struct dft_buckets buckets;
    int rc = dft_reading_stops(rows->reading);

    (void)number;
    if (rc)
        return rc;
    if (block->type == DFT_BLOCK_EVENTS)
        return make_rows(rows, worker, &origin, reader);
    rc = dft_reader_buckets(reader, block, &buckets);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    origin.width_ns = buckets.interval_ns;
    return put_rows(rows, worker, &origin, buckets.rows, buckets.count);
}

static int wants(const struct dft_block *block)
{
    return block->use & DFT_IN_ROWS;
}

int dft_read_rows(struct dft_reading *reading)
{
    struct rows rows = {.reading = reading};
    unsigned threads = dft_source_threads(reading->source);
    int rc = dft_reading_begin(reading, threads, reading->request->columns);

    rows.tables = calloc(threads, sizeof(struct dft_table *));
    if (!rc)
        rc = rows.tables ? dft_reading_blocks(reading, wants, read_block, &rows) : -ENOMEM;
    for (unsigned i = 0; i < threads && rows.tables; i++)
        dft_table_destroy(rows.tables[i]);
    free(rows.tables);
    dft_reading_end(reading);
    return rc;
}
