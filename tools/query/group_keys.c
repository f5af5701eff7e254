/* SPDX-License-Identifier: MIT */
/* Keys of groups: from events and rows while they are counted, with texts at last. */
#include "query/group_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "format/hash.h"
#include "query/execution.h"
#include "query/file_facts.h"
#include "query/partial.h"
#include "query/query_types.h"
#include "views/filter.h"
#include "symbols/stacks.h"

int dft_event_counts(const struct dft_event *event, uint8_t op)
{
    if (event->bits & DFT_BIT_OPEN || dft_op_class(op) == DFT_CLASS_MARK)
        return 0;
    if (event->phase == DFT_PHASE_BEGIN)
        return op == DFT_OP_EXEC || op == DFT_OP_FORK;
    return event->phase == DFT_PHASE_COMPLETE;
}

int dft_call_passes(struct dft_execution *execution, struct dft_worker *worker, const struct dft_call *call)
{
    uint8_t op = call->op < DFT_OP_COUNT ? call->op : DFT_OP_OTHER;

    if (execution->query.ops && !(execution->query.ops >> op & 1))
        return 0;
    if (execution->query.classes && !(execution->query.classes >> call->io & 1))
        return 0;
    if (dft_filter_has_calls(execution->filter) && !dft_names_text(execution->names, call->id).bytes)
        worker->stats.unknown = 1;
    return dft_filter_call(execution->filter, &(struct dft_call){.id = call->id, .op = op, .io = call->io});
}

int dft_region_passes(struct dft_execution *execution, struct dft_worker *worker, uint64_t region)
{
    struct dft_region_memo *memo = &worker->regions[region % DFT_REGION_MEMO];

    if (!dft_filter_has(execution->filter, DFT_FILTER_REGION))
        return 1;
    if (!region)
        return 0;
    if (memo->region == region)
        return memo->passes;
    if (!dft_names_text(execution->names, region).bytes)
        worker->stats.unknown = 1;
    *memo = (struct dft_region_memo){region, (uint8_t)dft_filter_region(execution->filter, region)};
    return memo->passes;
}

/* --- files ------------------------------------------------------------------------------------ */

static const struct dft_memo *memo_of(struct dft_execution *execution, struct dft_worker *worker, uint64_t file)
{
    struct dft_memo *memo = &worker->memo[file % DFT_MEMO];

    if (memo->used && memo->file == file)
        return memo;
    *memo = (struct dft_memo){.file = file, .used = 1, .passes = 1};
    if (dft_filter_has_files(execution->filter))
        memo->passes = (uint8_t)dft_file_facts_passes(execution->files, file);
    if (execution->has & DFT_BY_FILE_GROUPS && dft_file_facts_group(execution->files, file, &memo->group))
        memo->used = 0;
    return memo;
}

