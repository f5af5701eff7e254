/* SPDX-License-Identifier: MIT */
/* Tables of live files as rows: in the process that writes them, and off line. */
#include "format/live_table.h"

#include <errno.h>
#include <string.h>

#include "format/calls.h"
#include "format/hash.h"
#include "format/live_format.h"
#include "live_table_inside.h"

/* The position of the row's call among the calls. Returns -1 where there is no room or no such call. */
static int set_call(struct dft_live_rows *rows, struct dft_row *row, const struct dft_live_key *key)
{
    uint32_t number = key->call & DFT_SLOT_CALL_MASK;
    struct dft_call call = {.io = (uint8_t)(key->call >> 16)};

    if (number >= DFT_CALL_ANNOTATION) {
        call.op = (uint8_t)(number - DFT_CALL_ANNOTATION);
        call.id = key->subject;
    } else if (number && number < DFT_CALL_COUNT) {
        const struct dft_call_row *known = &dft_call_rows[number];

        call.op = known->op;
        call.text = (struct dft_text){dft_call_text(known), known->length};
        call.id = dft_name_id(call.text.bytes, call.text.length);
    } else {
        return -1;
    }
    row->subject = call.id;
    row->op = call.op;
    row->io = call.io;
    for (uint32_t i = rows->ncalls; i-- > 0;)
        if (rows->calls[i].id == call.id && rows->calls[i].op == call.op && rows->calls[i].io == call.io)
            return 0;
    if (rows->ncalls == rows->capacity)
        return -1;
    rows->calls[rows->ncalls++] = call;
    return 0;
}

static struct dft_row *next_row(struct dft_live_rows *rows, enum dft_row_kind kind)
{
    struct dft_row *row;

    if (rows->count == rows->capacity)
        return NULL;
    row = &rows->rows[rows->count++];
    memset(row, 0, sizeof *row);
    row->kind = (uint8_t)kind;
    row->metrics = (struct dft_metrics){.dur_min = UINT64_MAX,
                                        .size_min = UINT64_MAX,
                                        .offset_min = INT64_MAX,
                                        .offset_max = -1,
                                        .first_start = UINT64_MAX};
    return row;
}

/* What a call or histogram row is of. */
static int set_key(struct dft_live_rows *rows, struct dft_row *row, const struct dft_live_key *key)
{
    row->interval = key->interval;
    row->region = key->region;
    row->size_class = dft_facets_size_class(key->facets);
    row->access = dft_facets_access(key->facets);
    row->err = dft_facets_err(key->facets);
    return set_call(rows, row, key);
}

static int put_call(struct dft_live_rows *rows, const struct dft_live_row *live)
{
    struct dft_row *row = next_row(rows, DFT_ROW_CALL);
    const struct dft_live_sums *sums = &live->sums;
    struct dft_metrics *metrics;

    if (!row || set_key(rows, row, &live->key))
        return -EBADMSG;
    metrics = &row->metrics;
    metrics->count = sums->samples + sums->calls;
    metrics->samples = sums->samples;
    metrics->errors = row->err ? metrics->count : 0;
    metrics->dur_sum = sums->dur_sum;
    metrics->dur_min = live->dur_min;
    metrics->dur_max = live->dur_max;
    metrics->edge = sums->dur_sum + live->edge;
    metrics->step = (int64_t)live->step;
    metrics->first_start = live->first_start;
    metrics->last_end = live->last_end;
    metrics->occupancy = live->occupancy;
    metrics->data = sums->data;
    metrics->bytes = sums->bytes;
    metrics->asked = sums->asked;
    metrics->turns = sums->turns;
    metrics->size_min = live->size_min;
    metrics->size_max = live->size_max;
    metrics->offset_min = live->offset_min;
    metrics->offset_max = live->offset_max;
    metrics->consecutive = row->access == DFT_ACCESS_CONSECUTIVE ? sums->data : 0;
    metrics->sequential = row->access == DFT_ACCESS_SEQUENTIAL ? sums->data : metrics->consecutive;
    return 0;
}

int dft_live_table_calls(const struct dft_live_table *table, struct dft_live_rows *rows)
{
    const uint32_t high = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->high),
                   each = sizeof(struct dft_live_row) / 8;

    rows->count = rows->ncalls = 0;
    if (atomic_load((_Atomic uint32_t *)(uintptr_t)&table->written) & DFT_LIVE_CALLS_WRITTEN)
        return 0;
    if (high < DFT_LIVE_ARENA || high > table->bytes / 8)
        return -EBADMSG;
    /* The oldest row lies at the end. */
    for (uint32_t place = table->bytes / 8; place >= high + each; place -= each)
        if (put_call(rows, dft_live_at(table, place - each)))
            return -EBADMSG;
    return 0;
}

