/* SPDX-License-Identifier: MIT */
/* Reads the table events: in no order, in parts, by rank, or by time. */
#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/work.h"
#include "query/group_keys.h"
#include "intake/source_exchange.h"
#include "views/source_order.h"
#include "tables/block_events.h"
#include "tables/columns.h"
#include "tables/event_columns.h"

/* Adds events to the worker's batch, and gives the batch when it is full. */
static int add_events(void *context, unsigned worker, const struct dft_event_at *const *events, uint32_t count,
                      uint32_t *most)
{
    struct dft_reading *reading = context;
    struct dft_maker *maker = &reading->makers[worker];
    int rc = count ? dft_maker_events(maker, events, count) : 0;

    if (!rc && !reading->request->parts)
        rc = dft_reading_give_full(reading, worker, 0);
    *most = reading->request->parts || reading->rows - maker->count > DFT_CHUNK_EVENTS ? DFT_CHUNK_EVENTS
                                                                                       : reading->rows - maker->count;
    return rc;
}

static int read_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                      size_t number)
{
    struct dft_reading *reading = context;
    struct dft_batch batch;
    int rc = dft_block_decode(reading, reader, block, &batch);

    (void)number;
    return rc ? rc : dft_block_events(reading, worker, block, &batch, add_events, reading);
}

static int read_in_no_order(struct dft_reading *reading, const struct dft_block **blocks, size_t count)
{
    int rc = dft_read_blocks(reading->source, blocks, count, 0, "blocks read", read_block, reading);

    for (unsigned i = 0; i < reading->nmakers && !rc; i++)
        rc = dft_reading_give_full(reading, i, 1);
    return rc;
}

/* --- parts ------------------------------------------------------------------------------------ */

struct parts {
    struct dft_reading *reading;
    const struct dft_block **blocks;
    size_t *first; /* of each part; one more says where the last part ends */
    size_t count;
    struct dft_reader **readers; /* by worker */
};

static int32_t rank_of(const struct dft_source_process *processes, const struct dft_block *block)
{
    return processes[block->process].process.rank;
}

static int by_rank(const void *left, const void *right, void *context)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    DFT_ORDER(rank_of(context, a), rank_of(context, b));
    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(a->stream, b->stream);
    DFT_ORDER(a->first, b->first);
    DFT_ORDER(a, b);
    return 0;
}

static void sort_by_rank(const struct dft_reading *reading, const struct dft_block **blocks, size_t count)
{
    uint32_t all;

    qsort_r(blocks, count, sizeof(const struct dft_block *), by_rank,
            (void *)dft_source_processes(reading->source, &all));
}

static int divide(struct parts *parts, size_t count)
{
    uint64_t rows = 0;

    parts->first = malloc((count + 1) * sizeof *parts->first);
    if (!parts->first)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!rows || rows + parts->blocks[i]->count > parts->reading->rows) {
            parts->first[parts->count++] = i;
            rows = 0;
        }
        rows += parts->blocks[i]->count;
    }
    parts->first[parts->count] = count;
    return 0;
}

static int give_part(struct dft_reading *reading, unsigned worker)
{
    int rc = dft_maker_sort(&reading->makers[worker], DFT_EVENTS_TIME);

    return rc ? rc : dft_reading_give(reading, worker);
}

static int is_large(const struct dft_reading *reading, unsigned worker)
{
    uint64_t most = reading->request->bytes;

    return most && dft_maker_used_bytes(&reading->makers[worker]) >= most;
}

static int read_part(void *context, unsigned worker, size_t from, size_t to)
{
    struct parts *parts = context;
    struct dft_reading *reading = parts->reading;
    int rc = 0;

    if (!parts->readers[worker])
        parts->readers[worker] = dft_reader_create(reading->source);
    if (!parts->readers[worker])
        return -ENOMEM;
    for (size_t part = from; part < to && !rc; part++) {
        for (size_t i = parts->first[part]; i < parts->first[part + 1] && !rc; i++) {
            rc = read_block(reading, worker, parts->readers[worker], parts->blocks[i], i);
            if (!rc && is_large(reading, worker))
                rc = give_part(reading, worker);
        }
        if (!rc)
            rc = give_part(reading, worker);
    }
    return rc;
}

static int read_in_parts(struct dft_reading *reading, const struct dft_block **blocks, size_t count)
{
    struct parts parts = {.reading = reading, .blocks = blocks};
    int rc;

    sort_by_rank(reading, blocks, count);
    parts.readers = calloc(reading->nmakers, sizeof(struct dft_reader *));
    rc = parts.readers ? divide(&parts, count) : -ENOMEM;
    if (!rc)
        rc = dft_work_run(reading->nmakers, parts.count, 1, read_part, &parts);
    for (unsigned i = 0; parts.readers && i < reading->nmakers; i++)
        dft_reader_destroy(parts.readers[i]);
    free(parts.readers);
    free(parts.first);
    return rc;
}

/* --- in order --------------------------------------------------------------------------------- */

static int read_by_rank(struct dft_reading *reading, const struct dft_block **blocks, size_t count)
{
    struct dft_reader *reader = dft_reader_create(reading->source);
    int rc = reader ? 0 : -ENOMEM;

    sort_by_rank(reading, blocks, count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = read_block(reading, 0, reader, blocks[i], i);
    dft_reader_destroy(reader);
    return rc ? rc : dft_reading_give_full(reading, 0, 1);
}

static int add_next(void *context, const struct dft_event_at *at)
{
    struct dft_reading *reading = context;
    int rc;

    if (!reading->request->every && !dft_event_counts(at->event, at->op))
        return dft_reading_stops(reading);
    rc = add_events(reading, 0, &at, 1, &(uint32_t){0});
    return rc || reading->makers->count % DFT_CHUNK_EVENTS || !is_large(reading, 0) ? rc : dft_reading_give(reading, 0);
}

static int read_by_time(struct dft_reading *reading)
{
    struct dft_ordering *timeline;
    int rc = dft_ordering_create(&timeline, reading->source, reading->picks ? reading->filter : NULL, 0);

    if (!rc) {
        dft_ordering_without_texts(timeline);
        rc = dft_ordering_emit(timeline, 0, add_next, reading);
    }
    dft_ordering_destroy(timeline);
    return rc ? rc : dft_reading_give_full(reading, 0, 1);
}

/* --- all -------------------------------------------------------------------------------------- */

int dft_read_events(struct dft_reading *reading)
{
    const struct dft_block **blocks = NULL;
    enum dft_table_order order = reading->request->order;
    uint64_t columns = reading->request->columns;
    size_t count;
    int rc;

    if (reading->request->parts)
        columns |= DFT_EVENTS_BIT(TIME);
    rc = dft_reading_begin(reading, order ? 1 : dft_source_threads(reading->source), columns);
    if (!rc)
        rc = dft_blocks_of_events(reading, &blocks, &count);
    if (!rc && !order) {
        count = dft_exchange_blocks(reading->source, blocks, count);
        rc = (reading->request->parts ? read_in_parts : read_in_no_order)(reading, blocks, count);
    } else if (!rc) {
        rc = order == DFT_ORDER_TIME ? read_by_time(reading) : read_by_rank(reading, blocks, count);
    }
    free(blocks);
    dft_reading_end(reading);
    return rc;
}
