/* SPDX-License-Identifier: MIT */
/* Overlap from events: windows of time, in each of which starts and ends are sorted and swept.
 *
 * Threads decode, and keep a start and an end of 16 bytes each for what matters. One thread sweeps.
 * Ends behind a window wait for the next one. */
#include "analysis/overlap_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "analysis/overlap_teams.h"
#include "query/group_keys.h"
#include "views/filter_event.h"
#include "intake/source_names.h"
#include "views/source_order.h"
#include "views/source_window.h"

#define EVENTS_MAX ((size_t)3 << 19) /* of a window: with what sorts them about 100 bytes each */

struct buffer {
    struct dft_timed *points;
    size_t count, capacity;
    struct dft_overlap_scope *scopes; /* start_ns, and in times.wall_ns the length */
    size_t nscopes, scopes_capacity;
    uint16_t *busy; /* what each call of the batch is */
    size_t busy_capacity;
};

struct reading {
    struct dft_overlapping *overlapping;
    struct buffer *buffers;
    unsigned nbuffers;
    struct dft_timed *later; /* ends behind the last window, and lives */
    size_t nlater, later_capacity;
    uint64_t to; /* of the window */
    uint64_t epoch_key, step_key;
    size_t scopes_capacity;
};

struct dft_filter dft_overlap_any_call(const struct dft_filter *filter)
{
    static const uint8_t processes[] = {DFT_FILTER_RANK, DFT_FILTER_PID, DFT_FILTER_HOST, DFT_FILTER_PROGRAM,
                                        DFT_FILTER_ROLE};
    struct dft_filter any = *filter;

    memset(any.values, 0, sizeof any.values);
    for (size_t i = 0; i < sizeof processes; i++)
        any.values[processes[i]] = filter->values[processes[i]];
    any.from_ns = 0;
    any.to_ns = UINT64_MAX;
    return any;
}

unsigned dft_overlap_call(const struct dft_overlapping *overlapping, const struct dft_call *call)
{
    static const uint8_t states[] = {[DFT_REGION_COMPUTE] = DFT_BUSY_COMPUTE,
                                     [DFT_REGION_DATA] = DFT_BUSY_DATA,
                                     [DFT_REGION_ITEM] = DFT_BUSY_ITEM,
                                     [DFT_REGION_EPOCH] = DFT_BUSY_SCOPE + DFT_REGION_EPOCH,
                                     [DFT_REGION_STEP] = DFT_BUSY_SCOPE + DFT_REGION_STEP};
    const struct dft_overlap_request *request = overlapping->request;
    unsigned kinds, busy = 0;

    if (call->io == DFT_IO_WAIT)
        return 1u << DFT_BUSY_WAIT;
    if ((request->classes ? request->classes : DFT_CLASSES_IO) >> call->io & 1)
        return dft_filter_call(request->filter, call) ? 1u << DFT_BUSY_IO : 0;
    if (call->op != DFT_OP_REGION)
        return 0;
    kinds = dft_region_kinds_of_call(&overlapping->kinds, dft_source_names_table(request->source), call->id);
    for (unsigned kind = 0; kind < DFT_REGION_KINDS; kind++)
        busy |= (kinds >> kind & 1) << states[kind];
    return busy;
}

/* --- a batch ---------------------------------------------------------------------------------- */

static int push(struct buffer *buffer, uint32_t number, unsigned what, uint64_t start, uint64_t end)
{
    if (DFT_ARRAY_RESERVE(buffer->points, buffer->capacity, buffer->count + 2))
        return -ENOMEM;
    buffer->points[buffer->count++] = (struct dft_timed){start, number, DFT_BUSY_STARTS(what)};
    buffer->points[buffer->count++] = (struct dft_timed){end, number, DFT_BUSY_ENDS(what)};
    return 0;
}

/* A whole number, also as a text. */
static int64_t number_of(const struct dft_arg *arg)
{
    char digits[20] = "", *end;
    long long value;

    if (arg->type == DFT_ARG_INT)
        return arg->i;
    if (arg->type != DFT_ARG_STRING || !arg->s.length || arg->s.length >= sizeof digits)
        return -1;
    memcpy(digits, arg->s.bytes, arg->s.length);
    value = strtoll(digits, &end, 10);
    return *end ? -1 : value;
}

