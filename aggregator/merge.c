/* SPDX-License-Identifier: MIT */
/* Rows into rows: merging metrics and histograms, also from a finer grid. */
#include "table.h"

#include <errno.h>

void dft_metrics_clear(struct dft_metrics *metrics)
{
    dft_metrics_clear_inline(metrics);
}

void dft_metrics_merge(struct dft_metrics *into, const struct dft_metrics *from)
{
    dft_metrics_merge_inline(into, from);
}

/* The row's key, without what its kind has no use for, in the interval that holds it on a grid
 * `factor` times as wide. */
static struct dft_key merge_key(const struct dft_table *table, const struct dft_row *row, uint64_t factor)
{
    struct dft_key key = {.kind = row->kind,
                          .interval = factor == 1 ? row->interval : row->interval / factor,
                          .region = row->region,
                          .subject = row->subject};

    if (row->kind == DFT_ROW_FILE) {
        key.class = row->class;
        key.io = row->io;
    } else if (!(table->keep & DFT_MIX_OPS)) {
        key.op = row->op;
        key.io = row->io;
        key.size_class = row->size_class;
        key.access = row->access;
        key.err = row->err;
    }
    return key;
}

/* How many chunks a list of bins may need, or -EINVAL. */
static int merge_count_chunks(const struct dft_bin *bins, uint32_t count)
{
    uint64_t octaves = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (bins[i].bin >= DFT_BINS)
            return -EINVAL;
        octaves |= UINT64_C(1) << bins[i].bin / DFT_CHUNK_BINS;
    }
    return __builtin_popcountll(octaves);
}

static int merge_histogram(struct dft_table *table, const struct dft_row *row, const struct dft_key *key, uint32_t hash)
{
    const struct {
        const struct dft_bin *bins;
        uint32_t count;
    } lists[DFT_HISTOGRAMS] = {[DFT_DURATIONS] = {row->durations, row->ndurations},
                               [DFT_SIZES] = {row->sizes, row->nsizes},
                               [DFT_ASKED] = {row->asked, row->nasked}};
    uint32_t spine, chunks = 0;
    int rc;

    for (int which = 0; which < DFT_HISTOGRAMS; which++) {
        int more = merge_count_chunks(lists[which].bins, lists[which].count);

        if (more < 0)
            return -EINVAL;
        chunks += (uint32_t)more;
    }
    rc = dft_table_reserve(table, 1, 1, chunks, 0);
    if (rc)
        return rc;
    spine = table->links[dft_table_find_hashed(table, key, hash)].spine;
    for (int which = 0; which < DFT_HISTOGRAMS; which++)
        for (uint32_t i = 0; i < lists[which].count; i++)
            dft_table_count_bin(table, spine, which, lists[which].bins[i].bin, lists[which].bins[i].count);
    return 0;
}

/* A step at fine interval k lies `inside` fine intervals behind the start of its coarse one, K. It
 * covers the rest of K, which becomes edge time there (modulo 2^64: a step down takes away), and
 * all from K + 1 on, where it stays a step. */
static void merge_step(struct dft_table *table, const struct dft_key *key, uint64_t step, uint64_t rest_ns)
{
    struct dft_key next = *key;
    struct dft_metrics *metrics = &table->rows[dft_table_find(table, key)].metrics;

    metrics->step = (int64_t)((uint64_t)metrics->step - step);
    metrics->edge += step * rest_ns;
    if (next.interval == UINT64_MAX)
        return;
    next.interval++;
    metrics = &table->rows[dft_table_find(table, &next)].metrics;
    metrics->step = (int64_t)((uint64_t)metrics->step + step);
}

/* `key`: the row's on the table's grid. */
static int merge_row(struct dft_table *table, const struct dft_row *row, uint64_t factor, const struct dft_key *key,
                     uint32_t hash)
{
    uint64_t inside, occupancy;
    uint32_t number;
    int rc;

    if (row->kind == DFT_ROW_HISTOGRAM)
        return merge_histogram(table, row, key, hash);
    rc = dft_table_reserve(table, 2, 0, 0, row->pattern != NULL);
    if (rc)
        return rc;
    number = dft_table_find_hashed(table, key, hash);
    occupancy = factor == 1 ? 0 : table->rows[number].metrics.occupancy;
    dft_metrics_merge_inline(&table->rows[number].metrics, &row->metrics);
    if (row->pattern && row->kind == DFT_ROW_FILE)
        dft_pattern_merge(dft_table_pattern(table, number), row->pattern);
    if (factor == 1)
        return 0;
    table->rows[number].metrics.occupancy = occupancy;
    inside = row->interval % factor;
    if (inside && row->metrics.step) {
        uint64_t width = table->interval_ns / factor * (row->kind == DFT_ROW_FILE ? DFT_COARSE : 1);

        merge_step(table, key, (uint64_t)row->metrics.step, (factor - inside) * width);
    }
    return 0;
}

int dft_table_merge_finer(struct dft_table *table, const struct dft_row *row, uint64_t factor)
{
    struct dft_key key;

    if (!factor || row->kind > DFT_ROW_FILE)
        return -EINVAL;
    table->sorted = 0;
    key = merge_key(table, row, factor);
    return merge_row(table, row, factor, &key, dft_table_hash(&key));
}

int dft_table_merge(struct dft_table *table, const struct dft_row *row)
{
    return dft_table_merge_finer(table, row, 1);
}

/* Three steps, each DFT_TABLE_AHEAD rows behind the one before: fetch the slot of a row's key,
 * fetch the row that it names, merge. So the memory works on many rows at once, where one after the
 * other each would wait for slot and row in turn. */
int dft_table_merge_rows(struct dft_table *table, const struct dft_row *rows, uint32_t count, uint32_t *position)
{
    uint32_t hashes[4 * DFT_TABLE_AHEAD], first = *position;
    int rc = 0;

    if (first < count)
        table->sorted = 0;
    for (uint64_t i = first; i < (uint64_t)count + 2 * DFT_TABLE_AHEAD; i++) {
        if (i < count) {
            const struct dft_key key = merge_key(table, &rows[i], 1);

            hashes[i % (4 * DFT_TABLE_AHEAD)] = dft_table_hash(&key);
            dft_table_fetch_slot(table, hashes[i % (4 * DFT_TABLE_AHEAD)]);
        }
        if (i >= first + DFT_TABLE_AHEAD && i < (uint64_t)count + DFT_TABLE_AHEAD)
            dft_table_fetch_row(table, hashes[(i - DFT_TABLE_AHEAD) % (4 * DFT_TABLE_AHEAD)],
                                rows[i - DFT_TABLE_AHEAD].metrics.data != 0);
        if (i >= first + 2 * DFT_TABLE_AHEAD) {
            const struct dft_row *row = &rows[i - 2 * DFT_TABLE_AHEAD];
            const struct dft_key key = merge_key(table, row, 1);

            rc = row->kind > DFT_ROW_FILE
                     ? -EINVAL
                     : merge_row(table, row, 1, &key, hashes[(i - 2 * DFT_TABLE_AHEAD) % (4 * DFT_TABLE_AHEAD)]);
            if (rc)
                break;
            ++*position;
        }
    }
    return rc;
}
