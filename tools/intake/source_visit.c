/* SPDX-License-Identifier: MIT */
/* Visits blocks in N threads. */

#include "intake/source_visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "intake/source_read.h"
#include "intake/source_exchange.h"
#include "object/source_inside.h"

struct visiting {
    struct dft_source *source;
    const struct dft_visit *visit;
};

static int visit_raw(struct visiting *visiting, unsigned worker, struct dft_reader *reader,
                     const struct dft_block *block)
{
    const struct dft_visit *visit = visiting->visit;
    struct dft_block_header header;
    const void *payload;
    int rc = dft_reader_block(reader, block, &header, &payload);

    if (rc)
        return rc == -ENOMEM ? rc : 0;
    return visit->raw(visit->context, worker, &visiting->source->processes[block->process], block, &header, payload);
}

static int visit_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                       size_t number)
{
    struct visiting *visiting = context;
    const struct dft_visit *visit = visiting->visit;
    const struct dft_source_process *process = &visiting->source->processes[block->process];
    int rc;

    (void)number;
    if (block->type == DFT_BLOCK_EVENTS && visit->events) {
        struct dft_batch batch;

        rc = dft_reader_events(reader, block, &batch);
        if (!rc)
            return visit->events(visit->context, worker, process, block, &batch);
    } else if (block->type == DFT_BLOCK_BUCKETS && visit->buckets) {
        struct dft_buckets buckets;

        rc = dft_reader_buckets(reader, block, &buckets);
        if (!rc)
            return visit->buckets(visit->context, worker, process, block, &buckets);
    } else if (block->type == DFT_BLOCK_COUNTERS && visit->counters) {
        struct dft_counters counters;

        rc = dft_reader_counters(reader, block, &counters);
        if (!rc)
            return visit->counters(visit->context, worker, process, block, &counters);
    } else {
        return visit_raw(visiting, worker, reader, block);
    }
    return rc == -ENOMEM ? rc : 0;
}

static int wanted_by(const struct dft_source *source, const struct dft_visit *visit, const struct dft_block *block)
{
    int handled = visit->raw || (block->type == DFT_BLOCK_EVENTS && visit->events) ||
                  (block->type == DFT_BLOCK_BUCKETS && visit->buckets) ||
                  (block->type == DFT_BLOCK_COUNTERS && visit->counters);

    if (!handled)
        return 0;
    if (!visit->select)
        return block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS;
    return visit->select(visit->context, &source->processes[block->process], block);
}

int dft_source_visit(struct dft_source *source, const struct dft_visit *visit)
{
    struct visiting visiting = {.source = source, .visit = visit};
    const struct dft_block **list = malloc((source->nblocks + 1) * sizeof *list);
    size_t n = 0;
    int rc;

    rc = dft_comm_agree(list ? 0 : -ENOMEM);
    if (rc) {
        free(list);
        return rc;
    }
    for (size_t i = 0; i < source->nblocks; i++)
        if (wanted_by(source, visit, &source->blocks[i]))
            list[n++] = &source->blocks[i];
    n = dft_exchange_blocks(source, list, n);
    rc = dft_read_blocks(source, list, n, 0, visit->progress, visit_block, &visiting);
    free(list);
    rc = dft_comm_agree(rc);
    return rc < 0 ? rc : dft_exchange_notes(source) ? -ENOMEM : rc;
}