/* The number at the end of a region's name. */
static int64_t number_in_name(const struct dft_names *names, uint64_t call)
{
    struct dft_text category, name;
    char text[18], digits[16] = "";
    uint32_t from;

    dft_names_call(names, call, &category, &name, text);
    for (from = name.length; from && name.bytes[from - 1] >= '0' && name.bytes[from - 1] <= '9'; from--)
        ;
    if (from == name.length || name.length - from >= sizeof digits)
        return -1;
    memcpy(digits, name.bytes + from, name.length - from);
    return strtoll(digits, NULL, 10);
}

static int add_scope(const struct reading *reading, struct buffer *buffer, const struct dft_batch *batch, uint32_t i,
                     uint32_t team, enum dft_region_kind kind)
{
    const struct dft_event *event = &batch->events[i];
    const struct dft_overlap_request *request = reading->overlapping->request;
    struct dft_overlap_scope scope = {
        .kind = kind, .team = team, .call = batch->calls[event->call].id, .epoch = -1, .number = -1};
    int64_t step = -1;

    scope.start_ns = event->start_ns;
    scope.times.wall_ns = event->dur_ns;
    for (uint32_t low = 0, high = batch->nargs; low < high;) { /* the first argument of the event */
        uint32_t middle = low + (high - low) / 2;

        if (batch->args[middle].event < i)
            low = middle + 1;
        else
            high = middle;
        for (uint32_t a = low; low == high && a < batch->nargs && batch->args[a].event == i; a++) {
            if (batch->args[a].key == reading->epoch_key)
                scope.epoch = number_of(&batch->args[a]);
            if (batch->args[a].key == reading->step_key)
                step = number_of(&batch->args[a]);
        }
    }
    scope.number = kind == DFT_REGION_EPOCH ? scope.epoch : step;
    if (scope.number < 0)
        scope.number = number_in_name(dft_source_names_table(request->source), scope.call);
    if (kind == DFT_REGION_EPOCH)
        scope.epoch = -1;
    return DFT_ARRAY_PUSH(buffer->scopes, buffer->scopes_capacity, buffer->nscopes, scope);
}

int dft_overlap_io_passes(const struct dft_filter *filter, const struct dft_event *event, uint8_t op)
{
    return dft_filter_looks(filter, event, op) && dft_filter_region(filter, event->region) &&
           (!dft_filter_has_files(filter) || dft_filter_file(filter, event->file) ||
            (event->file2 && dft_filter_file(filter, event->file2)));
}

static int add_event(const struct reading *reading, struct buffer *buffer, const struct dft_batch *batch, uint32_t i,
                     uint32_t lane, unsigned busy)
{
    const struct dft_event *event = &batch->events[i];
    const struct dft_overlap *overlap = reading->overlapping->overlap;
    const struct dft_filter *filter = reading->overlapping->request->filter;
    uint64_t start = event->start_ns, end = start + event->dur_ns;
    uint32_t team = overlap->processes[lane].team;
    int rc = 0;

    if (busy & 1u << DFT_BUSY_IO && !dft_overlap_io_passes(filter, event, batch->calls[event->call].op))
        return 0;
    start = start > filter->from_ns ? start : filter->from_ns;
    end = end < event->start_ns ? UINT64_MAX : end;
    end = end < filter->to_ns ? end : filter->to_ns;
    if (end <= start)
        return 0;
    for (unsigned what = 0; !rc && what < DFT_BUSY_STATES; what++)
        if (busy >> what & 1)
            rc = push(buffer, lane, what, start, end);
    for (unsigned kind = DFT_REGION_EPOCH; !rc && kind <= DFT_REGION_STEP; kind++)
        if (busy >> (DFT_BUSY_SCOPE + kind) & 1 && dft_overlap_is_trainer(overlap, &overlap->processes[lane]))
            rc = add_scope(reading, buffer, batch, i, team, (enum dft_region_kind)kind);
    return rc;
}

