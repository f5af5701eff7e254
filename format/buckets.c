/* SPDX-License-Identifier: MIT */
/* BUCKETS blocks, both directions, one column after the other over all rows. buckets.def is the one
 * list of a row's numbers. */
#include <errno.h>

#include "decoder.h"
#include "encoder.h"

static const struct dft_column_spec specs[] = {
    [DFT_COL_NAMES] = DFT_COLUMN_SPEC(NAMES, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_COL_CALLS] = DFT_COLUMN_SPEC(CALLS, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_COL_CLASSES] = DFT_COLUMN_SPEC(CLASSES, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_INTERVAL_NS] = DFT_COLUMN_SPEC(INTERVAL_NS, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_KIND] = DFT_COLUMN_SPEC(KIND, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_INTERVAL] = DFT_COLUMN_SPEC(INTERVAL, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_REGION] = DFT_COLUMN_SPEC(REGION, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_SUBJECT] = DFT_COLUMN_SPEC(SUBJECT, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_CLASS] = DFT_COLUMN_SPEC(CLASS, DFT_MASK(DFT_ENC_LEB128)),
#define DFT_BUCKETS_METRIC(NAME, field, predicted) [DFT_BK_##NAME] = DFT_COLUMN_SPEC(NAME, DFT_MASK(DFT_ENC_LEB128)),
#include "buckets.def"
#undef DFT_BUCKETS_METRIC
    [DFT_BK_BINS] = DFT_COLUMN_SPEC(BINS, DFT_MASK(DFT_ENC_BYTES)),
};
#define NSPECS (sizeof specs / sizeof *specs)

/* --- put -------------------------------------------------------------------------------------- */

/* What rows refer to: positions of region + 1 (0: none) and subject. */
struct row_names {
    uint32_t region, subject;
};

/* The calls of a block by id and op. Rows of unknown calls get one without a text. */
struct call_list {
    struct dft_idmap *map;
    struct dft_call *list;
    uint64_t *keys; /* of each: its id and op in one */
    uint32_t count;
};

static struct dft_call *call_get(struct call_list *calls, uint64_t id, uint8_t op)
{
    const uint64_t key = id ^ (uint64_t)op << 56; /* ids are hashes: it is as unlikely that two are alike */
    struct dft_idmap_slot *slot = dft_idmap_find(calls->map, key, calls->keys, sizeof *calls->keys);

    if (slot->generation == calls->map->generation)
        return &calls->list[slot->position];
    calls->list[calls->count] = (struct dft_call){.id = id, .op = op, .io = (uint8_t)dft_op_io(op)};
    calls->keys[calls->count] = key;
    dft_idmap_add(calls->map, slot, calls->keys, sizeof *calls->keys);
    return &calls->list[calls->count++];
}

/* Returns 0 or -E2BIG. */
static int calls_begin(struct dft_encoder *encoder, struct call_list *calls, const struct dft_buckets *buckets)
{
    uint64_t bound = (uint64_t)buckets->ncalls + buckets->count;

    if (bound > 1u << encoder->calls.bits)
        return -E2BIG;
    calls->list = dft_arena_take(encoder, bound * sizeof *calls->list);
    calls->keys = dft_arena_take(encoder, bound * sizeof *calls->keys);
    calls->count = 0;
    if (!calls->list || !calls->keys)
        return -E2BIG;
    dft_idmap_reset(&encoder->calls);
    calls->map = &encoder->calls;
    for (uint32_t i = 0; i < buckets->ncalls; i++)
        *call_get(calls, buckets->calls[i].id, buckets->calls[i].op) = buckets->calls[i];
    return 0;
}

static int refer_to_names(struct dft_entries *entries, struct call_list *calls, const struct dft_row *row,
                          struct row_names *names)
{
    struct dft_entry *entry;

    names->region = 0;
    if (row->region) {
        entry = dft_entries_get(entries, row->region);
        if (!entry)
            return -E2BIG;
        names->region = dft_entries_refer(entries, entry) + 1;
    }
    if (row->kind == DFT_ROW_FILE) {
        entry = dft_entries_get(entries, row->subject);
        if (!entry)
            return -E2BIG;
        names->subject = dft_entries_refer(entries, entry);
        return 0;
    }
    names->subject = (uint32_t)(call_get(calls, row->subject, row->op) - calls->list);
    return 0;
}

