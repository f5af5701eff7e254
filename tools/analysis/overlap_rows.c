/* SPDX-License-Identifier: MIT */
/* Overlap from rows: windows of time, of each of which the blocks are visited. Time in which no
 * process lives is passed over: clocks of traces may be decades apart. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/settings.h"
#include "mpi/comm.h"
#include "analysis/overlap_cells.h"
#include "analysis/overlap_events.h"
#include "analysis/overlap_teams.h"
#include "query/group_keys.h"
#include "query/plan_times.h"
#include "intake/class_table.h"
#include "object/source_notes.h"
#include "intake/source_visit.h"

#define CELLS_MAX (UINT64_C(4) << 20) /* of a window: 24 bytes each */
#define LANES_MAX (UINT64_C(4) << 20) /* intervals, summed over all processes */
#define FINE      2048u               /* intervals, where there are no rows */
#define SLACK     2u                  /* intervals that a block's rows may lie beside its times */

/* A time in which some process lives (Unix). */
struct alive {
    uint64_t from_ns, to_ns;
};

struct visiting {
    struct dft_overlapping *overlapping;
    struct dft_overlap_cells cells;
    struct alive *alive; /* in order of time; they do not touch */
    size_t nalive;
};

static void add_row(struct dft_overlap_cells *cells, uint32_t lane, unsigned state, const struct dft_row *row,
                    uint64_t width)
{
    const struct dft_metrics *m = &row->metrics;
    uint64_t start = row->interval * width, parts = (uint64_t)__builtin_popcountll(m->occupancy);

    if (width == cells->width_ns && !((start - cells->origin_ns) % width)) {
        struct dft_overlap_cell cell = {m->occupancy, m->edge, m->step};

        if (m->edge && !m->occupancy) /* of one who does not tell */
            cell.bits = UINT64_MAX;
        dft_overlap_cell_add(cells, lane, (start - cells->origin_ns) / width, state, &cell);
        return;
    }
    for (unsigned i = 0; parts && i < DFT_SLOTS; i++) {
        uint64_t from = start + (width / 64 ? width / 64 * i : width * i / 64);

        if (m->occupancy >> i & 1)
            dft_overlap_cell_span(cells, lane, state, from, from + (m->edge / parts ? m->edge / parts : 1));
    }
    if (m->step)
        dft_overlap_cell_step(cells, lane, state, start, m->step);
}

static int row_passes(const struct dft_filter *filter, const struct dft_row *row)
{
    return dft_filter_region(filter, row->region) &&
           (!dft_filter_has_facets(filter) || dft_filter_facets(filter, dft_all_row_facets(row)));
}

static int take_rows(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_buckets *buckets)
{
    struct visiting *visiting = context;
    uint32_t lane = visiting->overlapping->lane_of[process->number];

    (void)worker;
    (void)block;
    if (lane == DFT_NO_LANE || !buckets->interval_ns || buckets->interval_ns > DFT_INTERVAL_NS_MAX)
        return 0;
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        const struct dft_call call = {.id = row->subject, .op = row->op, .io = row->io};
        unsigned busy;

        if (row->kind != DFT_ROW_CALL || row->interval > UINT64_MAX / buckets->interval_ns)
            continue;
        busy = dft_overlap_call(visiting->overlapping, &call);
        if (!row_passes(visiting->overlapping->request->filter, row))
            busy &= ~(1u << DFT_BUSY_IO);
        for (unsigned state = 0; state < DFT_CELL_STATES; state++)
            if (busy >> state & 1)
                add_row(&visiting->cells, lane, state, row, buckets->interval_ns);
    }
    return 0;
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct visiting *visiting = context;
    uint32_t lane = visiting->overlapping->lane_of[process->number];

    (void)worker;
    (void)block;
    for (uint32_t i = 0; lane != DFT_NO_LANE && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = event->call < batch->ncalls ? &batch->calls[event->call] : NULL;
        uint64_t end = event->start_ns + event->dur_ns;
        unsigned busy;

        if (!call || event->phase != DFT_PHASE_COMPLETE || !dft_event_counts(event, call->op) || end <= event->start_ns)
            continue;
        busy = dft_overlap_call(visiting->overlapping, call);
        if (busy & 1u << DFT_BUSY_IO && !dft_overlap_io_passes(visiting->overlapping->request->filter, event, call->op))
            continue;
        for (unsigned state = 0; state < DFT_CELL_STATES; state++)
            if (busy >> state & 1)
                dft_overlap_cell_span(&visiting->cells, lane, state, event->start_ns, end);
    }
    return 0;
}

