/* SPDX-License-Identifier: MIT */
/* Events into groups: each group becomes a call of its own, and the aggregator's table does the
 * rest.
 *
 * A batch holds few groups beside its events, so a small memory says which one was found for what
 * looks alike. */
#include "query/count_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/busy_time.h"
#include "query/spill.h"
#include "query/execution.h"
#include "query/group_keys.h"
#include "query/group_map.h"
#include "query/group_patterns.h"
#include "query/grouper.h"
#include "query/query_types.h"
#include "views/filter.h"
#include "views/filter_event.h"

static uint64_t duration_of(const struct dft_event *event)
{
    if (event->phase != DFT_PHASE_COMPLETE)
        return 0;
    return event->dur_ns > UINT64_MAX - event->start_ns ? UINT64_MAX - event->start_ns : event->dur_ns;
}

static inline struct dft_grouper_memo *memo_of_event(struct dft_grouper *grouper, const struct dft_event *event,
                                                     uint64_t time, uint32_t facets)
{
    uint64_t h = (event->file ^ event->region) + (event->stack ^ time) + (event->call ^ (uint64_t)facets << 16);

    return &grouper->memo[(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) % DFT_GROUPER_MEMO];
}

/* Finds the group of what looks like this event. Returns 0, -EAGAIN or -ENOMEM. */
static int find_group(struct dft_execution *execution, struct dft_worker *worker,
                      const struct dft_source_process *process, const struct dft_batch *batch,
                      const struct dft_event *event, uint32_t *position)
{
    const struct dft_call *call = &batch->calls[event->call];
    struct dft_group_key key;
    uint32_t group;
    int rc = dft_event_key(execution, worker, process, batch->tid, event, call, &key);

    *position = DFT_NO_GROUP;
    if (rc != 1)
        return rc;
    rc = dft_group_map_get(&worker->partial.map, &key, &group);
    return rc ? rc : dft_grouper_call(&worker->grouper, group, call->op, position);
}

/* Puts one event's group into event->call. Returns 1: it is to be counted, 0: not, or an error. */
static inline int place(struct dft_execution *execution, struct dft_worker *worker,
                        const struct dft_source_process *process, const struct dft_batch *batch,
                        struct dft_event *event)
{
    uint64_t time = DFT_HAS(execution, DFT_BY_TIME) ? dft_slot_of(execution, event->start_ns) : 0;
    uint32_t facets = dft_key_facets(execution, event, batch->calls[event->call].op);
    struct dft_grouper_memo *last = memo_of_event(&worker->grouper, event, time, facets);
    uint32_t position = last->position;

    if (last->file != event->file || last->stack != event->stack || last->region != event->region ||
        last->time != time || last->call != event->call || last->facets != facets ||
        last->batch != worker->grouper.batch || event->file2) {
        int rc = find_group(execution, worker, process, batch, event, &position);

        if (rc)
            return rc;
        if (!event->file2)
            *last = (struct dft_grouper_memo){event->file,           event->stack, event->region, time,
                                              worker->grouper.batch, event->call,  position,      facets};
    }
    if (position == DFT_NO_GROUP)
        return 0;
    event->call = position;
    return 1;
}

/* Its time behind the interval in which it starts. place() has put the group into event->call; the
 * key does not need it. */
static int spread(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                  const struct dft_batch *batch, const struct dft_call *call, const struct dft_event *event)
{
    uint64_t dur_ns = duration_of(event), end = event->start_ns + dur_ns;
    struct dft_group_key key;

    if (!dur_ns || dft_slot_of(execution, event->start_ns) == dft_slot_of(execution, end - 1))
        return 0;
    if (!dft_event_key(execution, worker, process, batch->tid, event, call, &key))
        return 0;
    return dft_spread_event(execution, worker, &key, call->op, event->start_ns, dur_ns);
}

/* Returns 1: the event is placed, 0: it is in no group, or an error; with -EAGAIN nothing was
 * done. */
static int count_event(struct dft_execution *execution, struct dft_worker *worker,
                       const struct dft_source_process *process, const struct dft_batch *batch,
                       const uint8_t *call_passes, struct dft_event *event)
{
    const struct dft_call *call = &batch->calls[event->call];
    int placed = 0;

    if (!dft_event_counts(event, call->op) || !dft_filter_time(execution->filter, event))
        return 0;
    if (call_passes[event->call] && dft_event_passes(execution, worker, event, call->op)) {
        placed = place(execution, worker, process, batch, event);
        if (placed < 0)
            return placed;
        if (placed || dft_event_file_passes(execution, worker, event)) {
            worker->stats.events += event->calls;
            worker->stats.events_kept += event->calls;
        }
        worker->stats.placed_events += placed ? event->calls : 0;
        if (execution->want_busy) {
            int rc = spread(execution, worker, process, batch, call, event);

            if (rc)
                return rc;
        }
    }
    if (execution->want_self && event->region &&
        dft_add_child(execution, worker, execution->process_group_of[process->number], batch->tid, event->region,
                      duration_of(event)))
        return -ENOMEM;
    return placed;
}

