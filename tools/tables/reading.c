/* SPDX-License-Identifier: MIT */
/* Reading a table: what all tables share. */
#include "tables/reading.h"

#include <errno.h>
#include <stdlib.h>

#include "intake/source_exchange.h"

int dft_reading_begin(struct dft_reading *reading, unsigned makers, uint64_t columns)
{
    int rc = 0;

    reading->makers = calloc(makers, sizeof *reading->makers);
    reading->nmakers = reading->makers ? makers : 0;
    for (unsigned i = 0; i < reading->nmakers && !rc; i++)
        rc = dft_maker_init(&reading->makers[i], reading->source, reading->request->table, columns);
    return reading->makers ? rc : -ENOMEM;
}

void dft_reading_end(struct dft_reading *reading)
{
    for (unsigned i = 0; i < reading->nmakers; i++)
        dft_maker_fini(&reading->makers[i]);
    free(reading->makers);
    reading->makers = NULL;
    reading->nmakers = 0;
}

int dft_reading_give(struct dft_reading *reading, unsigned worker)
{
    struct dft_maker *maker = &reading->makers[worker];
    struct dft_table_batch batch;
    int rc = maker->count ? dft_maker_finish(maker, &batch) : 0;

    if (!rc && maker->count)
        rc = reading->take(reading->context, worker, &batch);
    dft_maker_clear(maker);
    return rc;
}

int dft_reading_blocks(struct dft_reading *reading, int (*wants)(const struct dft_block *block), dft_blocks_fn *fn,
                       void *context)
{
    size_t all, n = 0;
    uint32_t count;
    const struct dft_block *blocks = dft_source_blocks(reading->source, &all);
    const struct dft_source_process *processes = dft_source_processes(reading->source, &count);
    const struct dft_block **list = malloc((all + 1) * sizeof(const struct dft_block *));
    int rc;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < all; i++)
        if (blocks[i].count && wants(&blocks[i]) &&
            dft_filter_block(reading->filter, &processes[blocks[i].process], &blocks[i]))
            list[n++] = &blocks[i];
    n = dft_exchange_blocks(reading->source, list, n);
    rc = dft_read_blocks(reading->source, list, n, 0, "blocks read", fn, context);
    free(list);
    for (unsigned i = 0; i < reading->nmakers && !rc; i++)
        rc = dft_reading_give_full(reading, i, 1);
    return rc;
}
