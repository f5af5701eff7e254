/* SPDX-License-Identifier: MIT */
/* Groups while they are counted; merged between threads and ranks. */
#include "query/partial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/pages.h"
#include "query/group_map.h"

int dft_partial_init(struct dft_partial *partial, int histograms)
{
    partial->table = dft_table_create(DFT_QUERY_INTERVAL, DFT_MIX_OPS | (histograms ? DFT_KEEP_HISTOGRAMS : 0));
    return partial->table ? 0 : -ENOMEM;
}

void dft_partial_fini(struct dft_partial *partial)
{
    dft_group_map_fini(&partial->map);
    dft_group_map_fini(&partial->parents);
    dft_map_fini(&partial->members);
    dft_table_destroy(partial->table);
    dft_pages_free(partial->children_ns, partial->children_capacity * sizeof *partial->children_ns);
    memset(partial, 0, sizeof *partial);
}

void dft_partial_clear(struct dft_partial *partial)
{
    if (partial->parents.count)
        memset(partial->children_ns, 0, partial->parents.count * sizeof *partial->children_ns);
    dft_group_map_clear(&partial->map);
    dft_group_map_clear(&partial->parents);
    dft_map_clear(&partial->members);
    dft_table_clear(partial->table);
}

size_t dft_partial_used(const struct dft_partial *partial)
{
    return dft_group_map_used(&partial->map) + dft_group_map_used(&partial->parents) + dft_table_used(partial->table) +
           partial->parents.count * sizeof *partial->children_ns +
           2 * partial->members.count * sizeof(struct dft_map_slot);
}