static int is_asked(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct visiting *visiting = context;
    const struct dft_overlap_cells *cells = &visiting->cells;
    const int is_classified = dft_source_is_classified(visiting->overlapping->request->source);
    uint64_t from = cells->origin_ns + cells->first * cells->width_ns, slack = SLACK * cells->width_ns;
    uint64_t to = from + cells->intervals * cells->width_ns;

    return block->use & (is_classified ? DFT_IN_EVENTS : DFT_IN_ROWS) && block->count &&
           dft_filter_process(visiting->overlapping->request->filter, process) && block->start < to + slack &&
           block->end + slack >= from;
}

/* --- ranks of dftmerge-mpi -------------------------------------------------------------------- */

static size_t bytes_of(const struct dft_overlap_cells *cells)
{
    return (size_t)cells->overlap->nprocesses * cells->intervals * DFT_CELL_STATES * sizeof *cells->cells;
}

static int pack(void *context, void **bytes, size_t *length)
{
    const struct visiting *visiting = context;

    *length = bytes_of(&visiting->cells);
    *bytes = malloc(*length + 1);
    if (!*bytes)
        return -ENOMEM;
    memcpy(*bytes, visiting->cells.cells, *length);
    memset(visiting->cells.cells, 0, *length);
    return 0;
}

static int unpack(void *context, unsigned rank, const void *bytes, size_t length)
{
    const struct visiting *visiting = context;
    struct dft_overlap_cell *cells = visiting->cells.cells;

    (void)rank;
    for (size_t i = 0; i < length / sizeof *cells; i++) {
        struct dft_overlap_cell more;

        memcpy(&more, (const char *)bytes + i * sizeof more, sizeof more);
        cells[i].bits |= more.bits;
        cells[i].edge += more.edge;
        cells[i].step += more.step;
    }
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct alive *a = left, *b = right;

    DFT_ORDER(a->from_ns, b->from_ns);
    DFT_ORDER(a->to_ns, b->to_ns);
    return 0;
}

/* The union of the lives of all processes, whatever time is requested: regions may begin before
 * it. */
static int find_alive(struct visiting *visiting)
{
    const struct dft_overlapping *overlapping = visiting->overlapping;
    uint32_t count, n = 0;
    const struct dft_source_process *processes = dft_source_processes(overlapping->request->source, &count);
    struct alive *alive = visiting->alive = calloc(count + 1u, sizeof *alive);

    if (!alive)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        dft_process_lifetime(&processes[i], &alive[n].from_ns, &alive[n].to_ns);
        n += overlapping->lane_of[i] != DFT_NO_LANE && alive[n].to_ns;
    }
    qsort(alive, n, sizeof *alive, by_time);
    for (uint32_t i = 0; i < n; i++) {
        struct alive *last = visiting->nalive ? &alive[visiting->nalive - 1] : NULL;

        if (!last || alive[i].from_ns > last->to_ns)
            alive[visiting->nalive++] = alive[i];
        else if (alive[i].to_ns > last->to_ns)
            last->to_ns = alive[i].to_ns;
    }
    return 0;
}

/* The grid of rows; where there are none, one that is fine enough. *capacity: intervals of a
 * window. */
static int make_grid(struct visiting *visiting, uint64_t *capacity)
{
    struct dft_overlap_cells *cells = &visiting->cells;
    uint32_t lanes = visiting->overlapping->overlap->nprocesses + 1;
    const struct dft_overlap_request *request = visiting->overlapping->request;
    uint64_t width, period, start, end, intervals, limit, lived = 0;
    int rc = dft_query_interval(request->source, &width);

    if (!rc)
        rc = dft_query_period(request->source, &period);
    if (rc)
        return rc;
    dft_source_span(request->source, &start, &end);
    for (size_t i = 0; i < visiting->nalive; i++)
        lived += visiting->alive[i].to_ns - visiting->alive[i].from_ns;
    lived = lived && lived < end - start ? lived : end - start;
    width = period > width ? period : width;
    if (!width)
        width = lived / FINE / DFT_SLOTS * DFT_SLOTS + DFT_SLOTS;
    limit = LANES_MAX / lanes + 1;
    if (lived / width >= limit) /* a longer run, or a more crowded one, is estimated more coarsely */
        width *= lived / width / limit + 1;
    cells->width_ns = width;
    cells->origin_ns = start / width * width;
    cells->from_ns = request->filter->from_ns;
    cells->to_ns = request->filter->to_ns;
    intervals = (end - cells->origin_ns) / width + 1;
    limit = dft_setting_or(DFT_SETTING_WINDOW_EVENTS, CELLS_MAX) / DFT_CELL_STATES / lanes + 1;
    *capacity = intervals < limit ? intervals : limit;
    return 0;
}

