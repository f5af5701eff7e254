/* SPDX-License-Identifier: MIT */
/* What was counted, from memory to the spill file and back, a batch of partitions at a time.
 *
 * When the groups that were counted pass the budget, all of them go into the spill file as partial aggregates
 * (partitions.h), and counting goes on with none. So blocks are read once. Each rank has a file of its own. When all
 * blocks have been counted, partitions are merged in batches that fit into the budget: every rank merges its records,
 * and rank 0 gets the sum. A single partition whose groups do not fit is divided further, by all ranks alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "base/names.h"
#include "source/source_names.h"
#include "source/source_notes.h"
#include "query/query_inside.h"

#define BUFFER_SHARE 512u /* of the budget for the buffer of one partition */
#define BUFFER_MAX   65536u
#define BUFFER_MIN   4096u

int dft_spill_failed(struct dft_asking *asking, int rc)
{
    if (rc < 0 && rc != -ENOMEM)
        dft_source_note(asking->source, DFT_BAD_UNREAD,
                        "temporary file in %s: %s. Groups that do not fit into memory are kept there: "
                        "set TMPDIR to a directory with more room",
                        dft_temporary_directory(), strerror(-rc));
    return rc;
}

/* --- out ---------------------------------------------------------------------------------------------------------- */

/* A hash of the group's key that is the same for a counted key and the final one. At level 0 it leaves out the call, and
 * where files are keys it is that of their texts. */
static uint64_t hash_of(const struct dft_asking *asking, const struct dft_group_key *key, unsigned level)
{
    struct dft_group_key without = *key;

    if (level)
        return dft_group_hash(key);
    if (DFT_HAS_FILES(asking))
        return dft_spilled_text_hash(key->file);
    without.call = without.cat = without.name = 0;
    return dft_group_hash(&without);
}

/* Notes a call whose text is not known yet: it decides which group the call belongs to. */
static int note_call(struct dft_asking *asking, uint64_t call)
{
    struct dft_group_key key = {.call = call};
    uint32_t number;

    if (!call || !asking->wants_calls || dft_names_text(asking->names, call).bytes)
        return 0;
    return dft_group_map_get(&asking->unknown_calls, &key, &number);
}

static int put_parents(struct dft_asking *asking)
{
    const struct dft_tally *total = &asking->total;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < total->parents.count; i++) {
        const struct dft_partial partial = {
            .key = total->parents.keys[i], .inside_ns = total->children_ns[i], .is_parent = 1};
        struct dft_group_key group = dft_parent_group(asking, &partial.key);

        rc = note_call(asking, partial.key.region);
        if (!rc)
            rc = dft_partitions_put(&asking->partitions, &partial, hash_of(asking, &group, 0), 2 * sizeof group);
    }
    return rc;
}

static int put_groups(struct dft_asking *asking)
{
    const struct dft_group_map *map = &asking->total.map;
    const struct dft_row *(*rows_of)[2] = calloc(map->count + 1u, sizeof *rows_of);
    uint64_t memory = dft_tally_used(&asking->total) / (map->count + 1u);
    struct dft_row *rows;
    uint32_t count;
    int rc = rows_of ? dft_table_rows_unsorted(asking->total.table, &rows, &count) : -ENOMEM;

    for (uint32_t i = 0; !rc && i < count; i++)
        rows_of[DFT_GROUP(rows[i].subject)][rows[i].kind == DFT_ROW_HISTOGRAM] = &rows[i];
    for (uint32_t i = 0; !rc && i < map->count; i++) {
        const struct dft_partial partial = {.key = map->keys[i], .rows = {rows_of[i][0], rows_of[i][1]}};

        rc = note_call(asking, partial.key.call);
        if (!rc)
            rc = dft_partitions_put(&asking->partitions, &partial, hash_of(asking, &partial.key, 0), memory);
    }
    free(rows_of);
    return rc;
}

/* Makes the first partitions. */
static int begin(struct dft_asking *asking)
{
    size_t bytes = asking->budget / BUFFER_SHARE;

    asking->partitions.file = &asking->file;
    asking->partitions.buffer_bytes = bytes > BUFFER_MAX ? BUFFER_MAX : bytes < BUFFER_MIN ? BUFFER_MIN : bytes;
    return dft_partitions_add(&asking->partitions, 0, 0);
}

int dft_spill_total(struct dft_asking *asking)
{
    int rc = asking->partitions.count ? 0 : begin(asking);

    if (!rc)
        rc = put_groups(asking);
    if (!rc)
        rc = put_parents(asking);
    dft_tally_clear(&asking->total);
    return dft_spill_failed(asking, rc);
}

void dft_spill_clear(struct dft_asking *asking)
{
    dft_partitions_fini(&asking->partitions);
    dft_spill_file_close(&asking->file);
    dft_group_map_fini(&asking->unknown_calls);
    asking->next_partition = 0;
}

