/* SPDX-License-Identifier: MIT */
/* Groups while they are counted; merged between threads and ranks. */
#include "query/query_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/pages.h"

int dft_tally_init(struct dft_tally *tally, int histograms)
{
    tally->table = dft_table_create(DFT_QUERY_INTERVAL, DFT_MIX_OPS | (histograms ? DFT_KEEP_HISTOGRAMS : 0));
    return tally->table ? 0 : -ENOMEM;
}

void dft_tally_fini(struct dft_tally *tally)
{
    dft_group_map_fini(&tally->map);
    dft_group_map_fini(&tally->parents);
    dft_table_destroy(tally->table);
    dft_pages_free(tally->children_ns, tally->children_capacity * sizeof *tally->children_ns);
    memset(tally, 0, sizeof *tally);
}

void dft_tally_clear(struct dft_tally *tally)
{
    if (tally->parents.count)
        memset(tally->children_ns, 0, tally->parents.count * sizeof *tally->children_ns);
    dft_group_map_clear(&tally->map);
    dft_group_map_clear(&tally->parents);
    dft_table_clear(tally->table);
}

size_t dft_tally_used(const struct dft_tally *tally)
{
    return dft_group_map_used(&tally->map) + dft_group_map_used(&tally->parents) + dft_table_used(tally->table) +
           tally->parents.count * sizeof *tally->children_ns;
}

int dft_tally_add_child(struct dft_tally *tally, const struct dft_group_key *parent, uint64_t dur_ns)
{
    uint32_t number;

    if (dft_group_map_get(&tally->parents, parent, &number))
        return -ENOMEM;
    if (number >= tally->children_capacity) {
        uint32_t capacity = tally->children_capacity ? 2 * tally->children_capacity : 64;
        uint64_t *bigger =
            dft_pages_grow(tally->children_ns, tally->children_capacity * sizeof *bigger, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        memset(bigger + tally->children_capacity, 0, (capacity - tally->children_capacity) * sizeof *bigger);
        tally->children_ns = bigger;
        tally->children_capacity = capacity;
    }
    tally->children_ns[number] += dur_ns;
    return 0;
}

/* Rows of groups with these keys; their subjects are changed. */
static int merge_rows(struct dft_tally *into, const struct dft_group_key *keys, uint32_t nkeys, struct dft_row *rows,
                      uint32_t nrows)
{
    uint32_t *numbers = malloc((nkeys + 1u) * sizeof *numbers), position = 0;
    int rc = numbers ? dft_group_map_get_all(&into->map, keys, nkeys, numbers) : -ENOMEM;

    for (uint32_t i = 0; !rc && i < nrows; i++) {
        rows[i].interval = 0;
        rows[i].subject = DFT_SUBJECT(numbers[DFT_GROUP(rows[i].subject)]);
    }
    if (!rc)
        rc = dft_table_merge_rows(into->table, rows, nrows, &position);
    free(numbers);
    return rc;
}

int dft_tally_merge(struct dft_tally *into, struct dft_tally *from)
{
    struct dft_row *rows;
    uint32_t count;
    int rc = dft_table_rows_unsorted(from->table, &rows, &count);

    if (!rc)
        rc = merge_rows(into, from->map.keys, from->map.count, rows, count);
    for (uint32_t i = 0; !rc && i < from->parents.count; i++)
        rc = dft_tally_add_child(into, &from->parents.keys[i], from->children_ns[i]);
    return rc;
}

/* --- between ranks ------------------------------------------------------------------------------------------------- */

/* Followed by keys, rows, bins (of durations and sizes, row by row), parents, times of children. */
struct packed {
    uint64_t keys, rows, bins, parents;
};

int dft_tally_pack(struct dft_tally *tally, void **bytes, size_t *length)
{
    struct packed head = {.keys = tally->map.count, .parents = tally->parents.count};
    struct dft_row *rows;
    uint32_t count;
    char *at;
    int rc = dft_table_rows_unsorted(tally->table, &rows, &count);

    if (rc)
        return rc;
    head.rows = count;
    for (uint32_t i = 0; i < count; i++)
        head.bins += (uint64_t)rows[i].ndurations + rows[i].nsizes;
    *length = sizeof head + head.keys * sizeof(struct dft_group_key) + head.rows * sizeof *rows +
              head.bins * sizeof(struct dft_bin) + head.parents * (sizeof(struct dft_group_key) + sizeof(uint64_t));
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
    DFT_PACK(tally->map.keys, head.keys * sizeof(struct dft_group_key));
    DFT_PACK(rows, head.rows * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        DFT_PACK(rows[i].durations, rows[i].ndurations * sizeof(struct dft_bin));
        DFT_PACK(rows[i].sizes, rows[i].nsizes * sizeof(struct dft_bin));
    }
    DFT_PACK(tally->parents.keys, head.parents * sizeof(struct dft_group_key));
    DFT_PACK(tally->children_ns, head.parents * sizeof(uint64_t));
#undef DFT_PACK
    dft_tally_clear(tally);
    return 0;
}

int dft_tally_unpack(struct dft_tally *into, const void *bytes, size_t length)
{
    const struct packed *head = bytes;
    const struct dft_group_key *keys = (const void *)(head + 1), *parents;
    struct dft_row *rows = (struct dft_row *)(uintptr_t)(keys + head->keys); /* the bytes are the receiver's own */
    const struct dft_bin *bins = (const void *)(rows + head->rows);
    const uint64_t *children_ns;
    int rc;

    (void)length;
    parents = (const void *)(bins + head->bins);
    children_ns = (const void *)(parents + head->parents);
    for (uint64_t i = 0; i < head->rows; i++) {
        rows[i].durations = bins;
        bins += rows[i].ndurations;
        rows[i].sizes = bins;
        bins += rows[i].nsizes;
    }
    rc = merge_rows(into, keys, (uint32_t)head->keys, rows, (uint32_t)head->rows);
    for (uint64_t i = 0; !rc && i < head->parents; i++)
        rc = dft_tally_add_child(into, &parents[i], children_ns[i]);
    return rc;
}
