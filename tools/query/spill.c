/* SPDX-License-Identifier: MIT */
/* What was counted, from memory to the spill file and back, a batch of partitions at a time.
 *
 * When the groups that were counted pass the budget, all of them go into the spill file as record
 * aggregates (partitions.h), and counting goes on with none. So blocks are read once. Each rank
 * has a file of its own. When all blocks have been counted, partitions are merged in batches that
 * fit into the budget: every rank merges its records, and rank 0 gets the sum. A single partition
 * whose groups do not fit is divided further, by all ranks alike. */
#include "query/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/spill_file.h"
#include "mpi/comm.h"
#include "query/execution.h"
#include "query/group_keys.h"
#include "query/group_map.h"
#include "query/partial.h"
#include "query/partitions.h"
#include "query/query_types.h"
#include "query/spilled_texts.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

#define BUFFER_SHARE 512u /* of the budget for the buffer of one partition */
#define BUFFER_MAX   65536u
#define BUFFER_MIN   4096u

int dft_spill_failed(struct dft_execution *execution, int rc)
{
    if (rc < 0 && rc != -ENOMEM)
        dft_source_note(execution->source, DFT_BAD_UNREAD,
                        "temporary file in %s: %s. Groups that do not fit into memory are kept there: "
                        "set TMPDIR to a directory with more room",
                        dft_temporary_directory(), strerror(-rc));
    return rc;
}

/* --- out -------------------------------------------------------------------------------------- */

/* A hash of the group's key that is the same for a counted key and the final one. At level 0 it
 * leaves out the call. Where files are keys it is that of their texts at the first two levels, and
 * in parts at all: the groups of a file stay together. */
static uint64_t hash_of(const struct dft_execution *execution, const struct dft_group_key *key, unsigned level)
{
    struct dft_group_key without = *key;

    if (DFT_HAS_FILES(execution) && (level < 2 || execution->in_parts))
        return dft_spilled_text_hash(key->file);
    if (level)
        return dft_group_hash(key);
    without.call = without.cat = without.name = 0;
    return dft_group_hash(&without);
}

/* Notes a call whose text is not known yet: it decides which group the call belongs to. */
static int note_call(struct dft_execution *execution, uint64_t call)
{
    struct dft_group_key key = {.call = call};
    uint32_t number;

    if (!call || !execution->wants_calls || dft_names_text(execution->names, call).bytes)
        return 0;
    return dft_group_map_get(&execution->unknown_calls, &key, &number);
}

static int put_parents(struct dft_execution *execution)
{
    const struct dft_partial *total = &execution->total;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < total->parents.count; i++) {
        const struct dft_record record = {
            .key = total->parents.keys[i], .inside_ns = total->children_ns[i], .is_parent = 1};
        struct dft_group_key group = dft_parent_group(execution, &record.key);

        rc = note_call(execution, record.key.region);
        if (!rc)
            rc = dft_partitions_put(&execution->partitions, &record, hash_of(execution, &group, 0), 2 * sizeof group);
    }
    return rc;
}

/* What was counted of members: their memory is in that of the groups. */
static int put_members(struct dft_execution *execution)
{
    const struct dft_map *members = &execution->total.members;
    int rc = 0;

    for (size_t i = 0; !rc && i < members->capacity; i++) {
        const struct dft_map_slot *slot = &members->slots[i];
        struct dft_record record = {.member = (uint32_t)slot->key, .calls = slot->value};

        if (!slot->key)
            continue;
        record.key = execution->total.map.keys[dft_member_group(slot->key)];
        rc = dft_partitions_put(&execution->partitions, &record, hash_of(execution, &record.key, 0), 0);
    }
    return rc;
}

