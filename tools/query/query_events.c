/* SPDX-License-Identifier: MIT */
/* Events into groups: each group becomes a call of its own, and the aggregator's table does the rest.
 *
 * A batch holds few groups beside its events, so a small memory says which one was found for what looks alike. */
#include "query/query_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/stacks.h"

int dft_event_counts(const struct dft_event *event, uint8_t op)
{
    if (event->bits & DFT_BIT_OPEN || dft_op_class(op) == DFT_CLASS_MARK)
        return 0;
    if (event->phase == DFT_PHASE_BEGIN)
        return op == DFT_OP_EXEC || op == DFT_OP_FORK;
    return event->phase == DFT_PHASE_COMPLETE;
}

int dft_call_passes(struct dft_asking *asking, struct dft_counting *counting, uint64_t call, uint8_t op)
{
    if (asking->query.ops && !(asking->query.ops >> (op < DFT_OP_COUNT ? op : DFT_OP_OTHER) & 1))
        return 0;
    if (!dft_filter_has_calls(asking->filter))
        return 1;
    if (!dft_names_text(asking->names, call).bytes)
        counting->met.unknown = 1;
    return dft_filter_call(asking->filter, call);
}

static uint64_t duration_of(const struct dft_event *event)
{
    if (event->phase != DFT_PHASE_COMPLETE)
        return 0;
    return event->dur_ns > UINT64_MAX - event->start_ns ? UINT64_MAX - event->start_ns : event->dur_ns;
}

/* --- files ----------------------------------------------------------------------------------------------------------
 * */

static const struct dft_memo *memo_of(struct dft_asking *asking, struct dft_counting *counting, uint64_t file)
{
    struct dft_memo *memo = &counting->memo[file % DFT_MEMO];

    if (memo->used && memo->file == file)
        return memo;
    *memo = (struct dft_memo){.file = file, .used = 1, .passes = 1};
    if (asking->filter->nfiles)
        memo->passes = (uint8_t)dft_file_facts_passes(asking->files, file);
    if ((DFT_HAS(asking, DFT_BY_PATTERN) || DFT_HAS(asking, DFT_BY_DIR)) &&
        dft_file_facts_group(asking->files, file, &memo->group))
        memo->used = 0;
    return memo;
}

int dft_event_file_passes(struct dft_asking *asking, struct dft_counting *counting, const struct dft_event *event)
{
    if (!asking->filter->nfiles)
        return 1;
    return (event->file && memo_of(asking, counting, event->file)->passes) ||
           (event->file2 && memo_of(asking, counting, event->file2)->passes);
}

/* --- keys -----------------------------------------------------------------------------------------------------------
 * */

/* Different calls of the same functions make one text. Without memory they stay apart, by their ids. */
static void find_stack(struct dft_asking *asking, struct dft_counting *counting, uint64_t stack,
                       struct dft_group_key *key)
{
    struct dft_stack_memo *memo = &counting->stacks[stack % DFT_STACK_MEMO];
    int rc;

    if (memo->stack != stack) {
        *memo = (struct dft_stack_memo){.stack = stack};
        if (DFT_HAS(asking, DFT_BY_STACK))
            memo->folded = dft_stack_folded(asking->names, stack, &rc);
        if (DFT_HAS(asking, DFT_BY_LINE))
            memo->line = dft_stack_line(asking->names, stack, &rc);
    }
    key->stack = memo->folded;
    key->line = memo->line;
}

int dft_event_key(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                  uint32_t tid, const struct dft_event *event, uint64_t call, uint8_t op, struct dft_group_key *key)
{
    memset(key, 0, sizeof *key);
    if (!dft_event_file_passes(asking, counting, event))
        return 0;
    if (asking->all_events && event->file2)
        counting->met.second_files++;
    if (DFT_HAS_FILES(asking)) {
        if (!event->file && !asking->all_events)
            return 0;
        key->file = DFT_HAS(asking, DFT_BY_FILE) ? event->file : memo_of(asking, counting, event->file)->group;
    }
    if (process)
        key->who = asking->who_of[process->number];
    if (DFT_HAS(asking, DFT_BY_TID))
        key->tid = tid;
    if (DFT_HAS(asking, DFT_BY_TIME))
        key->time = dft_slot_of(asking, event->start_ns);
    if (DFT_HAS(asking, DFT_BY_REGION))
        key->region = event->region;
    if (DFT_HAS(asking, DFT_BY_CAT) || DFT_HAS(asking, DFT_BY_NAME))
        key->call = call;
    if (DFT_HAS(asking, DFT_BY_OP))
        key->op = op;
    if (DFT_HAS(asking, DFT_BY_CLASS))
        key->class = (uint8_t)(1 + dft_op_class(op));
    if (DFT_HAS_STACKS(asking) && event->stack)
        find_stack(asking, counting, event->stack, key);
    return 1;
}

struct dft_group_key dft_parent_group(const struct dft_asking *asking, const struct dft_group_key *parent)
{
    struct dft_group_key key = {.call = parent->region, .who = parent->who, .tid = parent->tid};

    if (!DFT_HAS(asking, DFT_BY_CAT) && !DFT_HAS(asking, DFT_BY_NAME))
        key.call = 0;
    if (DFT_HAS(asking, DFT_BY_OP))
        key.op = DFT_OP_REGION;
    if (DFT_HAS(asking, DFT_BY_CLASS))
        key.class = 1 + DFT_CLASS_NONE;
    return key;
}

