/* SPDX-License-Identifier: MIT */
/* Coverage: which blocks say something new, and which of these answer for rows or for events. The
 * rules stand in source.h. */
#include "judge/source_cover.h"

#include "object/source_inside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "judge/source_parts.h"

/* Orders by process, stream, part, type, first ascending, last descending. Then come the fields
 * that tell blocks apart. The place comes last, so that the order is total. */
static int by_range(const void *left, const void *right)
{
    const struct dft_block *a = *(struct dft_block *const *)left, *b = *(struct dft_block *const *)right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->stream, b->stream);
    DFT_ORDER(a->part, b->part);
    DFT_ORDER(a->type, b->type);
    DFT_ORDER(a->first, b->first);
    DFT_ORDER(b->last, a->last);
    DFT_ORDER(a->payload_crc, b->payload_crc);
    DFT_ORDER(a->stored, b->stored);
    DFT_ORDER(a->start, b->start);
    DFT_ORDER(a->end, b->end);
    DFT_ORDER(a->file, b->file);
    DFT_ORDER(a->offset, b->offset);
    return 0;
}

static int same_stream(const struct dft_block *a, const struct dft_block *b)
{
    return a->process == b->process && a->stream == b->stream;
}

static void cover_stream(struct dft_covering *covering, struct dft_block **blocks, size_t count)
{
    size_t whole = 0;
    int in_flight = 0;

    for (; whole < count && !blocks[whole]->part; whole++)
        in_flight |= blocks[whole]->type == DFT_BLOCK_EVENTS && blocks[whole]->count &&
                     blocks[whole]->first > blocks[whole]->last;
    covering->nspans = 0;
    dft_cover_part(covering, blocks, whole);
    if (whole < count)
        dft_cover_parts(covering, blocks + whole, count - whole, in_flight);
}

/* Collects facts about the source and each process from the kept blocks. */
static void sum_up(struct dft_source *source)
{
    for (size_t i = 0; i < source->nblocks; i++) {
        const struct dft_block *block = &source->blocks[i];
        struct dft_source_process *process = &source->processes[block->process];
        const int is_live = source->files[block->file].kind == DFT_FILE_LIVE;
        const uint64_t rows = block->last - block->first + 1;

        if (block->type < DFT_TYPES && block->state == DFT_BLOCK_USED)
            source->used[block->type]++;
        if (!dft_cover_is_kept(block) || !block->end)
            continue;
        if (block->type == DFT_BLOCK_BUCKETS && block->use & DFT_IN_EVENTS) {
            process->rows_only += rows;
            process->live_rows += is_live ? rows : 0;
        }
        if (block->type == DFT_BLOCK_EVENTS) {
            process->events += block->count;
            process->live_events += is_live ? block->count : 0;
        }
        if (!process->start_ns || block->start < process->start_ns)
            process->start_ns = block->start;
        if (block->end > process->end_ns)
            process->end_ns = block->end;
        if (!source->start_ns || block->start < source->start_ns)
            source->start_ns = block->start;
        if (block->end > source->end_ns)
            source->end_ns = block->end;
    }
}

/* Rows of live files stand for events, too. */
static void count_recovered(struct dft_source *source)
{
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        struct dft_source_process *process = &source->processes[p];

        process->recovered = process->live_events;
        if (process->live_file)
            process->recovered += source->files[process->live_file - 1].in_rows;
    }
}

int dft_source_cover(struct dft_source *source)
{
    struct dft_block **sorted = malloc((source->nblocks + 1) * sizeof *sorted);
    struct dft_covering covering = {.source = source, .kept = malloc((source->nblocks + 1) * sizeof *covering.kept)};
    int rc = sorted && covering.kept ? 0 : -ENOMEM;

    if (rc)
        goto out;
    for (size_t i = 0; i < source->nblocks; i++)
        sorted[i] = &source->blocks[i];
    qsort(sorted, source->nblocks, sizeof *sorted, by_range);
    for (size_t from = 0, to; from < source->nblocks; from = to) {
        for (to = from + 1; to < source->nblocks && same_stream(sorted[to], sorted[from]);)
            to++;
        cover_stream(&covering, sorted + from, to - from);
    }
    rc = covering.rc;
    sum_up(source);
    count_recovered(source);
out:
    free(sorted);
    free(covering.kept);
    free(covering.spans);
    return rc;
}
