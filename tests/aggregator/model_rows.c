/* SPDX-License-Identifier: MIT */
/* The rows of the slow and obvious aggregator: in order, and compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void model_make_pattern(struct model_row *row)
{
    struct dft_touched *touched = &row->pattern.touched;
    uint64_t highest = 0;

    row->row.pattern = row->ntouched ? &row->pattern : NULL;
    row->pattern = (struct dft_pattern){.touched = {.shift = 0}};
    for (uint32_t i = 0; i < row->ntouched; i++)
        highest = row->touched[i][1] > highest ? row->touched[i][1] : highest;
    while ((uint64_t)DFT_TOUCHED_PARTS << touched->shift < highest)
        touched->shift++;
    for (uint32_t i = 0; i < row->ntouched; i++)
        for (uint64_t part = 0; part < DFT_TOUCHED_PARTS; part++)
            if (part << touched->shift < row->touched[i][1] && row->touched[i][0] < (part + 1) << touched->shift)
                touched->bits[part / 64] |= UINT64_C(1) << part % 64;
}

static int model_compare(const void *a, const void *b)
{
    return dft_row_compare(&(*(struct model_row *const *)a)->row, &(*(struct model_row *const *)b)->row);
}

static const struct dft_bin *model_bins(const uint64_t *counts, uint16_t *count)
{
    struct dft_bin *bins = calloc(DFT_BINS, sizeof(*bins));

    if (!bins)
        abort();
    *count = 0;
    for (uint32_t bin = 0; bin < DFT_BINS; bin++)
        if (counts[bin])
            bins[(*count)++] = (struct dft_bin){.bin = bin, .count = counts[bin]};
    return bins;
}

struct dft_row *model_rows(struct model *model)
{
    struct dft_row *rows = calloc(model->count + 1, sizeof(*rows));

    if (!rows)
        abort();
    if (model->count)
        qsort(model->rows, model->count, sizeof(*model->rows), model_compare);
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->rows[i]->row.kind == DFT_ROW_FILE)
            model_make_pattern(model->rows[i]);
        rows[i] = model->rows[i]->row;
        if (rows[i].kind == DFT_ROW_HISTOGRAM) {
            rows[i].durations = model_bins(model->rows[i]->durations, &rows[i].ndurations);
            rows[i].sizes = model_bins(model->rows[i]->sizes, &rows[i].nsizes);
            rows[i].asked = model_bins(model->rows[i]->asked, &rows[i].nasked);
        }
    }
    return rows;
}

void model_free_rows(struct model *model, struct dft_row *rows)
{
    for (uint32_t i = 0; i < model->count; i++) {
        free((void *)rows[i].durations);
        free((void *)rows[i].sizes);
        free((void *)rows[i].asked);
    }
    free(rows);
}

uint32_t model_bin(uint64_t value)
{
    uint32_t halvings = 0;

    while (value >= 64) {
        value /= 2;
        halvings++;
    }
    return 32 * halvings + (uint32_t)value;
}

static int model_compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t model_percentile(uint64_t *values, uint32_t count, uint32_t p, uint64_t min, uint64_t max)
{
    uint64_t rank = ((uint64_t)p * count + 99) / 100, value, low, high;

    qsort(values, count, sizeof(*values), model_compare_values);
    value = values[(rank ? rank : 1) - 1];
    for (low = value; low && model_bin(low - 1) == model_bin(value);)
        low--;
    for (high = value; model_bin(high + 1) == model_bin(value);)
        high++;
    value = (low + high) / 2;
    return value < min ? min : value > max ? max : value;
}

static int model_bins_differ(const struct dft_bin *a, uint32_t na, const struct dft_bin *b, uint32_t nb)
{
    if (na != nb)
        return 1;
    for (uint32_t i = 0; i < na; i++)
        if (a[i].bin != b[i].bin || a[i].count != b[i].count)
            return 1;
    return 0;
}

static int model_patterns_differ(const struct dft_pattern *a, const struct dft_pattern *b)
{
    if (!a || !b)
        return a != b;
    for (unsigned i = 0; i < 2; i++)
        if (a->strides[i].count != b->strides[i].count || a->strides[i].bytes != b->strides[i].bytes)
            return 1;
    return a->touched.shift != b->touched.shift ||
           memcmp(a->touched.bits, b->touched.bits, sizeof a->touched.bits) != 0;
}

const char *model_difference(const struct dft_row *a, uint32_t na, const struct dft_row *b, uint32_t nb,
                             int without_busy)
{
    static char text[200];

    for (uint32_t i = 0; i < na || i < nb; i++) {
        struct dft_metrics x, y;

        if (i >= na || i >= nb || dft_row_compare(&a[i], &b[i]) != 0) {
            snprintf(text, sizeof(text), "row %u of %u and %u has another key", i, na, nb);
            return text;
        }
        x = a[i].metrics;
        y = b[i].metrics;
        if (without_busy) {
            x.edge = y.edge = 0;
            x.step = y.step = 0;
            x.occupancy = y.occupancy = 0;
        }
        /* The struct has no padding: 64-bit fields alone. */
        for (size_t f = 0; f < sizeof(x) / sizeof(uint64_t); f++)
            if (((const uint64_t *)(const void *)&x)[f] != ((const uint64_t *)(const void *)&y)[f]) {
                snprintf(text, sizeof(text), "row %u (kind %d): field %zu is %lld and %lld", i, a[i].kind, f,
                         ((const long long *)(const void *)&x)[f], ((const long long *)(const void *)&y)[f]);
                return text;
            }
        if (a[i].op != b[i].op || model_bins_differ(a[i].durations, a[i].ndurations, b[i].durations, b[i].ndurations) ||
            model_bins_differ(a[i].sizes, a[i].nsizes, b[i].sizes, b[i].nsizes) ||
            model_bins_differ(a[i].asked, a[i].nasked, b[i].asked, b[i].nasked)) {
            snprintf(text, sizeof(text), "row %u (kind %d): op or bins differ", i, a[i].kind);
            return text;
        }
        if (model_patterns_differ(a[i].pattern, b[i].pattern)) {
            snprintf(text, sizeof(text), "row %u (kind %d): patterns differ", i, a[i].kind);
            return text;
        }
    }
    return NULL;
}
