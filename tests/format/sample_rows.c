/* SPDX-License-Identifier: MIT */
/* Random but reproducible rows for the tests of the format. */
#include <stdlib.h>
#include <string.h>

#include "sample.h"

static void make_wild_metrics(struct dft_metrics *metrics)
{
    uint64_t *words = (uint64_t *)metrics;

    for (size_t i = 0; i < sizeof *metrics / sizeof *words; i++)
        words[i] = sample_below(3) ? sample_wild() : 0;
}

static void make_tame_metrics(struct dft_metrics *metrics)
{
    uint64_t n = sample_below(4) ? 1 + sample_below(50) : 0, data = n && sample_below(3) ? 1 + sample_below(n) : 0;

    *metrics = (struct dft_metrics){.count = n,
                                    .samples = n,
                                    .errors = sample_below(2),
                                    .dur_min = UINT64_MAX,
                                    .size_min = UINT64_MAX,
                                    .offset_min = INT64_MAX,
                                    .offset_max = -1,
                                    .first_start = UINT64_MAX,
                                    .edge = sample_below(1000000),
                                    .step = (int64_t)sample_below(3) - 1,
                                    .data = data};
    if (n) {
        metrics->dur_min = sample_below(1000);
        metrics->dur_max = metrics->dur_min + sample_below(1000);
        metrics->dur_sum = n * metrics->dur_min + sample_below(1000);
        metrics->first_start = UINT64_C(1700000000000000000) + sample_below(1000000000);
        metrics->last_end = metrics->first_start + sample_below(1000000);
    }
    if (data) {
        metrics->size_min = sample_below(4096);
        metrics->size_max = metrics->size_min + sample_below(4096);
        metrics->bytes = data * metrics->size_max;
        metrics->offset_min = (int64_t)sample_below(1u << 30);
        metrics->offset_max = metrics->offset_min + (int64_t)metrics->bytes;
        metrics->sequential = data;
        metrics->asked = sample_below(3) ? metrics->bytes : sample_below(1u << 20);
        metrics->turns = sample_below(8) ? 0 : sample_below(data + 1);
    }
    metrics->occupancy = sample_below(3) ? sample_random() & sample_random() & sample_random() : 0;
}

static struct dft_bin *make_bins(uint16_t *count)
{
    struct dft_bin *bins = sample_must(calloc(60, sizeof *bins));
    uint32_t bin = (uint32_t)sample_below(200);

    for (*count = 0; *count < 60 && bin <= DFT_BIN_LAST && sample_below(20); (*count)++) {
        bins[*count] = (struct dft_bin){bin, sample_wild()};
        bin += 1 + (uint32_t)sample_below(60);
    }
    return bins;
}

/* Mostly what was moved. */
static struct dft_bin *make_asked(struct dft_row *row)
{
    struct dft_bin *bins = make_bins(&row->nasked);

    if (sample_below(3) == 0)
        return bins;
    row->nasked = row->nsizes;
    memcpy(bins, row->sizes, row->nsizes * sizeof *bins);
    return bins;
}

static void make_touched(struct dft_touched *touched)
{
    uint32_t runs = (uint32_t)sample_below(sample_below(2) ? 4 : 400), part = 0;

    touched->shift = (uint32_t)sample_below(54);
    for (uint32_t i = 0; i < runs; i++) {
        part = (part + (uint32_t)sample_below(20)) % DFT_TOUCHED_PARTS;
        touched->bits[part / 64] |= UINT64_C(1) << part % 64;
    }
    if (!sample_below(8)) /* all of the file */
        memset(touched->bits, 0xff, sizeof touched->bits);
}

/* NULL: none. Nothing at all is also none. */
static struct dft_pattern *make_pattern(void)
{
    struct dft_pattern *pattern = sample_below(3) ? sample_must(calloc(1, sizeof *pattern)) : NULL;
    uint64_t touched = 0;

