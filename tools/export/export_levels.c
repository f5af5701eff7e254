/* SPDX-License-Identifier: MIT */
/* Collects levels over time from events. */
#include "export/export_levels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "views/source_order.h"
#include "intake/source_visit.h"

/* What an interval of a process changes. */
struct cell {
    __int128 area; /* bytes * ns of calls that do not fill the interval */
    int64_t step;  /* bytes that fill this interval and later ones */
    int64_t opened;
    uint64_t slot;
    uint32_t process;
};

struct cells {
    struct cell *list;
    size_t count, capacity;
    struct dft_map map; /* process and slot -> position + 1 */
};

struct collecting {
    const struct dft_export *export;
    struct dft_filter filter; /* without --from */
    const struct dft_level_grid *grid;
    struct cells *workers, all;
};

static struct cell *cell_at(struct cells *cells, uint32_t process, uint64_t slot)
{
    uint64_t *position = dft_map_put(&cells->map, dft_map_join(process + UINT64_C(1), slot + 1));

    if (!position)
        return NULL;
    if (!*position) {
        if (DFT_ARRAY_PUSH(cells->list, cells->capacity, cells->count, (struct cell){.process = process, .slot = slot}))
            return NULL;
        *position = cells->count;
    }
    return &cells->list[*position - 1];
}

static int add(struct cells *cells, uint32_t process, uint64_t slot, __int128 area, int64_t step, int64_t opened)
{
    struct cell *cell = cell_at(cells, process, slot);

    if (!cell)
        return -ENOMEM;
    cell->area += area;
    cell->step += step;
    cell->opened += opened;
    return 0;
}

static int add_flight(struct cells *cells, const struct dft_level_grid *grid, uint32_t process, uint64_t start,
                      uint64_t dur, int64_t bytes)
{
    uint64_t end = start + dur, width = grid->width_ns, first = start / width, last = end / width;
    int rc;

    if (first == last)
        return add(cells, process, first, (__int128)bytes * dur, 0, 0);
    rc = add(cells, process, first, (__int128)bytes * ((first + 1) * width - start), 0, 0);
    if (!rc)
        rc = add(cells, process, first + 1, 0, bytes, 0);
    return rc ? rc : add(cells, process, last, (__int128)bytes * (end - last * width), -bytes, 0);
}

/* By how much a call changes the number of descriptors of files. */
static int opens(const struct dft_event *event, uint8_t op)
{
    if (event->err || (event->bits & DFT_BIT_OPEN) || event->phase != DFT_PHASE_COMPLETE)
        return 0;
    if (op == DFT_OP_CLOSE || op == DFT_OP_FCLOSE || op == DFT_OP_CLOSEDIR)
        return -1;
    if (op == DFT_OP_OPEN || op == DFT_OP_FOPEN || op == DFT_OP_OPENDIR)
        return event->fd < 0; /* fdopen opens nothing */
    return op == DFT_OP_DUP || (op == DFT_OP_CONTROL && event->flags == F_DUPFD_CLOEXEC);
}

static int take_batch(void *context, unsigned worker, const struct dft_source_process *process,
                      const struct dft_block *block, struct dft_batch *batch)
{
    struct collecting *collecting = context;
    const struct dft_level_grid *grid = collecting->grid;
    struct cells *cells = &collecting->workers[worker];
    int rc = 0;

    (void)block;
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        uint64_t start = event->start_ns > grid->base_ns ? event->start_ns - grid->base_ns : 0;
        enum dft_class class = dft_op_class(call->op);
        uint64_t bytes = dft_event_bytes(event, call->op);
        int opened = opens(event, call->op);

        if (!dft_filter_event(&collecting->filter, event, call))
            continue;
        if (opened)
            rc = add(cells, process->number, start / grid->width_ns, 0, 0, opened);
        if (!rc && bytes && event->dur_ns && event->dur_ns < INT64_MAX && bytes < INT64_MAX &&
            (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE))
            rc = add_flight(cells, grid, process->number, start, event->dur_ns, (int64_t)bytes);
    }
    return rc;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct collecting *collecting = context;

    (void)process;
    return block->type == DFT_BLOCK_EVENTS && dft_source_wants(collecting->export->source, &collecting->filter, block);
}

