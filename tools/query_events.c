/* Events into groups: each group becomes a call of its own, and the aggregator's table does the rest.
 *
 * Consecutive events of a call mostly fall into the same group, so each call of a batch remembers its last one. */
#include "query_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "stacks.h"

#define CALL_SLOTS                                                                                                     \
    (2u * DFT_BLOCK_EVENTS_MAX) /* of the batch's (group, op); blocks of other writers may hold more events */

/* The last group of a call of the batch. */
struct dft_call_group {
    uint64_t file, stack, region, time;
    uint32_t position; /* in counting->calls */
    uint8_t used, passes;
};

int dft_event_counts(const struct dft_event *event, uint8_t op)
{
    if (event->bits & DFT_BIT_OPEN || dft_op_class(op) == DFT_CLASS_MARK)
        return 0;
    if (event->phase == DFT_PHASE_BEGIN)
        return op == DFT_OP_EXEC || op == DFT_OP_FORK;
    return event->phase == DFT_PHASE_COMPLETE;
}

int dft_call_passes(struct dft_asking *asking, struct dft_counting *counting, uint64_t call)
{
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

/* The directory of a path: all before the last '/', "/" for what lies at the top; of a text without '/' "." */
static int directory_of(struct dft_asking *asking, uint64_t file, uint64_t *directory)
{
    char room[18];
    struct dft_text text = dft_names_show(asking->names, file, room);
    uint32_t n = text.length;

    while (n && text.bytes[n - 1] != '/')
        n--;
    if (!n) {
        text.bytes = ".";
        n = 1;
    } else if (n > 1) {
        n--;
    }
    *directory = dft_name_id(text.bytes, n);
    return dft_names_add(asking->names, *directory, text.bytes, n, NULL);
}

static int pattern_of(struct dft_asking *asking, uint64_t file, uint64_t *pattern)
{
    char small[512], room[18];
    struct dft_text text = dft_names_show(asking->names, file, room);
    char *bytes = text.length <= sizeof small ? small : malloc(text.length);
    uint32_t length;
    int rc;

    if (!bytes)
        return -ENOMEM;
    length = dft_pattern_of(text.bytes, text.length, bytes);
    *pattern = dft_name_id(bytes, length);
    rc = dft_names_add(asking->names, *pattern, bytes, length, NULL);
    if (bytes != small)
        free(bytes);
    return rc;
}

static const struct dft_memo *memo_of(struct dft_asking *asking, struct dft_counting *counting, uint64_t file)
{
    struct dft_memo *memo = &counting->memo[file % DFT_MEMO];

    if (memo->used && memo->file == file)
        return memo;
    *memo = (struct dft_memo){.file = file, .used = 1, .passes = 1};
    if (asking->filter->nfiles)
        memo->passes = (uint8_t)dft_filter_file(asking->filter, file);
    if (DFT_HAS(asking, DFT_BY_PATTERN) ? pattern_of(asking, file, &memo->group)
                                        : DFT_HAS(asking, DFT_BY_DIR) && directory_of(asking, file, &memo->group))
        memo->used = 0;
    return memo;
}

static int file_passes(struct dft_asking *asking, struct dft_counting *counting, const struct dft_event *event)
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
    if (!file_passes(asking, counting, event))
        return 0;
    if (DFT_HAS_FILES(asking)) {
        if (!event->file)
            return 0;
        key->file = DFT_HAS(asking, DFT_BY_FILE) ? event->file : memo_of(asking, counting, event->file)->group;
    }
    if (process)
        key->who = asking->who_of[process->number];
    if (DFT_HAS(asking, DFT_BY_TID))
        key->tid = tid;
    if (DFT_HAS(asking, DFT_BY_TIME))
        key->time = event->start_ns / asking->query.width_ns;
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

    if (DFT_DIVIDED(asking)) {
        struct dft_group_key group = dft_parent_group(asking, &parent);
        int rc = dft_key_in_part(asking, counting, &group);

        if (rc != 1)
            return rc;
    }
    return dft_tally_add_child(&counting->tally, &parent, dur_ns);
}

/* --- a batch --------------------------------------------------------------------------------------------------------
 * */

/* Position of (group, op) among the calls for the table. */
static int call_position(struct dft_counting *counting, uint32_t group, uint8_t op, uint32_t *position)
{
    uint32_t i = (group * 64u + op) * 2654435761u;

    for (;; i++) {
        uint32_t *slot = &counting->call_slots[i % CALL_SLOTS];
        struct dft_call *call;

        if (!*slot) {
            if (counting->ncalls == DFT_BLOCK_EVENTS_MAX)
                return -EAGAIN; /* flush what there is, and begin anew */
            counting->calls[counting->ncalls] = (struct dft_call){.id = DFT_SUBJECT(group), .op = op};
            *slot = ++counting->ncalls;
            *position = *slot - 1;
            return 0;
        }
        call = &counting->calls[*slot - 1];
        if (call->id == DFT_SUBJECT(group) && call->op == op) {
            *position = *slot - 1;
            return 0;
        }
    }
}