static void put_keys(struct dft_raw *raw, const struct dft_buckets *buckets, const struct row_names *names)
{
    const struct dft_row *rows = buckets->rows;

    dft_raw_open(raw, DFT_BK_KIND, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < buckets->count; i++)
        dft_raw_leb(raw, rows[i].kind);
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_BK_INTERVAL, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < buckets->count; i++)
        dft_raw_leb(raw, dft_zigzag(rows[i].interval - (i ? rows[i - 1].interval : 0)));
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_BK_REGION, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < buckets->count; i++)
        dft_raw_leb(raw, names[i].region);
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_BK_SUBJECT, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < buckets->count; i++)
        dft_raw_leb(raw, names[i].subject);
    dft_raw_close(raw);
    dft_raw_open(raw, DFT_BK_CLASS, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < buckets->count; i++)
        if (rows[i].kind == DFT_ROW_FILE)
            dft_raw_leb(raw, rows[i].class);
    dft_raw_close(raw);
}

static void put_metrics(struct dft_raw *raw, const struct dft_buckets *buckets)
{
    uint64_t previous_first;

#define DFT_BUCKETS_METRIC(NAME, field, predicted)                                                                     \
    dft_raw_open(raw, DFT_BK_##NAME, DFT_ENC_LEB128);                                                                  \
    previous_first = 0;                                                                                                \
    for (uint32_t i = 0; i < buckets->count; i++) {                                                                    \
        const struct dft_metrics *m = &buckets->rows[i].metrics;                                                       \
                                                                                                                       \
        if (buckets->rows[i].kind == DFT_ROW_HISTOGRAM)                                                                \
            continue;                                                                                                  \
        dft_raw_leb(raw, dft_zigzag((uint64_t)m->field - (uint64_t)(predicted)));                                      \
        previous_first = m->samples ? m->first_start : previous_first;                                                 \
    }                                                                                                                  \
    dft_raw_close(raw);
#include "buckets.def"
#undef DFT_BUCKETS_METRIC
    (void)previous_first;
}

static void put_histogram(struct dft_raw *raw, const struct dft_bin *bins, uint32_t count)
{
    uint32_t previous = 0;

    dft_raw_leb(raw, count);
    for (uint32_t i = 0; i < count; i++) {
        dft_raw_leb(raw, bins[i].bin - previous);
        dft_raw_leb(raw, bins[i].count);
        previous = bins[i].bin;
    }
}

static int histogram_fault(const struct dft_bin *bins, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (bins[i].bin > DFT_BIN_LAST || (i && bins[i].bin <= bins[i - 1].bin))
            return 1;
    return 0;
}

/* Returns 0, -EINVAL or -E2BIG. */
static int check_rows(const struct dft_buckets *buckets)
{
    uint64_t bins = 0;

    if (buckets->count > DFT_COUNT_MAX || buckets->ncalls > DFT_COUNT_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];

        if (row->kind > DFT_ROW_FILE || row->class > DFT_CLASS_MARK)
            return -EINVAL;
        if (row->kind != DFT_ROW_HISTOGRAM)
            continue;
        if (histogram_fault(row->durations, row->ndurations) || histogram_fault(row->sizes, row->nsizes))
            return -EINVAL;
        bins += row->ndurations + row->nsizes;
    }
    return bins > DFT_BINS_MAX ? -E2BIG : 0;
}

static void put_rows(struct dft_encoder *encoder, const struct dft_buckets *buckets, const struct row_names *names)
{
    struct dft_raw *raw = &encoder->raw;

    dft_raw_open(raw, DFT_BK_INTERVAL_NS, DFT_ENC_LEB128);
    dft_raw_leb(raw, buckets->interval_ns);
    dft_raw_close(raw);
    put_keys(raw, buckets, names);
    put_metrics(raw, buckets);
    dft_raw_open(raw, DFT_BK_BINS, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];

        if (row->kind != DFT_ROW_HISTOGRAM)
            continue;
        put_histogram(raw, row->durations, row->ndurations);
        put_histogram(raw, row->sizes, row->nsizes);
    }
    dft_raw_close(raw);
}

