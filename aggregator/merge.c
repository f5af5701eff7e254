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

/* The row's key, without what its kind has no use for, in the interval that holds it on a grid `factor` times as
 * wide. */
static struct dft_key merge_key(const struct dft_row *row, uint64_t factor)
{
    struct dft_key key = {.kind = row->kind,
                          .interval = factor == 1 ? row->interval : row->interval / factor,
                          .region = row->region,
                          .subject = row->subject};

    if (row->kind == DFT_ROW_FILE)
        key.class = row->class;
    else
        key.op = row->op;
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

static int merge_histogram(struct dft_table *table, const struct dft_row *row, const struct dft_key *key)
{
    int durations = merge_count_chunks(row->durations, row->ndurations);
    int sizes = merge_count_chunks(row->sizes, row->nsizes);
    uint32_t spine;
    int rc;

    if (durations < 0 || sizes < 0)
        return -EINVAL;
    rc = dft_table_reserve(table, 1, 1, (uint32_t)(durations + sizes));
    if (rc)
        return rc;
    spine = table->links[dft_table_find(table, key)].spine;
    for (uint32_t i = 0; i < row->ndurations; i++)
        dft_table_count_bin(table, spine, DFT_DURATIONS, row->durations[i].bin, row->durations[i].count);
    for (uint32_t i = 0; i < row->nsizes; i++)
        dft_table_count_bin(table, spine, DFT_SIZES, row->sizes[i].bin, row->sizes[i].count);
    return 0;
}

/* A step at fine interval k lies `inside` fine intervals behind the start of its coarse one, K. It covers the rest of
 * K, which becomes edge time there (modulo 2^64: a step down takes away), and all from K + 1 on, where it stays a
 * step. */
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

int dft_table_merge_finer(struct dft_table *table, const struct dft_row *row, uint64_t factor)
{
    struct dft_key key;
    uint64_t inside;
    int rc;

    if (!factor || row->kind > DFT_ROW_FILE)
        return -EINVAL;
    table->sorted = 0;
    key = merge_key(row, factor);
    if (row->kind == DFT_ROW_HISTOGRAM)
        return merge_histogram(table, row, &key);
    rc = dft_table_reserve(table, 2, 0, 0);
    if (rc)
        return rc;
    dft_metrics_merge_inline(&table->rows[dft_table_find(table, &key)].metrics, &row->metrics);
    inside = factor == 1 ? 0 : row->interval % factor;
    if (inside && row->metrics.step) {
        uint64_t width = table->interval_ns / factor * (row->kind == DFT_ROW_FILE ? DFT_COARSE : 1);

        merge_step(table, &key, (uint64_t)row->metrics.step, (factor - inside) * width);
    }
    return 0;
}

int dft_table_merge(struct dft_table *table, const struct dft_row *row)
{
    return dft_table_merge_finer(table, row, 1);
}