/* Fetches the texts of calls that decide which group they belong to. Collective. */
static int fetch_unknown(struct dft_asking *asking)
{
    const struct dft_group_map *calls = &asking->unknown_calls;
    uint64_t *wanted = malloc((calls->count + 1u) * sizeof *wanted);
    int rc = dft_comm_agree(wanted ? 0 : -ENOMEM);

    for (uint32_t i = 0; !rc && i < calls->count; i++)
        wanted[i] = calls->keys[i].call;
    if (!rc)
        rc = dft_source_names(asking->source, wanted, calls->count);
    free(wanted);
    return rc;
}

int dft_spill_end(struct dft_asking *asking)
{
    int rc = dft_comm_agree(dft_spill_total(asking));

    if (!rc)
        rc = dft_spill_failed(asking, dft_partitions_flush(&asking->partitions));
    return rc ? rc : fetch_unknown(asking);
}

/* --- and back ----------------------------------------------------------------------------------------------------- */

/* Merges a record into the groups of the batch, by its final key. */
static int take_partial(void *context, const struct dft_partial *partial)
{
    struct dft_asking *asking = context;
    struct dft_group_key key;
    uint32_t group;
    int rc = 0;

    if (partial->is_parent)
        return dft_tally_add_child(&asking->total, &partial->key, partial->inside_ns);
    rc = dft_final_key(asking, &partial->key, &key);
    if (!rc)
        rc = dft_group_map_get(&asking->total.map, &key, &group);
    for (unsigned kind = 0; !rc && kind < 2; kind++) {
        struct dft_row row;

        if (!partial->rows[kind])
            continue;
        row = *partial->rows[kind];
        row.subject = DFT_SUBJECT(group);
        rc = dft_table_merge(asking->total.table, &row);
    }
    return rc ? rc : dft_check_budget(asking);
}

struct split {
    struct dft_asking *asking;
    unsigned level;
    uint64_t memory; /* of a record */
};

static int split_partial(void *context, const struct dft_partial *partial)
{
    const struct split *split = context;
    struct dft_group_key group = partial->is_parent ? dft_parent_group(split->asking, &partial->key) : partial->key,
                         final;
    int rc = dft_final_key(split->asking, &group, &final);

    return rc ? rc
              : dft_partitions_put(&split->asking->partitions, partial, hash_of(split->asking, &final, split->level),
                                   split->memory);
}

/* Divides a partition; its parts come when all others have come. Collective. */
static int split(struct dft_asking *asking, uint32_t number)
{
    struct dft_partitions *partitions = &asking->partitions;
    const struct dft_partition *whole = &partitions->list[number];
    struct split split = {.asking = asking, .level = whole->level + 1, .memory = whole->memory / whole->records};
    int rc = dft_comm_agree(dft_partitions_add(partitions, split.level, whole->root));

    if (!rc)
        rc = dft_comm_agree(dft_partition_read(partitions, number, split_partial, &split));
    return rc ? rc : dft_partitions_flush(partitions);
}

/* The partitions from `first` on that fit into the budget together: to before the one that is returned. */
static uint32_t end_of_batch(const struct dft_asking *asking, uint32_t first)
{
    const struct dft_partitions *partitions = &asking->partitions;
    uint64_t memory = partitions->list[first].memory;
    uint32_t last = first + 1;

    while (last < partitions->count && memory + partitions->list[last].memory <= asking->budget)
        memory += partitions->list[last++].memory;
    return last;
}

/* Merges partitions [first, last) of all ranks. Returns 0, DFT_TOO_MANY or -errno. Collective. */
static int merge_batch(struct dft_asking *asking, uint32_t first, uint32_t last)
{
    int rc = dft_tally_init(&asking->total, asking->histograms);

    asking->when_full = last - first == 1 && asking->partitions.list[first].level < DFT_PARTITION_LEVEL
                            ? DFT_FULL_ENDS
                            : DFT_FULL_STAYS;
    for (uint32_t i = first; !rc && i < last; i++)
        rc = dft_partition_read(&asking->partitions, i, take_partial, asking);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_reduce_total(asking);
    if (rc)
        dft_tally_fini(&asking->total);
    return rc;
}

int dft_next_batch(struct dft_asking *asking)
{
    const struct dft_partitions *partitions = &asking->partitions;
    uint32_t *next = &asking->next_partition;
    int rc = 0;

    while (!rc) {
        uint32_t first;

        while (*next < partitions->count && !partitions->list[*next].records)
            ++*next;
        if (*next == partitions->count)
            return 0;
        first = *next;
        *next = end_of_batch(asking, first);
        rc = merge_batch(asking, first, *next);
        asking->batch = first;
        if (!rc)
            return 1;
        if (rc == DFT_TOO_MANY)
            rc = split(asking, first);
    }
    return dft_spill_failed(asking, rc);
}
