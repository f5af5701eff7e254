/* SPDX-License-Identifier: MIT */
/* The columns TOUCHED and STRIDES of BUCKETS blocks, both directions: how files were accessed. */
#include <errno.h>

#include "buckets.h"

#define WORDS    (DFT_TOUCHED_PARTS / 64)
#define RUNS_MAX 64u
#define WHOLE    (RUNS_MAX + 1) /* all bits follow */

/* The first part from this one on that is, or is not, touched. */
static uint32_t find_part(const struct dft_touched *touched, uint32_t part, int wanted)
{
    for (; part < DFT_TOUCHED_PARTS; part = (part | 63) + 1) {
        uint64_t word = (wanted ? touched->bits[part / 64] : ~touched->bits[part / 64]) >> part % 64;

        if (word)
            return part + (uint32_t)__builtin_ctzll(word);
    }
    return DFT_TOUCHED_PARTS;
}

static uint32_t count_runs(const struct dft_touched *touched)
{
    uint32_t runs = 0, part = find_part(touched, 0, 1);

    for (; part < DFT_TOUCHED_PARTS; runs++)
        part = find_part(touched, find_part(touched, part, 0), 1);
    return runs;
}

static void put_touched(struct dft_raw *raw, const struct dft_touched *touched)
{
    uint32_t runs = touched ? count_runs(touched) : 0, begin, end = 0;

    if (!runs) {
        dft_raw_leb(raw, 0);
        return;
    }
    dft_raw_leb(raw, touched->shift + 1u);
    if (runs > RUNS_MAX) {
        dft_raw_leb(raw, WHOLE);
        dft_raw_bytes(raw, touched->bits, sizeof touched->bits);
        return;
    }
    dft_raw_leb(raw, runs);
    for (uint32_t i = 0; i < runs; i++) {
        begin = find_part(touched, end, 1);
        dft_raw_leb(raw, begin - end);
        end = find_part(touched, begin, 0);
        dft_raw_leb(raw, end - begin);
    }
}

static void put_strides(struct dft_raw *raw, const struct dft_pattern *pattern)
{
    uint32_t count = 0;

    while (pattern && count < 2 && pattern->strides[count].count)
        count++;
    dft_raw_leb(raw, count);
    for (uint32_t i = 0; i < count; i++) {
        dft_raw_leb(raw, dft_zigzag((uint64_t)pattern->strides[i].bytes));
        dft_raw_leb(raw, pattern->strides[i].count);
    }
}

void dft_patterns_put(struct dft_raw *raw, const struct dft_buckets *buckets)
{
    dft_raw_open(raw, DFT_BK_TOUCHED, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++)
        if (buckets->rows[i].kind == DFT_ROW_FILE)
            put_touched(raw, buckets->rows[i].pattern ? &buckets->rows[i].pattern->touched : NULL);
    dft_raw_close_or_drop(raw);
    dft_raw_open(raw, DFT_BK_STRIDES, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++)
        if (buckets->rows[i].kind == DFT_ROW_FILE)
            put_strides(raw, buckets->rows[i].pattern);
    dft_raw_close_or_drop(raw);
}

static void get_runs(struct dft_columns *columns, struct dft_touched *touched, uint64_t runs)
{
    uint64_t part = 0, end;

    for (uint64_t i = 0; i < runs && !columns->reason; i++) {
        part += dft_column_leb_max(columns, DFT_BK_TOUCHED, DFT_TOUCHED_PARTS);
        end = part + dft_column_leb_max(columns, DFT_BK_TOUCHED, DFT_TOUCHED_PARTS);
        if (end > DFT_TOUCHED_PARTS || end == part)
            dft_column_fault(columns, DFT_BK_TOUCHED);
        for (; part < end && !columns->reason; part++)
            touched->bits[part / 64] |= UINT64_C(1) << part % 64;
    }
}

/* Returns whether there is anything. */
static int get_touched(struct dft_columns *columns, struct dft_touched *touched)
{
    uint64_t shift = dft_column_leb_max(columns, DFT_BK_TOUCHED, DFT_TOUCHED_SHIFT_MAX + 1), runs;

    if (!shift)
        return 0;
    touched->shift = (uint32_t)shift - 1;
    runs = dft_column_leb_max(columns, DFT_BK_TOUCHED, WHOLE);
    if (runs != WHOLE)
        get_runs(columns, touched, runs);
    for (uint32_t i = 0; i < WORDS && runs == WHOLE; i++)
        touched->bits[i] = dft_column_word(columns, DFT_BK_TOUCHED);
    return 1;
}

static int get_strides(struct dft_columns *columns, struct dft_stride strides[2])
{
    uint64_t count = dft_column_leb_max(columns, DFT_BK_STRIDES, 2);

    for (uint64_t i = 0; i < count; i++) {
        strides[i].bytes = (int64_t)dft_unzigzag(dft_column_leb(columns, DFT_BK_STRIDES));
        strides[i].count = dft_column_leb(columns, DFT_BK_STRIDES);
    }
    return count != 0;
}

int dft_patterns_get(struct dft_decoder *decoder, const struct dft_buckets *buckets)
{
    struct dft_columns *columns = &decoder->columns;
    struct dft_pattern *patterns;
    uint32_t files = 0;

    if (!columns->list[DFT_BK_TOUCHED].present && !columns->list[DFT_BK_STRIDES].present)
        return 0;
    for (uint32_t i = 0; i < buckets->count; i++)
        files += buckets->rows[i].kind == DFT_ROW_FILE;
    if (dft_buffer_reserve(&decoder->patterns, (files + 1) * sizeof *patterns))
        return -ENOMEM;
    patterns = decoder->patterns.bytes;
    memset(patterns, 0, files * sizeof *patterns);
    for (uint32_t i = 0; i < buckets->count && !columns->reason; i++) {
        int touched, strides;

        if (buckets->rows[i].kind != DFT_ROW_FILE)
            continue;
        touched = get_touched(columns, &patterns->touched);
        strides = get_strides(columns, patterns->strides);
        buckets->rows[i].pattern = touched || strides ? patterns : NULL;
        patterns++;
    }
    return columns->reason ? -EBADMSG : 0;
}