static int64_t add_batch(void *context, unsigned worker, const struct dft_source_process *process,
                         const struct dft_batch *batch, uint64_t from, uint64_t to)
{
    struct reading *reading = context;
    struct buffer *buffer = &reading->buffers[worker];
    uint32_t lane = reading->overlapping->lane_of[process->number];
    size_t before = buffer->count;
    int rc = 0;

    __atomic_store_n(&reading->to, to, __ATOMIC_RELAXED); /* all threads say the same */
    if (lane == DFT_NO_LANE)
        return 0;
    if (DFT_ARRAY_RESERVE(buffer->busy, buffer->busy_capacity, batch->ncalls + 1u))
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->ncalls; i++)
        buffer->busy[i] = (uint16_t)dft_overlap_call(reading->overlapping, &batch->calls[i]);
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];

        if (event->call < batch->ncalls && buffer->busy[event->call] && event->dur_ns && event->start_ns >= from &&
            event->start_ns <= to && event->phase == DFT_PHASE_COMPLETE &&
            dft_event_counts(event, batch->calls[event->call].op))
            rc = add_event(reading, buffer, batch, i, lane, buffer->busy[event->call]);
    }
    return rc ? rc : (int64_t)((buffer->count - before) / 2);
}

static void clear(void *context)
{
    struct reading *reading = context;

    for (unsigned i = 0; i < reading->nbuffers; i++)
        reading->buffers[i].count = reading->buffers[i].nscopes = 0;
}

/* --- a window --------------------------------------------------------------------------------- */

static int scopes_in_time(const void *left, const void *right)
{
    const struct dft_overlap_scope *a = left, *b = right;

    DFT_ORDER(a->start_ns, b->start_ns);
    DFT_ORDER(b->times.wall_ns, a->times.wall_ns);
    DFT_ORDER(a->team, b->team);
    DFT_ORDER(a->kind, b->kind);
    DFT_ORDER(a->call, b->call);
    return 0;
}

/* Scopes of the window get their numbers in order of time, so that threads do not matter. */
static int number_scopes(struct reading *reading)
{
    struct dft_overlap *overlap = reading->overlapping->overlap;
    const struct dft_filter *filter = reading->overlapping->request->filter;
    struct buffer *first = &reading->buffers[0];
    int rc = 0;

    for (unsigned k = 1; !rc && k < reading->nbuffers; k++)
        for (size_t i = 0; !rc && i < reading->buffers[k].nscopes; i++)
            rc = DFT_ARRAY_PUSH(first->scopes, first->scopes_capacity, first->nscopes, reading->buffers[k].scopes[i]);
    if (first->nscopes)
        qsort(first->scopes, first->nscopes, sizeof *first->scopes, scopes_in_time);
    for (size_t i = 0; !rc && i < first->nscopes; i++) {
        struct dft_overlap_scope *scope = &first->scopes[i];
        uint64_t start = scope->start_ns, end = start + scope->times.wall_ns;

        if (overlap->nscopes >= DFT_OVERLAP_SCOPES) {
            overlap->more_scopes++;
            continue;
        }
        start = start > filter->from_ns ? start : filter->from_ns;
        end = end < filter->to_ns ? end : filter->to_ns;
        scope->start_ns = start;
        scope->times.wall_ns = end - start;
        rc = DFT_ARRAY_PUSH(overlap->scopes, reading->scopes_capacity, overlap->nscopes, *scope);
        if (!rc)
            rc = push(first, overlap->nscopes - 1, DFT_BUSY_SCOPE, start, end);
    }
    return rc;
}