/* The chunks of a histogram, by what they count. */
struct chunks {
    const struct dft_live_chunk *of[DFT_LIVE_BINS][DFT_LIVE_CHUNKS];
};

/* Appends the bins that count anything. Returns their number, or -1: there is no room. */
static int put_bins(struct dft_live_rows *rows, const struct dft_live_chunk *const *chunks)
{
    uint32_t from = rows->nbins;

    for (uint32_t number = 0; number < DFT_LIVE_CHUNKS; number++)
        for (uint32_t i = 0; chunks[number] && i < DFT_LIVE_CHUNK_BINS; i++) {
            if (!chunks[number]->counts[i])
                continue;
            if (rows->nbins == rows->bins_capacity)
                return -1;
            rows->bins[rows->nbins++] = (struct dft_bin){number * DFT_LIVE_CHUNK_BINS + i, chunks[number]->counts[i]};
        }
    return (int)(rows->nbins - from);
}

static int put_histogram(struct dft_live_rows *rows, const struct dft_live_histogram *live, const struct chunks *chunks)
{
    struct dft_row *row = next_row(rows, DFT_ROW_HISTOGRAM);
    int count[DFT_LIVE_BINS];
    const struct dft_bin *at[DFT_LIVE_BINS];

    if (!row || set_key(rows, row, &live->key))
        return -EBADMSG;
    for (int i = 0; i < DFT_LIVE_BINS; i++) {
        at[i] = rows->bins + rows->nbins;
        count[i] = put_bins(rows, chunks->of[i]);
        if (count[i] < 0)
            return -EBADMSG;
    }
    row->durations = at[DFT_LIVE_DURATIONS];
    row->ndurations = (uint16_t)count[DFT_LIVE_DURATIONS];
    row->sizes = at[DFT_LIVE_SIZES];
    row->nsizes = (uint16_t)count[DFT_LIVE_SIZES];
    row->asked = at[DFT_LIVE_ASKED];
    row->nasked = (uint16_t)count[DFT_LIVE_ASKED];
    return 0;
}

/* All between the two offsets was touched. */
static void touch_range(struct dft_touched *touched, uint64_t from, uint64_t end)
{
    memset(touched, 0, sizeof *touched);
    while (touched->shift < 54 && end > (uint64_t)DFT_TOUCHED_PARTS << touched->shift)
        touched->shift++;
    if (from < end && (end - 1) >> touched->shift < DFT_TOUCHED_PARTS)
        dft_touched_mark(touched, from >> touched->shift, (end - 1) >> touched->shift);
}

/* Accesses of no bytes touch nothing: such a file has no pattern. */
static int is_untouched(const struct dft_touched *touched)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < DFT_TOUCHED_PARTS / 64; i++)
        bits |= touched->bits[i];
    return !bits;
}

/* The two most common strides, in the order in which rows have them. */
static void put_strides(struct dft_stride *two, const struct dft_stride *all)
{
    for (uint32_t i = 0; i < DFT_LIVE_STRIDES; i++) {
        if (all[i].count > two[0].count) {
            two[1] = two[0];
            two[0] = all[i];
        } else if (all[i].count > two[1].count) {
            two[1] = all[i];
        }
    }
}

/* Returns 0 or -EBADMSG. */
static int put_pattern(struct dft_live_rows *rows, struct dft_row *row, const struct dft_live_data *data,
                       struct dft_live_pattern *live)
{
    struct dft_pattern *pattern = &rows->patterns[rows->npatterns];

    if (data->object.number || data->offset_min > data->offset_max || (live && atomic_load(&live->folding)))
        return 0; /* not known */
    if (rows->npatterns == rows->patterns_capacity || (live && live->touched.shift > 63))
        return -EBADMSG;
    memset(pattern, 0, sizeof *pattern);
    if (live) {
        pattern->touched = live->touched;
        put_strides(pattern->strides, live->strides);
    } else {
        touch_range(&pattern->touched, (uint64_t)data->offset_min, (uint64_t)data->offset_max);
    }
    if (is_untouched(&pattern->touched))
        return 0;
    rows->npatterns++;
    row->pattern = pattern;
    return 0;
}