long dft_encode_buckets(struct dft_encoder *encoder, const struct dft_buckets *buckets, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_BUCKETS,
                                      .count = buckets->count,
                                      .stream = buckets->stream,
                                      .key = buckets->key,
                                      .first = buckets->first,
                                      .last = buckets->last,
                                      .start = buckets->start,
                                      .end = buckets->end,
                                      .tid = buckets->tid,
                                      .part = buckets->part};
    struct call_list calls = {.count = 0};
    struct dft_entries entries;
    struct row_names *names;
    int status = check_rows(buckets);

    if (status)
        return status;
    dft_block_begin(encoder);
    names = dft_arena_take(encoder, (uint64_t)buckets->count * sizeof *names);
    status = names ? calls_begin(encoder, &calls, buckets) : -E2BIG;
    if (!status)
        status = dft_entries_begin(encoder, &entries, 2 * (uint64_t)buckets->count + buckets->nnames + buckets->ncalls);
    if (!status)
        status = dft_entries_define(&entries, buckets->names, buckets->nnames);
    for (uint32_t i = 0; i < buckets->count && !status; i++)
        status = refer_to_names(&entries, &calls, &buckets->rows[i], &names[i]);
    if (!status)
        status = dft_calls_put(&encoder->raw, &entries, calls.list, NULL, calls.count);
    if (status)
        return status;
    dft_names_put(&encoder->raw, &entries);
    put_rows(encoder, buckets, names);
    return dft_block_end(encoder, &header, NULL, 0, block);
}

/* --- get -------------------------------------------------------------------------------------- */

static void get_keys(struct dft_decoder *decoder, struct dft_row *rows, uint32_t count)
{
    struct dft_columns *columns = &decoder->columns;
    const struct dft_name *names = decoder->names.bytes;
    const struct dft_call *calls = decoder->calls.bytes;
    uint64_t interval = 0;

    for (uint32_t i = 0; i < count && !columns->reason; i++) {
        struct dft_row *row = &rows[i];
        uint64_t region, subject;

        row->kind = (uint8_t)dft_column_leb_max(columns, DFT_BK_KIND, DFT_ROW_FILE);
        interval += dft_unzigzag(dft_column_leb(columns, DFT_BK_INTERVAL));
        row->interval = interval;
        region = dft_column_leb(columns, DFT_BK_REGION);
        subject = dft_column_leb(columns, DFT_BK_SUBJECT);
        if (region > decoder->nnames)
            dft_column_fault(columns, DFT_BK_REGION);
        else
            row->region = region ? names[region - 1].id : 0;
        if (subject >= (row->kind == DFT_ROW_FILE ? decoder->nnames : decoder->ncalls)) {
            dft_column_fault(columns, DFT_BK_SUBJECT);
        } else if (row->kind == DFT_ROW_FILE) {
            row->subject = names[subject].id;
            row->class = (uint8_t)dft_column_leb_max(columns, DFT_BK_CLASS, DFT_CLASS_MARK);
        } else {
            row->subject = calls[subject].id;
            row->op = calls[subject].op;
        }
    }
}

