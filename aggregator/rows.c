/* SPDX-License-Identifier: MIT */
/* Rows out of a table: sorted in place by key, histograms as lists of bins.
 *
 * sorting moves 256-byte rows, so it sorts their numbers first (bottom-up merge sort in the slots
 * of the index, which hold more than two numbers a row; runs already in order are passed over, and
 * rows mostly arrive in order), then moves each row once along the cycles of the permutation, then
 * builds the index anew. No memory is allocated but for lists of bins of growing tables. */
#include "table.h"

#include <errno.h>
#include <string.h>

#include "aggregator/pages.h"

int dft_row_compare(const struct dft_row *a, const struct dft_row *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    if (a->subject != b->subject)
        return a->subject < b->subject ? -1 : 1;
    if (a->class != b->class)
        return (int)a->class - b->class;
    if (a->op != b->op)
        return (int)a->op - b->op;
    if (a->io != b->io)
        return (int)a->io - b->io;
    if (a->size_class != b->size_class)
        return (int)a->size_class - b->size_class;
    return a->access != b->access ? (int)a->access - b->access : (int)a->err - b->err;
}

static void rows_merge_runs(const struct dft_row *rows, const uint32_t *from, uint32_t *to, uint32_t left,
                            uint32_t middle, uint32_t right)
{
    uint32_t a = left, b = middle;

    if (middle >= right || dft_row_compare(&rows[from[middle - 1]], &rows[from[middle]]) < 0) {
        memcpy(to + left, from + left, (right - left) * sizeof(*to));
        return;
    }
    for (uint32_t k = left; k < right; k++) {
        if (b >= right || (a < middle && dft_row_compare(&rows[from[a]], &rows[from[b]]) < 0))
            to[k] = from[a++];
        else
            to[k] = from[b++];
    }
}

/* The numbers of the rows in the order of their keys; lies in the slots. */
static uint32_t *rows_order(struct dft_table *table)
{
    uint32_t count = table->count, *from = &table->slots->hash, *to = from + count;

    for (uint32_t i = 0; i < count; i++)
        from[i] = i;
    for (uint64_t run = 1; run < count; run *= 2) {
        uint32_t *swap;

        for (uint64_t left = 0; left < count; left += 2 * run) {
            uint64_t middle = left + run < count ? left + run : count;
            uint64_t right = left + 2 * run < count ? left + 2 * run : count;

            rows_merge_runs(table->rows, from, to, (uint32_t)left, (uint32_t)middle, (uint32_t)right);
        }
        swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Puts row order[i] into place i, cycle by cycle; order becomes the identity. */
static void rows_permute(struct dft_table *table, uint32_t *order)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct dft_row row;
        struct dft_link link;
        uint32_t hole = i;

        if (order[i] == i)
            continue;
        row = table->rows[i];
        link = table->links[i];
        while (order[hole] != i) {
            uint32_t next = order[hole];

            table->rows[hole] = table->rows[next];
            table->links[hole] = table->links[next];
            order[hole] = hole;
            hole = next;
        }
        table->rows[hole] = row;
        table->links[hole] = link;
        order[hole] = hole;
    }
}

/* Puts the bins of these chunks at *bins, which moves behind them. Returns how many. */
static uint16_t rows_put_bins(const struct dft_table *table, const uint32_t *chunks, struct dft_bin **bins)
{
    uint16_t n = 0;

    for (uint32_t octave = 0; octave < DFT_CHUNKS_OF_SPINE; octave++) {
        if (!chunks[octave])
            continue;
        const uint64_t *counts = table->chunks[chunks[octave] - 1].counts;

        for (uint32_t i = 0; i < DFT_CHUNK_BINS; i++)
            if (counts[i]) {
                *(*bins)++ = (struct dft_bin){.bin = octave * DFT_CHUNK_BINS + i, .count = counts[i]};
                n++;
            }
    }
    return n;
}

static size_t rows_count_bins(const struct dft_table *table)
{
    size_t n = 0;

    for (uint32_t chunk = 0; chunk < table->nchunks; chunk++)
        for (uint32_t i = 0; i < DFT_CHUNK_BINS; i++)
            n += table->chunks[chunk].counts[i] != 0;
    return n;
}

static int rows_make_room(struct dft_table *table, size_t bins)
{
    struct dft_bin *bigger;

    if (bins <= table->bins_capacity)
        return 0;
    bigger = dft_pages_grow(table->bins, table->bins_capacity * sizeof(*bigger), bins * sizeof(*bigger));
    if (!bigger)
        return -ENOMEM;
    table->bins = bigger;
    table->bins_capacity = bins;
    return 0;
}

/* Points rows to what they have outside of themselves. */
static void rows_list_bins(struct dft_table *table)
{
    struct dft_bin *bins = table->bins;

    for (uint32_t i = 0; i < table->count; i++) {
        struct dft_row *row = &table->rows[i];
        const struct dft_spine *spine;

        if (row->kind == DFT_ROW_FILE && table->links[i].pattern)
            row->pattern = &table->patterns[table->links[i].pattern - 1];
        if (row->kind != DFT_ROW_HISTOGRAM)
            continue;
        spine = &table->spines[table->links[i].spine - 1];
        row->durations = bins;
        row->ndurations = rows_put_bins(table, spine->chunks[DFT_DURATIONS], &bins);
        row->sizes = bins;
        row->nsizes = rows_put_bins(table, spine->chunks[DFT_SIZES], &bins);
        row->asked = bins;
        row->nasked = rows_put_bins(table, spine->chunks[DFT_ASKED], &bins);
    }
}

int dft_table_rows_unsorted(struct dft_table *table, struct dft_row **rows, uint32_t *count)
{
    dft_table_settle(table);
    if (!table->sorted) {
        /* A fixed table has room for all bins of all its chunks. */
        if (table->growing && rows_make_room(table, rows_count_bins(table)))
            return -ENOMEM;
        rows_list_bins(table);
    }
    *rows = table->rows;
    *count = table->count;
    return 0;
}

int dft_table_rows(struct dft_table *table, struct dft_row **rows, uint32_t *count)
{
    int rc;

    dft_table_settle(table);
    if (!table->sorted) {
        for (uint32_t i = 0; i < DFT_CURSORS; i++)
            table->cursors[i].width_ns = 0; /* rows move */
        rows_permute(table, rows_order(table));
        dft_table_index(table);
        memset(table->recent, 0, sizeof(table->recent));
        memset(table->recent_files, 0, sizeof(table->recent_files));
    }
    rc = dft_table_rows_unsorted(table, rows, count);
    table->sorted = !rc;
    return rc;
}