static int put_data(const struct dft_live_table *table, struct dft_live_rows *rows, struct dft_row *row,
                    const struct dft_live_file *live)
{
    struct dft_metrics *metrics = &row->metrics;
    const struct dft_live_data *data = dft_live_at(table, live->data);
    struct dft_live_pattern *pattern = live->pattern ? dft_live_at(table, live->pattern) : NULL;

    if (!dft_live_is_object(table, live->data, DFT_LIVE_DATA, sizeof *data) ||
        (pattern && !dft_live_is_object(table, live->pattern, DFT_LIVE_PATTERN, sizeof *pattern)))
        return -EBADMSG;
    metrics->data = data->sums.data;
    metrics->bytes = data->sums.bytes;
    metrics->asked = data->sums.asked;
    metrics->sequential = data->sums.sequential;
    metrics->consecutive = data->sums.consecutive;
    metrics->turns = data->sums.turns;
    metrics->size_min = data->size_min;
    metrics->size_max = data->size_max;
    metrics->offset_min = data->offset_min;
    metrics->offset_max = data->offset_max;
    return put_pattern(rows, row, data, pattern);
}

static int put_file(const struct dft_live_table *table, struct dft_live_rows *rows, const struct dft_live_file *live)
{
    struct dft_row *row = next_row(rows, DFT_ROW_FILE);
    struct dft_metrics *metrics;

    if (!row || (live->object.which & 15) >= DFT_IO_COUNT || live->object.which >> 4 > DFT_CLASS_WRITE)
        return -EBADMSG;
    row->io = live->object.which & 15;
    row->class = live->object.which >> 4;
    row->interval = live->interval;
    row->region = live->region;
    row->subject = live->file;
    metrics = &row->metrics;
    metrics->count = live->sums.samples + live->sums.calls;
    metrics->samples = live->sums.samples;
    metrics->errors = live->sums.errors;
    metrics->dur_sum = live->sums.dur_sum;
    metrics->dur_min = live->dur_min;
    metrics->dur_max = live->dur_max;
    metrics->edge = live->sums.dur_sum + live->edge;
    metrics->step = (int64_t)live->step;
    metrics->first_start = live->first_start;
    metrics->last_end = live->last_end;
    return live->data ? put_data(table, rows, row, live) : 0;
}

/* Returns 0 or -EBADMSG. */
static int find_chunks(const struct dft_live_table *table, uint32_t place, struct chunks *chunks)
{
    memset(chunks, 0, sizeof *chunks);
    for (uint32_t n = 0; place && n < DFT_LIVE_BINS * DFT_LIVE_CHUNKS; n++) {
        const struct dft_live_chunk *chunk = dft_live_at(table, place);

        if (!dft_live_is_object(table, place, DFT_LIVE_CHUNK, sizeof *chunk) || chunk->object.which >= DFT_LIVE_BINS ||
            chunk->object.number >= DFT_LIVE_CHUNKS)
            return -EBADMSG;
        chunks->of[chunk->object.which][chunk->object.number] = chunk;
        place = chunk->object.other;
    }
    return 0;
}

int dft_live_table_files(const struct dft_live_table *table, struct dft_live_rows *rows)
{
    const uint32_t low = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->low);
    const struct dft_live_object *object;
    int status = 0;

    rows->count = rows->ncalls = rows->nbins = rows->npatterns = 0;
    if (atomic_load((_Atomic uint32_t *)(uintptr_t)&table->written) & DFT_LIVE_FILES_WRITTEN)
        return 0;
    if (low < DFT_LIVE_ARENA || low > table->bytes / 8)
        return -EBADMSG;
    for (uint32_t at = DFT_LIVE_ARENA; at < low && !status; at += dft_live_object_bytes(object) / 8) {
        object = dft_live_at(table, at);
        if (!dft_live_object_bytes(object) || at * 8 + dft_live_object_bytes(object) > low * 8)
            return -EBADMSG;
        if (object->type == DFT_LIVE_HISTOGRAM) {
            struct chunks chunks;

            status = find_chunks(table, object->other, &chunks);
            if (!status)
                status = put_histogram(rows, (const struct dft_live_histogram *)object, &chunks);
        } else if (object->type == DFT_LIVE_FILE) {
            status = put_file(table, rows, (const struct dft_live_file *)object);
        }
    }
    return status;
}