int dft_partial_add_child(struct dft_partial *partial, const struct dft_group_key *parent, uint64_t dur_ns)
{
    uint32_t number;

    if (dft_group_map_get(&partial->parents, parent, &number))
        return -ENOMEM;
    if (number >= partial->children_capacity) {
        uint32_t capacity = partial->children_capacity ? 2 * partial->children_capacity : 64;
        uint64_t *bigger = dft_pages_grow(partial->children_ns, partial->children_capacity * sizeof *bigger,
                                          capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        memset(bigger + partial->children_capacity, 0, (capacity - partial->children_capacity) * sizeof *bigger);
        partial->children_ns = bigger;
        partial->children_capacity = capacity;
    }
    partial->children_ns[number] += dur_ns;
    return 0;
}

/* What was counted of groups with these keys. */
struct counted {
    const struct dft_group_key *keys;
    uint32_t nkeys, nrows;
    struct dft_row *rows; /* their subjects are changed */
    const struct dft_map_slot *members;
    size_t nmembers;
};

static int merge_groups(struct dft_partial *into, const struct counted *counted)
{
    uint32_t *numbers = malloc((counted->nkeys + 1u) * sizeof *numbers), position = 0;
    int rc = numbers ? dft_group_map_get_all(&into->map, counted->keys, counted->nkeys, numbers) : -ENOMEM;

    for (uint32_t i = 0; !rc && i < counted->nrows; i++) {
        counted->rows[i].interval = 0;
        counted->rows[i].subject = DFT_SUBJECT(numbers[DFT_GROUP(counted->rows[i].subject)]);
    }
    if (!rc)
        rc = dft_table_merge_rows(into->table, counted->rows, counted->nrows, &position);
    if (!rc)
        rc = dft_members_merge(&into->members, counted->members, counted->nmembers, numbers);
    free(numbers);
    return rc;
}

int dft_partial_merge(struct dft_partial *into, struct dft_partial *from)
{
    struct counted counted = {.keys = from->map.keys,
                              .nkeys = from->map.count,
                              .members = from->members.slots,
                              .nmembers = from->members.capacity};
    int rc = dft_table_rows_unsorted(from->table, &counted.rows, &counted.nrows);

    if (!rc)
        rc = merge_groups(into, &counted);
    for (uint32_t i = 0; !rc && i < from->parents.count; i++)
        rc = dft_partial_add_child(into, &from->parents.keys[i], from->children_ns[i]);
    return rc;
}

/* --- between ranks ---------------------------------------------------------------------------- */

/* Followed by keys, rows, bins (of durations and sizes, row by row), patterns of the rows that have
 * one, parents, times of children, slots of members. */
struct packed {
    uint64_t keys, rows, bins, patterns, parents, members;
};

int dft_partial_pack(struct dft_partial *partial, void **bytes, size_t *length)
{
    struct packed head = {
        .keys = partial->map.count, .parents = partial->parents.count, .members = partial->members.capacity};
    struct dft_row *rows;
    uint32_t count;
    char *at;
    int rc = dft_table_rows_unsorted(partial->table, &rows, &count);

    if (rc)
        return rc;
    head.rows = count;
    for (uint32_t i = 0; i < count; i++) {
        head.patterns += rows[i].pattern != NULL;
        head.bins += (uint64_t)rows[i].ndurations + rows[i].nsizes + rows[i].nasked;
    }
    *length = sizeof head + head.keys * sizeof(struct dft_group_key) + head.rows * sizeof *rows +
              head.bins * sizeof(struct dft_bin) + head.patterns * sizeof(struct dft_pattern) +
              head.parents * (sizeof(struct dft_group_key) + sizeof(uint64_t)) +
              head.members * sizeof(struct dft_map_slot);
    *bytes = at = malloc(*length);
    if (!at)
        return -ENOMEM;
#define DFT_PACK(from, size)                                                                                           \
    do {                                                                                                               \
        size_t bytes_ = (size);                                                                                        \
        if (bytes_)                                                                                                    \
            memcpy(at, (from), bytes_);                                                                                \
        at += bytes_;                                                                                                  \
    } while (0)
    DFT_PACK(&head, sizeof head);
    DFT_PACK(partial->map.keys, head.keys * sizeof(struct dft_group_key));
    DFT_PACK(rows, head.rows * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        DFT_PACK(rows[i].durations, rows[i].ndurations * sizeof(struct dft_bin));
        DFT_PACK(rows[i].sizes, rows[i].nsizes * sizeof(struct dft_bin));
        DFT_PACK(rows[i].asked, rows[i].nasked * sizeof(struct dft_bin));
    }
    for (uint32_t i = 0; i < count; i++)
        DFT_PACK(rows[i].pattern, rows[i].pattern ? sizeof *rows[i].pattern : 0);
    DFT_PACK(partial->parents.keys, head.parents * sizeof(struct dft_group_key));
    DFT_PACK(partial->children_ns, head.parents * sizeof(uint64_t));
    DFT_PACK(partial->members.slots, head.members * sizeof(struct dft_map_slot));
#undef DFT_PACK
    dft_partial_clear(partial);
    return 0;
}

int dft_partial_unpack(struct dft_partial *into, const void *bytes, size_t length)
{
    const struct packed *head = bytes;
    struct counted counted = {.keys = (const void *)(head + 1),
                              .nkeys = (uint32_t)head->keys,
                              .nrows = (uint32_t)head->rows,
                              .nmembers = head->members};
    const struct dft_group_key *parents;
    /* the bytes are the receiver's own */
    struct dft_row *rows = counted.rows = (struct dft_row *)(uintptr_t)(counted.keys + head->keys);
    const struct dft_bin *bins = (const void *)(rows + head->rows);
    const struct dft_pattern *patterns = (const void *)(bins + head->bins);
    const uint64_t *children_ns;
    int rc;

    (void)length;
    parents = (const void *)(patterns + head->patterns);
    children_ns = (const void *)(parents + head->parents);
    for (uint64_t i = 0; i < head->rows; i++) {
        rows[i].durations = bins;
        bins += rows[i].ndurations;
        rows[i].sizes = bins;
        bins += rows[i].nsizes;
        rows[i].asked = bins;
        bins += rows[i].nasked;
        if (rows[i].pattern) /* the sender's address */
            rows[i].pattern = patterns++;
    }
    counted.members = (const void *)(children_ns + head->parents);
    rc = merge_groups(into, &counted);
    for (uint64_t i = 0; !rc && i < head->parents; i++)
        rc = dft_partial_add_child(into, &parents[i], children_ns[i]);
    return rc;
}