static int put_groups(struct dft_execution *execution)
{
    const struct dft_group_map *map = &execution->total.map;
    const struct dft_row *(*rows_of)[3] = calloc(map->count + 1u, sizeof *rows_of);
    uint64_t memory = dft_partial_used(&execution->total) / (map->count + 1u);
    struct dft_row *rows;
    uint32_t count;
    int rc = rows_of ? dft_table_rows_unsorted(execution->total.table, &rows, &count) : -ENOMEM;

    for (uint32_t i = 0; !rc && i < count; i++)
        rows_of[DFT_GROUP(rows[i].subject)][rows[i].kind] = &rows[i];
    for (uint32_t i = 0; !rc && i < map->count; i++) {
        const struct dft_record record = {.key = map->keys[i], .rows = {rows_of[i][0], rows_of[i][1], rows_of[i][2]}};

        rc = note_call(execution, record.key.call);
        if (!rc)
            rc = dft_partitions_put(&execution->partitions, &record, hash_of(execution, &record.key, 0), memory);
    }
    free(rows_of);
    return rc;
}

/* Makes the first partitions. */
static int begin(struct dft_execution *execution)
{
    size_t bytes = execution->budget / BUFFER_SHARE;

    execution->partitions.file = &execution->file;
    execution->partitions.buffer_bytes = bytes > BUFFER_MAX ? BUFFER_MAX : bytes < BUFFER_MIN ? BUFFER_MIN : bytes;
    return dft_partitions_add(&execution->partitions, 0, 0);
}

/* Moves execution->total into the spill file. Returns 0 or -errno. */
static int spill_total(struct dft_execution *execution)
{
    int rc = execution->partitions.count ? 0 : begin(execution);

    if (!rc)
        rc = put_groups(execution);
    if (!rc)
        rc = put_parents(execution);
    if (!rc)
        rc = put_members(execution);
    dft_partial_clear(&execution->total);
    return dft_spill_failed(execution, rc);
}

void dft_spill_clear(struct dft_execution *execution)
{
    dft_partitions_fini(&execution->partitions);
    dft_spill_file_close(&execution->file);
    dft_group_map_fini(&execution->unknown_calls);
    execution->next_partition = 0;
}

/* Fetches the texts of calls that decide which group they belong to. Collective. */
static int fetch_unknown(struct dft_execution *execution)
{
    const struct dft_group_map *calls = &execution->unknown_calls;
    uint64_t *wanted = malloc((calls->count + 1u) * sizeof *wanted);
    int rc = dft_comm_agree(wanted ? 0 : -ENOMEM);

    for (uint32_t i = 0; !rc && i < calls->count; i++)
        wanted[i] = calls->keys[i].call;
    if (!rc)
        rc = dft_source_names(execution->source, wanted, calls->count);
    free(wanted);
    return rc;
}

int dft_spill_end(struct dft_execution *execution)
{
    int rc = dft_comm_agree(spill_total(execution));

    if (!rc)
        rc = dft_spill_failed(execution, dft_partitions_flush(&execution->partitions));
    return rc ? rc : fetch_unknown(execution);
}

/* --- the budget ------------------------------------------------------------------------------- */

/* Are the groups in memory more than the budget? Does what execution->when_full says. 0,
 * DFT_TOO_MANY or -errno. */
static int check_budget(struct dft_execution *execution)
{
    if (execution->when_full == DFT_FULL_STAYS || dft_partial_used(&execution->total) <= execution->budget)
        return 0;
    return execution->when_full == DFT_FULL_SPILLS ? spill_total(execution) : DFT_TOO_MANY;
}

int dft_merge_worker(struct dft_execution *execution, struct dft_worker *worker)
{
    int rc;

    pthread_mutex_lock(&execution->lock);
    rc = dft_partial_merge(&execution->total, &worker->partial);
    if (!rc)
        rc = check_budget(execution);
    pthread_mutex_unlock(&execution->lock);
    dft_partial_clear(&worker->partial);
    worker->block++; /* numbers of groups that were remembered mean nothing any more */
    return rc;
}

int dft_merge_partial(struct dft_execution *execution, struct dft_worker *worker)
{
    return dft_partial_used(&worker->partial) > execution->share ? dft_merge_worker(execution, worker) : 0;
}

static int pack(void *context, void **bytes, size_t *length)
{
    struct dft_execution *execution = context;

    return dft_partial_pack(&execution->total, bytes, length);
}

static int unpack(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_execution *execution = context;
    int rc = dft_partial_unpack(&execution->total, bytes, length);

    (void)rank;
    return rc ? rc : check_budget(execution);
}

int dft_reduce_total(struct dft_execution *execution)
{
    return dft_comm_reduce(pack, unpack, execution);
}