int dft_add_child(struct dft_asking *asking, struct dft_counting *counting, uint32_t who, uint32_t tid, uint64_t region,
                  uint64_t dur_ns)
{
    struct dft_group_key parent = {.who = who, .tid = DFT_HAS(asking, DFT_BY_TID) ? tid : 0, .region = region};

    return dft_tally_add_child(&counting->tally, &parent, dur_ns);
}

/* --- a batch --------------------------------------------------------------------------------------------------------
 * */

static inline struct dft_placed *placed_of(struct dft_placing *placing, const struct dft_event *event, uint64_t time)
{
    uint64_t h = (event->file ^ event->region) + (event->stack ^ time) + event->call;

    return &placing->placed[(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) % DFT_PLACED];
}

/* Finds the group of what looks like this event. Returns 0, -EAGAIN or -ENOMEM. */
static int find_group(struct dft_asking *asking, struct dft_counting *counting,
                      const struct dft_source_process *process, const struct dft_batch *batch,
                      const struct dft_event *event, uint32_t *position)
{
    const struct dft_call *call = &batch->calls[event->call];
    struct dft_group_key key;
    uint32_t group;
    int rc = dft_event_key(asking, counting, process, batch->tid, event, call->id, call->op, &key);

    *position = DFT_NO_GROUP;
    if (rc != 1)
        return rc;
    rc = dft_group_map_get(&counting->tally.map, &key, &group);
    return rc ? rc : dft_placing_call(&counting->placing, group, call->op, position);
}

/* Puts one event's group into event->call. Returns 1: it is to be counted, 0: not, or an error. */
static inline int place(struct dft_asking *asking, struct dft_counting *counting,
                        const struct dft_source_process *process, const struct dft_batch *batch,
                        struct dft_event *event)
{
    uint64_t time = DFT_HAS(asking, DFT_BY_TIME) ? dft_slot_of(asking, event->start_ns) : 0;
    struct dft_placed *last = placed_of(&counting->placing, event, time);
    uint32_t position = last->position;

    if (last->file != event->file || last->stack != event->stack || last->region != event->region ||
        last->time != time || last->call != event->call || last->batch != counting->placing.batch || event->file2) {
        int rc = find_group(asking, counting, process, batch, event, &position);

        if (rc)
            return rc;
        if (!event->file2)
            *last = (struct dft_placed){event->file, event->stack, event->region, time, counting->placing.batch,
                                        event->call, position};
    }
    if (position == DFT_NO_GROUP)
        return 0;
    event->call = position;
    return 1;
}

/* Its time behind the interval in which it starts. place() has put the group into event->call; the key does not need it. */
static int spread(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                  const struct dft_batch *batch, const struct dft_call *call, const struct dft_event *event)
{
    uint64_t dur_ns = duration_of(event), end = event->start_ns + dur_ns;
    struct dft_group_key key;

    if (!dur_ns || dft_slot_of(asking, event->start_ns) == dft_slot_of(asking, end - 1))
        return 0;
    if (!dft_event_key(asking, counting, process, batch->tid, event, call->id, call->op, &key))
        return 0;
    return dft_spread_event(asking, counting, &key, call->op, event->start_ns, dur_ns);
}

/* Returns 1: the event is placed, 0: it is in no group, or an error; with -EAGAIN nothing was done. */
static int count_event(struct dft_asking *asking, struct dft_counting *counting,
                       const struct dft_source_process *process, const struct dft_batch *batch,
                       const uint8_t *call_passes, struct dft_event *event)
{
    const struct dft_call *call = &batch->calls[event->call];
    int placed = 0, passes = call_passes[event->call];

    if (!dft_event_counts(event, call->op) || !dft_filter_time(asking->filter, event))
        return 0;
    if (passes) {
        placed = place(asking, counting, process, batch, event);
        if (placed < 0)
            return placed;
        if (placed || dft_event_file_passes(asking, counting, event)) {
            counting->met.events += event->calls;
            counting->met.events_kept += event->calls;
        }
        if (asking->want_busy) {
            int rc = spread(asking, counting, process, batch, call, event);

            if (rc)
                return rc;
        }
    }
    if (asking->want_self && event->region &&
        dft_add_child(asking, counting, asking->who_of[process->number], batch->tid, event->region, duration_of(event)))
        return -ENOMEM;
    return placed;
}

/* Adds the events listed so far. */
static int flush(struct dft_asking *asking, struct dft_counting *counting, const struct dft_batch *batch)
{
    int rc = dft_placing_flush(&counting->placing, batch, counting->tally.table);

    return rc ? rc : dft_merge_partial(asking, counting);
}

int dft_count_events(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_placing *placing = &counting->placing;
    uint8_t call_passes[batch->ncalls + 1];
    int rc = dft_placing_reserve(placing, batch->count);

    (void)block;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < batch->ncalls; i++)
        call_passes[i] = (uint8_t)dft_call_passes(asking, counting, batch->calls[i].id, batch->calls[i].op);
    counting->met.batches = 1;
    dft_placing_begin(placing);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct dft_event *event = &batch->events[i];

        if (event->call >= batch->ncalls)
            continue;
        rc = count_event(asking, counting, process, batch, call_passes, event);
        if (rc == -EAGAIN) { /* the calls for the table are full: what was placed is added, the event comes again */
            rc = flush(asking, counting, batch);
            if (rc)
                return rc;
            dft_placing_begin(placing);
            rc = count_event(asking, counting, process, batch, call_passes, event);
        }
        if (rc < 0)
            return rc;
        if (rc) {
            event->region = 0; /* the group's key has it, where it matters */
            placing->counts[event->call]++;
            placing->listed[placing->nlisted++] = i;
        }
    }
    return flush(asking, counting, batch);
}