static void get_metrics(struct dft_columns *columns, struct dft_row *rows, uint32_t count)
{
    uint64_t previous_first;

#define DFT_BUCKETS_METRIC(NAME, field, predicted)                                                                     \
    previous_first = 0;                                                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        struct dft_metrics *m = &rows[i].metrics;                                                                      \
        uint64_t difference = 0;                                                                                       \
                                                                                                                       \
        if (rows[i].kind != DFT_ROW_HISTOGRAM)                                                                         \
            difference = dft_unzigzag(dft_column_leb(columns, DFT_BK_##NAME));                                         \
        *(uint64_t *)&m->field = (uint64_t)(predicted) + difference;                                                   \
        previous_first = m->samples ? m->first_start : previous_first;                                                 \
    }
#include "buckets.def"
#undef DFT_BUCKETS_METRIC
    (void)previous_first;
}

/* Appends the bins of a histogram to the decoder's; *from is the place of the first. Returns 0,
 * -ENOMEM or -EBADMSG. */
static int get_histogram(struct dft_decoder *decoder, size_t *used, uint16_t *count)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t n = dft_column_leb_max(columns, DFT_BK_BINS, DFT_BIN_LAST + 1), bin = 0, distance;
    struct dft_bin *bins;

    if (*used + n > DFT_BINS_MAX) {
        dft_columns_fault(columns, "more bins than a block may hold");
        return -EBADMSG;
    }
    if (dft_buffer_reserve(&decoder->bins, (*used + n + 1) * sizeof *bins))
        return -ENOMEM;
    bins = (struct dft_bin *)decoder->bins.bytes + *used;
    for (uint64_t i = 0; i < n && !columns->reason; i++) {
        distance = dft_column_leb_max(columns, DFT_BK_BINS, DFT_BIN_LAST);
        bin += distance;
        if (bin > DFT_BIN_LAST || (i && !distance))
            dft_column_fault(columns, DFT_BK_BINS);
        bins[i].bin = (uint32_t)bin;
        bins[i].count = dft_column_leb(columns, DFT_BK_BINS);
    }
    *used += n;
    *count = (uint16_t)n; /* at most DFT_BIN_LAST + 1 */
    return columns->reason ? -EBADMSG : 0;
}

static int get_bins(struct dft_decoder *decoder, struct dft_row *rows, uint32_t count)
{
    const struct dft_bin *bins;
    size_t used = 0;
    int status = 0;

    for (uint32_t i = 0; i < count && !status; i++) {
        if (rows[i].kind != DFT_ROW_HISTOGRAM)
            continue;
        status = get_histogram(decoder, &used, &rows[i].ndurations);
        if (!status)
            status = get_histogram(decoder, &used, &rows[i].nsizes);
    }
    if (status)
        return status;
    /* Only now do the bins stand where they stay. */
    bins = decoder->bins.bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind != DFT_ROW_HISTOGRAM)
            continue;
        rows[i].durations = bins;
        rows[i].sizes = bins + rows[i].ndurations;
        bins = rows[i].sizes + rows[i].nsizes;
    }
    return 0;
}

static int get_buckets(struct dft_decoder *decoder, const struct dft_block_header *header, struct dft_buckets *buckets)
{
    struct dft_columns *columns = &decoder->columns;
    int status = dft_names_get(decoder);

    if (!status)
        status = dft_calls_get(decoder);
    if (!status)
        status = dft_buffer_reserve(&decoder->rows, header->count * sizeof(struct dft_row));
    if (status)
        return status;
    memset(decoder->rows.bytes, 0, header->count * sizeof(struct dft_row));
    *buckets = (struct dft_buckets){.key = header->key,
                                    .stream = header->stream,
                                    .tid = header->tid,
                                    .first = header->first,
                                    .last = header->last,
                                    .start = header->start,
                                    .end = header->end,
                                    .rows = decoder->rows.bytes,
                                    .count = header->count,
                                    .calls = decoder->calls.bytes,
                                    .ncalls = decoder->ncalls,
                                    .names = decoder->names.bytes,
                                    .nnames = decoder->nnames,
                                    .part = header->part};
    buckets->interval_ns = dft_column_leb(columns, DFT_BK_INTERVAL_NS);
    get_keys(decoder, buckets->rows, buckets->count);
    if (columns->reason)
        return -EBADMSG;
    get_metrics(columns, buckets->rows, buckets->count);
    return columns->reason ? -EBADMSG : get_bins(decoder, buckets->rows, buckets->count);
}

int dft_decode_buckets(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                       struct dft_buckets *buckets, const char **reason)
{
    int status = dft_decoder_open(decoder, header, payload, specs, NSPECS, reason);

    if (status)
        return status;
    return dft_decoder_result(decoder, get_buckets(decoder, header, buckets), reason);
}