/* --- and back --------------------------------------------------------------------------------- */

/* Merges a record into the groups of the batch, by its final key. */
static int take_record(void *context, const struct dft_record *record)
{
    struct dft_execution *execution = context;
    struct dft_group_key key;
    uint32_t group;
    int rc = 0;

    if (record->is_parent)
        return dft_partial_add_child(&execution->total, &record->key, record->inside_ns);
    rc = dft_final_key(execution, &record->key, &key);
    if (!rc)
        rc = dft_group_map_get(&execution->total.map, &key, &group);
    if (!rc)
        rc = dft_members_add(&execution->total.members, group, record->member, record->calls);
    for (unsigned kind = 0; !rc && kind < 3; kind++) {
        struct dft_row row;

        if (!record->rows[kind])
            continue;
        row = *record->rows[kind];
        row.subject = DFT_SUBJECT(group);
        rc = dft_table_merge(execution->total.table, &row);
    }
    return rc ? rc : check_budget(execution);
}

struct split {
    struct dft_execution *execution;
    unsigned level;
    uint64_t memory; /* of a record */
};

static int split_record(void *context, const struct dft_record *record)
{
    const struct split *split = context;
    struct dft_group_key group = record->is_parent ? dft_parent_group(split->execution, &record->key) : record->key,
                         final;
    int rc = dft_final_key(split->execution, &group, &final);

    return rc ? rc
              : dft_partitions_put(&split->execution->partitions, record,
                                   hash_of(split->execution, &final, split->level), split->memory);
}

/* Divides a partition; its parts come when all others have come. Collective. */
static int split(struct dft_execution *execution, uint32_t number)
{
    struct dft_partitions *partitions = &execution->partitions;
    const struct dft_partition *whole = &partitions->list[number];
    struct split split = {.execution = execution, .level = whole->level + 1, .memory = whole->memory / whole->records};
    int rc = dft_comm_agree(dft_partitions_add(partitions, split.level, whole->root));

    if (!rc)
        rc = dft_comm_agree(dft_partition_read(partitions, number, split_record, &split));
    return rc ? rc : dft_partitions_flush(partitions);
}

/* The partitions from `first` on that fit into the budget together: to before the one that is
 * returned. */
static uint32_t end_of_batch(const struct dft_execution *execution, uint32_t first)
{
    const struct dft_partitions *partitions = &execution->partitions;
    uint64_t memory = partitions->list[first].memory;
    uint32_t last = first + 1;

    while (last < partitions->count && memory + partitions->list[last].memory <= execution->budget)
        memory += partitions->list[last++].memory;
    return last;
}

/* Merges partitions [first, last) of all ranks. Returns 0, DFT_TOO_MANY or -errno. Collective. */
static int merge_batch(struct dft_execution *execution, uint32_t first, uint32_t last)
{
    int rc = dft_partial_init(&execution->total, execution->histograms);

    execution->when_full = last - first == 1 && execution->partitions.list[first].level < DFT_PARTITION_LEVEL
                               ? DFT_FULL_ENDS
                               : DFT_FULL_STAYS;
    for (uint32_t i = first; !rc && i < last; i++)
        rc = dft_partition_read(&execution->partitions, i, take_record, execution);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_reduce_total(execution);
    if (rc)
        dft_partial_fini(&execution->total);
    return rc;
}

static int next_batch(struct dft_execution *execution)
{
    const struct dft_partitions *partitions = &execution->partitions;
    uint32_t *next = &execution->next_partition;
    int rc = 0;

    while (!rc) {
        uint32_t first;

        while (*next < partitions->count && !partitions->list[*next].records)
            ++*next;
        if (*next == partitions->count)
            return 0;
        first = *next;
        *next = end_of_batch(execution, first);
        rc = merge_batch(execution, first, *next);
        execution->batch = first;
        if (!rc)
            return 1;
        if (rc == DFT_TOO_MANY)
            rc = split(execution, first);
    }
    return dft_spill_failed(execution, rc);
}

int dft_next_groups(struct dft_execution *execution)
{
    if (execution->spilled)
        return next_batch(execution);
    execution->given++;
    return execution->given == 1;
}
