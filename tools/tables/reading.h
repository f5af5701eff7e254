/* SPDX-License-Identifier: MIT */
/* One reading of a table; private to this folder. */
#ifndef DFT_TABLES_READING_H
#define DFT_TABLES_READING_H

#include <errno.h>
#include <stdatomic.h>

#include "views/filter.h"
#include "object/object.h"
#include "intake/source_read.h"
#include "tables/maker.h"

#define DFT_BATCH_ROWS 65536u

struct dft_reading {
    struct dft_source *source;
    const struct dft_table_request *request;
    const struct dft_filter *filter;
    int picks; /* the filter may leave out events of a block that it lets pass */
    uint32_t rows;
    dft_table_take *take;
    void *context;
    struct dft_maker *makers; /* one for each worker */
    unsigned nmakers;
};

/* Must the reading end? Returns 0 or -ECANCELED. */
static inline int dft_reading_stops(const struct dft_reading *reading)
{
    const _Atomic int *stop = reading->request->stop;

    return stop && atomic_load_explicit(stop, memory_order_relaxed) ? -ECANCELED : 0;
}

/* Makes makers of these columns. Returns 0 or -ENOMEM; dft_reading_end is called in any case. */
int dft_reading_begin(struct dft_reading *reading, unsigned makers, uint64_t columns);
void dft_reading_end(struct dft_reading *reading);
/* Gives the rows of a maker, if there are any, and forgets them. */
int dft_reading_give(struct dft_reading *reading, unsigned worker);
/* The same when a batch is full, or when `last`. */
static inline int dft_reading_give_full(struct dft_reading *reading, unsigned worker, int last)
{
    uint32_t count = reading->makers[worker].count;

    return count >= reading->rows || (last && count) ? dft_reading_give(reading, worker) : 0;
}

/* Gives this rank's share of the blocks that pass, and that `wants` takes, to `fn`, in several threads;
 * then the rows that are left. Returns as dft_tables_read. */
int dft_reading_blocks(struct dft_reading *reading, int (*wants)(const struct dft_block *block), dft_blocks_fn *fn,
                       void *context);

/* The tables. Each returns as dft_tables_read. */
int dft_read_events(struct dft_reading *reading);
int dft_read_events_by_name(struct dft_reading *reading);
int dft_read_rows(struct dft_reading *reading);
int dft_read_counters(struct dft_reading *reading);
int dft_read_processes(struct dft_reading *reading);
int dft_read_jobs(struct dft_reading *reading);
int dft_read_notes(struct dft_reading *reading);
int dft_read_files(struct dft_reading *reading);
int dft_read_regions(struct dft_reading *reading);

#endif