static void begin_calls(struct dft_counting *counting, uint32_t ncalls)
{
    memset(counting->of_call, 0, ncalls * sizeof *counting->of_call);
    memset(counting->call_slots, 0, CALL_SLOTS * sizeof *counting->call_slots);
    counting->ncalls = 0;
}

static int reserve(struct dft_counting *counting, uint32_t ncalls)
{
    if (!counting->memo)
        counting->memo = calloc(DFT_MEMO, sizeof *counting->memo);
    if (!counting->calls)
        counting->calls = malloc(DFT_BLOCK_EVENTS_MAX * sizeof *counting->calls);
    if (!counting->call_slots)
        counting->call_slots = malloc(CALL_SLOTS * sizeof *counting->call_slots);
    if (!counting->memo || !counting->calls || !counting->call_slots)
        return -ENOMEM;
    if (ncalls > counting->of_call_capacity) {
        free(counting->of_call);
        counting->of_call = malloc(ncalls * sizeof *counting->of_call);
        counting->of_call_capacity = counting->of_call ? ncalls : 0;
    }
    return counting->of_call || !ncalls ? 0 : -ENOMEM;
}

/* Puts one event's group into event->call. Returns 1: it is to be counted, 0: not, or an error. */
static int place(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                 const struct dft_batch *batch, struct dft_event *event)
{
    const struct dft_call *call = &batch->calls[event->call];
    struct dft_call_group *last = &counting->of_call[event->call];
    uint64_t time = DFT_HAS(asking, DFT_BY_TIME) ? event->start_ns / asking->query.width_ns : 0;
    struct dft_group_key key;
    uint32_t group;
    int rc;

    if (last->used && last->file == event->file && last->stack == event->stack && last->region == event->region &&
        last->time == time && !event->file2) {
        event->call = last->position;
        return last->passes;
    }
    *last = (struct dft_call_group){.file = event->file, .stack = event->stack, .region = event->region, .time = time};
    last->used = !event->file2;
    last->passes = (uint8_t)dft_event_key(asking, counting, process, batch->tid, event, call->id, call->op, &key);
    if (!last->passes)
        return 0;
    rc = DFT_DIVIDED(asking) ? dft_key_in_part(asking, counting, &key) : 1;
    if (!rc)
        last->passes = 0;
    if (rc != 1)
        return rc;
    rc = dft_group_map_get(&counting->tally.map, &key, &group);
    if (!rc)
        rc = call_position(counting, group, call->op, &last->position);
    if (rc) {
        last->used = 0;
        return rc;
    }
    event->call = last->position;
    return 1;
}

/* Adds events [from, to) whose calls are groups. */
static int add(struct dft_counting *counting, const struct dft_batch *batch, uint32_t count)
{
    struct dft_batch groups = *batch;
    uint32_t position = 0;

    groups.calls = counting->calls;
    groups.ncalls = counting->ncalls;
    groups.count = count;
    return dft_table_add(counting->tally.table, &groups, &position);
}

/* Its time behind the interval in which it starts. place() has put the group into event->call; the key does not need it. */
static int spread(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                  const struct dft_batch *batch, const struct dft_call *call, const struct dft_event *event)
{
    uint64_t dur_ns = duration_of(event), end = event->start_ns + dur_ns, width = asking->query.width_ns;
    struct dft_group_key key;

    if (!dur_ns || event->start_ns / width == (end - 1) / width)
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
        if (placed || file_passes(asking, counting, event)) {
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

/* Counts a batch; the events of groups move to the front, so that the table sees them alone. */
int dft_count_events(struct dft_asking *asking, struct dft_counting *counting, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_batch *batch)
{
    uint8_t call_passes[batch->ncalls + 1];
    uint32_t n = 0;
    int rc = reserve(counting, batch->ncalls);

    (void)block;
    if (rc)
        return rc;
    for (uint32_t i = 0; i < batch->ncalls; i++)
        call_passes[i] = (uint8_t)dft_call_passes(asking, counting, batch->calls[i].id);
    counting->met.batches = 1;
    begin_calls(counting, batch->ncalls);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct dft_event *event = &batch->events[i];

        if (event->call >= batch->ncalls)
            continue;
        rc = count_event(asking, counting, process, batch, call_passes, event);
        if (rc == -EAGAIN) { /* the calls for the table are full: what was placed is added, the event comes again */
            rc = add(counting, batch, n);
            n = 0;
            begin_calls(counting, batch->ncalls);
            if (!rc)
                rc = dft_hand_over(asking, counting);
            if (rc)
                return rc;
            rc = count_event(asking, counting, process, batch, call_passes, event);
        }
        if (rc < 0)
            return rc;
        if (rc) {
            if (n != i)
                batch->events[n] = *event;
            batch->events[n++].region = 0; /* the group's key has it, where it matters */
        }
    }
    rc = add(counting, batch, n);
    return rc ? rc : dft_hand_over(asking, counting);
}