/* Sweeps all points up to `to`; others wait. */
static int sweep_until(struct reading *reading, uint64_t to)
{
    size_t count = reading->nlater, done = 0;
    struct dft_timed *list, *other, *sorted;
    uint64_t first = UINT64_MAX, last = 0;
    int rc = 0;

    for (unsigned k = 0; k < reading->nbuffers; k++)
        count += reading->buffers[k].count;
    list = malloc((count + 1) * sizeof *list);
    other = malloc((count + 1) * sizeof *other);
    if (!list || !other) {
        rc = -ENOMEM;
        goto out;
    }
    memcpy(list, reading->later, reading->nlater * sizeof *list);
    count = reading->nlater;
    for (unsigned k = 0; k < reading->nbuffers; k++) {
        if (!reading->buffers[k].count)
            continue;
        memcpy(list + count, reading->buffers[k].points, reading->buffers[k].count * sizeof *list);
        count += reading->buffers[k].count;
    }
    for (size_t i = 0; i < count; i++) {
        first = list[i].time < first ? list[i].time : first;
        last = list[i].time > last ? list[i].time : last;
    }
    sorted = dft_timed_sort(list, other, count, first, last - first);
    for (; done < count && sorted[done].time <= to; done++)
        dft_overlap_sweep_point(&reading->overlapping->sweep, &sorted[done]);
    reading->nlater = 0;
    rc = DFT_ARRAY_RESERVE(reading->later, reading->later_capacity, count - done + 1);
    if (!rc) {
        memcpy(reading->later, sorted + done, (count - done) * sizeof *sorted);
        reading->nlater = count - done;
    }
out:
    free(list);
    free(other);
    clear(reading);
    return rc;
}

static int sweep_window(void *context)
{
    struct reading *reading = context;
    int rc = number_scopes(reading);

    return rc ? rc : sweep_until(reading, reading->to);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void add_span(struct reading *reading, uint32_t lane, unsigned what, uint64_t start, uint64_t end)
{
    reading->later[reading->nlater++] = (struct dft_timed){start, lane, DFT_BUSY_STARTS(what)};
    reading->later[reading->nlater++] = (struct dft_timed){end, lane, DFT_BUSY_ENDS(what)};
}

/* Lives of processes stand among the points from the start, and calls in flight. */
static int add_lives(struct reading *reading)
{
    const struct dft_overlap_request *request = reading->overlapping->request;
    const struct dft_flights *flights = &reading->overlapping->flights;
    uint32_t count, lane;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);
    uint64_t start, end;

    if (DFT_ARRAY_RESERVE(reading->later, reading->later_capacity, 2 * (count + flights->count) + 1))
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        lane = reading->overlapping->lane_of[i];
        dft_overlap_life(request, &processes[i], &start, &end);
        if (lane != DFT_NO_LANE && end > start)
            add_span(reading, lane, DFT_BUSY_ALIVE, start, end);
    }
    for (size_t i = 0; i < flights->count; i++)
        if (dft_overlap_flight(reading->overlapping, &flights->list[i], &lane, &start, &end))
            add_span(reading, lane, DFT_BUSY_WAIT, start, end);
    return 0;
}

int dft_overlap_from_events(struct dft_overlapping *overlapping)
{
    const struct dft_overlap_request *request = overlapping->request;
    struct reading reading = {.overlapping = overlapping,
                              .nbuffers = dft_source_threads(request->source),
                              .epoch_key = dft_name_id("\0epoch", 6), /* the category of a key is empty */
                              .step_key = dft_name_id("\0step", 5)};
    struct dft_sweep sweep = {
        .context = &reading, .most = EVENTS_MAX, .keep = add_batch, .window = sweep_window, .clear = clear};
    struct dft_filter blocks = dft_overlap_any_call(request->filter); /* regions are wanted whatever I/O is */
    int rc;

    blocks.values[DFT_FILTER_FROM] = request->filter->values[DFT_FILTER_FROM];
    blocks.values[DFT_FILTER_TO] = request->filter->values[DFT_FILTER_TO];
    blocks.values[DFT_FILTER_LAST] = request->filter->values[DFT_FILTER_LAST];
    blocks.from_ns = request->filter->from_ns;
    blocks.to_ns = request->filter->to_ns;
    reading.buffers = calloc(reading.nbuffers, sizeof *reading.buffers);
    rc = reading.buffers ? add_lives(&reading) : -ENOMEM;
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_source_sweep(request->source, &blocks, &sweep);
    if (!rc)
        rc = dft_comm_agree(sweep_until(&reading, UINT64_MAX));
    for (unsigned i = 0; reading.buffers && i < reading.nbuffers; i++) {
        free(reading.buffers[i].points);
        free(reading.buffers[i].scopes);
        free(reading.buffers[i].busy);
    }
    free(reading.buffers);
    free(reading.later);
    return rc;
}