    if (!pattern)
        return NULL;
    make_touched(&pattern->touched);
    for (uint32_t i = 0; i < DFT_TOUCHED_PARTS / 64; i++)
        touched |= pattern->touched.bits[i];
    if (!touched)
        pattern->touched.shift = 0;
    for (uint64_t i = 0; i < sample_below(3) || (!touched && !i); i++)
        pattern->strides[i] = (struct dft_stride){(int64_t)sample_wild(), 1 + sample_random() / 2};
    return pattern;
}

static void make_facets(struct dft_row *row, const struct dft_call *call)
{
    if (row->kind == DFT_ROW_FILE) {
        row->class = (uint8_t)sample_below(3);
        row->io = sample_below(2)                ? (uint8_t)sample_below(DFT_IO_COUNT)
                  : row->class == DFT_CLASS_META ? DFT_IO_META
                                                 : row->class;
        row->pattern = make_pattern();
        return;
    }
    row->op = call->op;
    row->io = sample_below(2) ? call->io : (uint8_t)sample_below(DFT_IO_COUNT);
    row->size_class = (uint8_t)sample_below(DFT_SIZE_CLASSES);
    row->access = (uint8_t)sample_below(DFT_ACCESS_COUNT);
    row->err = sample_below(3) ? 0 : (uint16_t)sample_wild();
}

struct dft_buckets sample_buckets(uint32_t count, int wild)
{
    struct dft_buckets buckets = {.key = sample_random(),
                                  .stream = 3,
                                  .tid = 4,
                                  .first = sample_wild(),
                                  .last = sample_wild(),
                                  .start = sample_wild(),
                                  .end = sample_wild(),
                                  .interval_ns = sample_wild(),
                                  .count = count};

    buckets.nnames = (uint32_t)(1 + sample_below(20));
    buckets.ncalls = (uint32_t)(1 + sample_below(10));
    buckets.rows = sample_must(calloc(count + 1, sizeof *buckets.rows));
    buckets.names = sample_must(calloc(buckets.nnames, sizeof *buckets.names));
    buckets.calls = sample_must(calloc(buckets.ncalls, sizeof *buckets.calls));
    for (uint32_t i = 0; i < buckets.nnames; i++)
        buckets.names[i] = sample_make_name();
    for (uint32_t i = 0; i < buckets.ncalls; i++)
        buckets.calls[i] = sample_make_call(buckets.names, buckets.nnames);
    for (uint32_t i = 0; i < count; i++) {
        struct dft_row *row = &buckets.rows[i];
        const struct dft_call *call = &buckets.calls[sample_below(buckets.ncalls)];

        row->kind = (uint8_t)sample_below(3);
        row->interval = wild ? sample_wild() : i / 3;
        row->region = sample_below(2) ? 0 : sample_pick_id(buckets.names, buckets.nnames);
        row->subject = row->kind == DFT_ROW_FILE ? sample_pick_id(buckets.names, buckets.nnames) : call->id;
        make_facets(row, call);
        if (row->kind == DFT_ROW_HISTOGRAM) {
            row->durations = make_bins(&row->ndurations);
            row->sizes = make_bins(&row->nsizes);
            row->asked = make_asked(row);
        } else if (wild) {
            make_wild_metrics(&row->metrics);
        } else {
            make_tame_metrics(&row->metrics);
        }
    }
    return buckets;
}

void sample_buckets_free(struct dft_buckets *buckets)
{
    for (uint32_t i = 0; i < buckets->nnames; i++)
        free((char *)(uintptr_t)buckets->names[i].text.bytes);
    for (uint32_t i = 0; i < buckets->ncalls; i++)
        free((char *)(uintptr_t)buckets->calls[i].text.bytes);
    for (uint32_t i = 0; i < buckets->count; i++) {
        free((void *)(uintptr_t)buckets->rows[i].durations);
        free((void *)(uintptr_t)buckets->rows[i].sizes);
        free((void *)(uintptr_t)buckets->rows[i].asked);
        free((void *)(uintptr_t)buckets->rows[i].pattern);
    }
    free(buckets->rows);
    free(buckets->names);
    free(buckets->calls);
}