static void list(struct dft_grouper *grouper, struct dft_event *event, uint32_t i)
{
    event->region = 0; /* the group's key has it, where it matters */
    grouper->counts[event->call]++;
    grouper->listed[grouper->nlisted++] = i;
}

/* What an event that was placed looked like, as far as its group depends on it. */
struct look {
    uint64_t file, region, stack;
    uint32_t call, facets;
    uint8_t phase, op;
    uint8_t adds_io; /* its time is I/O, and the query has members that need it */
};

/* For an event that was placed; its call is known while it is. */
static inline void add_io(struct dft_grouper *grouper, const struct dft_event *event, const struct look *look)
{
    if (look->adds_io && event->calls)
        grouper->sums[event->call].io_ns += duration_of(event);
}

static inline int looks_like(const struct dft_event *event, const struct look *look)
{
    return !((event->file ^ look->file) | (event->region ^ look->region) | (event->stack ^ look->stack) |
             (event->call ^ look->call) | (uint32_t)(event->phase ^ look->phase) | event->file2 |
             (event->bits & DFT_BIT_OPEN));
}

/* Lists the events from `i` on that look like the one before, which was placed. Calls in a loop
 * make long rows of them. Returns where they end. */
static uint32_t list_alike(struct dft_execution *execution, struct dft_worker *worker, struct dft_batch *batch,
                           const struct look *look, uint32_t i)
{
    struct dft_grouper *grouper = &worker->grouper;
    uint32_t position = batch->events[i - 1].call, first = i;
    uint64_t calls = 0;

    for (; i < batch->count; i++) {
        struct dft_event *event = &batch->events[i];

        if (!looks_like(event, look) || !dft_event_passes(execution, worker, event, look->op) ||
            dft_key_facets(execution, event, look->op) != look->facets)
            break;
        event->call = position;
        event->region = 0;
        add_io(grouper, event, look);
        calls += event->calls;
        grouper->listed[grouper->nlisted++] = i;
    }
    grouper->counts[position] += i - first;
    worker->stats.events += calls;
    worker->stats.events_kept += calls;
    worker->stats.placed_events += calls;
    return i;
}

/* Adds the events listed so far. */
static int flush(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                 const struct dft_batch *batch)
{
    int rc = execution->query.accesses ? dft_grouper_accesses(&worker->grouper, batch, worker->partial.table) : 0;

    if (!rc && execution->query.members)
        rc = dft_grouper_members(&worker->grouper, batch, process->number, &worker->partial.members);
    if (!rc)
        rc = dft_grouper_flush(&worker->grouper, batch, worker->partial.table);
    if (!rc && execution->want_patterns)
        rc = dft_add_event_patterns(worker, batch);
    return rc ? rc : dft_merge_partial(execution, worker);
}

int dft_count_events(struct dft_execution *execution, struct dft_worker *worker,
                     const struct dft_source_process *process, const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_grouper *grouper = &worker->grouper;
    uint8_t call_passes[batch->ncalls + 1];
    int rc = dft_grouper_reserve(grouper, batch->count);
    /* the group depends on the looks alone */
    int alike = !execution->want_busy && !DFT_HAS(execution, DFT_BY_TIME);

    (void)block;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < batch->ncalls; i++)
        call_passes[i] = (uint8_t)dft_call_passes(execution, worker, &batch->calls[i]);
    worker->stats.batches = 1;
    dft_grouper_begin(grouper);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct dft_event *event = &batch->events[i];
        struct look look = {event->file, event->region, event->stack, event->call, 0, event->phase, 0, 0};

        if (event->call >= batch->ncalls)
            continue;
        look.op = batch->calls[event->call].op;
        look.adds_io = execution->query.members && dft_is_io(batch->calls[event->call].io);
        look.facets = dft_key_facets(execution, event, look.op);
        rc = count_event(execution, worker, process, batch, call_passes, event);
        if (rc == -EAGAIN) { /* the calls for the table are full: what was placed is added, the event comes again */
            rc = flush(execution, worker, process, batch);
            if (rc)
                return rc;
            dft_grouper_begin(grouper);
            rc = count_event(execution, worker, process, batch, call_passes, event);
        }
        if (rc < 0)
            return rc;
        if (!rc)
            continue;
        add_io(grouper, event, &look);
        list(grouper, event, i);
        if (alike && !event->file2 && !(look.region && execution->want_self))
            i = list_alike(execution, worker, batch, &look, i + 1) - 1;
    }
    return flush(execution, worker, process, batch);
}