static int take_cells(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct cells *all = context;
    const struct cell *list = bytes;
    int rc = 0;

    (void)rank;
    for (size_t i = 0; !rc && i < length / sizeof *list; i++)
        rc = add(all, list[i].process, list[i].slot, list[i].area, list[i].step, list[i].opened);
    return rc;
}

static int by_process(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->slot, b->slot);
    return 0;
}

/* What was open at the start of a process, at least. */
static int64_t open_before(const struct cell *cell, size_t count)
{
    int64_t open = 0, least = 0;

    for (size_t i = 0; i < count; i++) {
        open += cell[i].opened;
        least = open < least ? open : least;
    }
    return -least;
}

/* The levels of one process. A level of files holds from the end of the interval that changed it. */
static int emit_process(const struct dft_level_grid *grid, const struct cell *cell, size_t count, dft_level_fn *take,
                        void *context)
{
    uint32_t process = cell->process;
    int64_t open = open_before(cell, count), flight = 0;
    int has_open = open != 0, rc = 0;

    if (open)
        rc = take(context, process, 1, grid->base_ns + cell->slot * grid->width_ns, (double)open);
    for (size_t i = 0; !rc && i < count; i++) {
        uint64_t at = grid->base_ns + cell[i].slot * grid->width_ns, next = at + grid->width_ns;

        open += cell[i].opened;
        if (cell[i].opened) {
            if (!has_open)
                rc = take(context, process, 1, at, 0);
            has_open = 1;
            rc = rc ? rc : take(context, process, 1, next, (double)open);
        }
        flight += cell[i].step;
        if (!rc && (cell[i].area || cell[i].step))
            rc = take(context, process, 0, at, (double)flight + (double)cell[i].area / (double)grid->width_ns);
        if (!rc && cell[i].area &&
            (i + 1 == count || cell[i + 1].slot != cell[i].slot + 1 || !(cell[i + 1].area || cell[i + 1].step)))
            rc = take(context, process, 0, next, (double)flight);
    }
    return rc;
}

static int gather(struct collecting *collecting, unsigned threads)
{
    struct cells own = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < threads; i++) {
        struct cells *cells = &collecting->workers[i];

        rc = cells->count ? take_cells(&own, 0, cells->list, cells->count * sizeof *cells->list) : 0;
    }
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_gather(own.list, own.count * sizeof *own.list, take_cells, &collecting->all);
    free(own.list);
    dft_map_fini(&own.map);
    return rc;
}

static int emit_all(const struct collecting *collecting, dft_level_fn *take, void *context)
{
    const struct cells *all = &collecting->all;
    int rc = 0;

    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, by_process);
    for (size_t from = 0, to; !rc && from < all->count; from = to) {
        for (to = from + 1; to < all->count && all->list[to].process == all->list[from].process; to++)
            ;
        rc = emit_process(collecting->grid, &all->list[from], to - from, take, context);
    }
    return rc;
}

int dft_levels_each(const struct dft_export *export, const struct dft_level_grid *grid, dft_level_fn *take,
                    void *context)
{
    unsigned threads = dft_source_threads(export->source);
    struct collecting collecting = {.export = export,
                                    .filter = *export->filter,
                                    .grid = grid,
                                    .workers = calloc(threads, sizeof *collecting.workers)};
    int rc = dft_comm_agree(collecting.workers ? 0 : -ENOMEM);

    collecting.filter.from_ns = 0;
    if (!rc)
        rc = dft_source_visit(
            export->source, &(struct dft_visit){.context = &collecting, .select = select_block, .events = take_batch});
    if (!rc)
        rc = gather(&collecting, threads);
    if (!rc)
        rc = dft_comm_agree(emit_all(&collecting, take, context));
    for (unsigned i = 0; collecting.workers && i < threads; i++) {
        free(collecting.workers[i].list);
        dft_map_fini(&collecting.workers[i].map);
    }
    free(collecting.workers);
    free(collecting.all.list);
    dft_map_fini(&collecting.all.map);
    return rc;
}