/* The next window, of at most so many intervals: it begins where the last one ends, or where the
 * next life does, and ends with the last life in it. Returns 0 where no process lives any more.
 * *at: the life that was found; the caller sets it to 0 at first. */
static int find_window(struct visiting *visiting, uint64_t capacity, size_t *at)
{
    struct dft_overlap_cells *cells = &visiting->cells;
    const struct alive *alive = visiting->alive;
    uint64_t width = cells->width_ns, slack = SLACK * width, from = cells->origin_ns + cells->first * width, end = 0;

    while (*at < visiting->nalive && alive[*at].to_ns + slack < from)
        ++*at;
    if (*at == visiting->nalive)
        return 0;
    if (alive[*at].from_ns > from + slack)
        cells->first = (alive[*at].from_ns - slack - cells->origin_ns) / width;
    from = cells->origin_ns + cells->first * width;
    for (size_t i = *at; i < visiting->nalive && alive[i].from_ns < from + capacity * width; i++)
        end = alive[i].to_ns + slack;
    cells->intervals = (uint32_t)((end - from) / width < capacity ? (end - from) / width + 1 : capacity);
    return 1;
}

static void fill_lives(const struct visiting *visiting)
{
    const struct dft_overlap_request *request = visiting->overlapping->request;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = visiting->overlapping->lane_of[i];
        uint64_t *life = lane == DFT_NO_LANE ? NULL : &visiting->cells.lives[2 * (size_t)lane], start, end;

        if (!life)
            continue;
        dft_overlap_life(request, &processes[i], &start, &end);
        life[0] = !life[0] || start < life[0] ? start : life[0];
        life[1] = end > life[1] ? end : life[1];
    }
}

/* What is in flight is in no row. */
static void add_flights(struct visiting *visiting)
{
    const struct dft_flights *flights = &visiting->overlapping->flights;
    uint64_t start, end;
    uint32_t lane;

    for (size_t i = 0; i < flights->count; i++)
        if (dft_overlap_flight(visiting->overlapping, &flights->list[i], &lane, &start, &end))
            dft_overlap_cell_span(&visiting->cells, lane, DFT_BUSY_WAIT, start, end);
}

static int visit_window(struct visiting *visiting)
{
    struct dft_visit visit = {.context = visiting,
                              .select = is_asked,
                              .events = take_events,
                              .buckets = take_rows,
                              .progress = "blocks of rows read"};
    int rc = dft_source_visit(visiting->overlapping->request->source, &visit);

    if (!rc)
        rc = dft_comm_reduce(pack, unpack, visiting);
    if (!rc && !dft_comm_rank()) {
        add_flights(visiting);
        dft_overlap_cells_count(&visiting->cells);
    } else {
        visiting->cells.first += visiting->cells.intervals;
    }
    return rc;
}

int dft_overlap_from_rows(struct dft_overlapping *overlapping)
{
    struct visiting visiting = {.overlapping = overlapping, .cells.overlap = overlapping->overlap};
    uint64_t capacity = 0, lanes = overlapping->overlap->nprocesses;
    size_t at = 0;
    int rc = dft_comm_agree(find_alive(&visiting));

    if (!rc)
        rc = make_grid(&visiting, &capacity);
    if (dft_filter_has_files(overlapping->request->filter) ||
        dft_filter_has(overlapping->request->filter, DFT_FILTER_SLOWER))
        dft_source_note(overlapping->request->source, 0,
                        "aggregates of calls know neither files nor single durations: what was estimated from them is "
                        "of all files and durations");
    if (!rc)
        rc = dft_comm_agree(dft_overlap_cells_init(&visiting.cells, (uint32_t)capacity));
    if (!rc)
        fill_lives(&visiting);
    while (!rc && lanes && find_window(&visiting, capacity, &at))
        rc = visit_window(&visiting);
    if (!rc)
        dft_overlap_cells_finish(&visiting.cells);
    dft_overlap_cells_fini(&visiting.cells);
    free(visiting.alive);
    return rc;
}