int dft_event_file_passes(struct dft_execution *execution, struct dft_worker *worker, const struct dft_event *event)
{
    if (!dft_filter_has_files(execution->filter))
        return 1;
    return (event->file && memo_of(execution, worker, event->file)->passes) ||
           (event->file2 && memo_of(execution, worker, event->file2)->passes);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Different calls of the same functions make one text. Without memory they stay apart, by their
 * ids. */
static void find_stack(struct dft_execution *execution, struct dft_worker *worker, uint64_t stack,
                       struct dft_group_key *key)
{
    struct dft_stack_memo *memo = &worker->stacks[stack % DFT_STACK_MEMO];
    int rc;

    if (memo->stack != stack) {
        *memo = (struct dft_stack_memo){.stack = stack};
        if (DFT_HAS(execution, DFT_BY_STACK))
            memo->folded = dft_stack_folded(execution->names, stack, &rc);
        if (DFT_HAS(execution, DFT_BY_LINE))
            memo->line = dft_stack_line(execution->names, stack, &rc);
    }
    key->stack = memo->folded;
    key->line = memo->line;
}

int dft_event_key(struct dft_execution *execution, struct dft_worker *worker, const struct dft_source_process *process,
                  uint32_t tid, const struct dft_event *event, const struct dft_call *call, struct dft_group_key *key)
{
    memset(key, 0, sizeof *key);
    if (!dft_event_file_passes(execution, worker, event))
        return 0;
    if (execution->all_events && event->file2)
        worker->stats.second_files++;
    if (DFT_HAS_FILES(execution)) {
        if (!event->file && !execution->all_events)
            return 0;
        key->file = DFT_HAS(execution, DFT_BY_FILE) ? event->file : memo_of(execution, worker, event->file)->group;
    }
    if (process)
        key->process_group = execution->process_group_of[process->number];
    if (DFT_HAS(execution, DFT_BY_TID))
        key->tid = tid;
    if (DFT_HAS(execution, DFT_BY_TIME))
        key->time = dft_slot_of(execution, event->start_ns);
    if (DFT_HAS(execution, DFT_BY_REGION))
        key->region = event->region;
    if (DFT_HAS(execution, DFT_BY_CAT) || DFT_HAS(execution, DFT_BY_NAME))
        key->call = call->id;
    if (DFT_HAS(execution, DFT_BY_OP))
        key->op = call->op;
    if (DFT_HAS(execution, DFT_BY_CLASS))
        key->class = call->io;
    key->facets = dft_key_facets(execution, event, call->op);
    if (DFT_HAS_STACKS(execution) && event->stack)
        find_stack(execution, worker, event->stack, key);
    return 1;
}

struct dft_group_key dft_parent_group(const struct dft_execution *execution, const struct dft_group_key *parent)
{
    struct dft_group_key key = {.call = parent->region, .process_group = parent->process_group, .tid = parent->tid};

    if (!DFT_HAS(execution, DFT_BY_CAT) && !DFT_HAS(execution, DFT_BY_NAME))
        key.call = 0;
    if (DFT_HAS(execution, DFT_BY_OP))
        key.op = DFT_OP_REGION;
    if (DFT_HAS(execution, DFT_BY_CLASS))
        key.class = DFT_IO_NONE;
    return key;
}

int dft_add_child(struct dft_execution *execution, struct dft_worker *worker, uint32_t process_group, uint32_t tid,
                  uint64_t region, uint64_t dur_ns)
{
    struct dft_group_key parent = {
        .process_group = process_group, .tid = DFT_HAS(execution, DFT_BY_TID) ? tid : 0, .region = region};

    return dft_partial_add_child(&worker->partial, &parent, dur_ns);
}

/* --- with texts ------------------------------------------------------------------------------- */

static int texts_of(struct dft_execution *execution, uint64_t call, struct dft_call_texts **result)
{
    struct dft_call_texts *texts = &execution->texts[call % DFT_CALL_TEXTS];
    struct dft_text category, name;
    char text[18];
    int rc;

    *result = texts;
    if (texts->call == call && call)
        return 0;
    dft_names_call(execution->names, call, &category, &name, text);
    texts->cat = dft_name_id(category.bytes, category.length);
    texts->name = dft_name_id(name.bytes, name.length);
    rc = dft_names_add(execution->names, texts->cat, category.bytes, category.length, NULL);
    if (!rc)
        rc = dft_names_add(execution->names, texts->name, name.bytes, name.length, NULL);
    texts->call = rc ? 0 : call;
    return rc;
}

int dft_final_key(struct dft_execution *execution, const struct dft_group_key *counted, struct dft_group_key *final)
{
    struct dft_call_texts *texts;
    int rc;

    *final = *counted;
    if (!final->call) /* there is no such id: it has its texts, or none are requested */
        return 0;
    rc = texts_of(execution, final->call, &texts);
    if (rc)
        return rc;
    final->call = 0;
    if (DFT_HAS(execution, DFT_BY_CAT))
        final->cat = texts->cat;
    if (DFT_HAS(execution, DFT_BY_NAME))
        final->name = texts->name;
    return 0;
}
