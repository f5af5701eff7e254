/* SPDX-License-Identifier: MIT */
/* Rows out of BUCKETS blocks, one column after the other over all rows. buckets.def is the one list
 * of a row's numbers; buckets_put.c writes them. */
#include <errno.h>

#include "buckets.h"

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
    [DFT_BK_OCCUPANCY] = DFT_COLUMN_SPEC(OCCUPANCY, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_BK_SIZE_CLASS] = DFT_COLUMN_SPEC(SIZE_CLASS, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_ACCESS] = DFT_COLUMN_SPEC(ACCESS, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_ERRNO] = DFT_COLUMN_SPEC(ERRNO, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_IO] = DFT_COLUMN_SPEC(IO, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_BK_ASKED_BINS] = DFT_COLUMN_SPEC(ASKED_BINS, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_BK_TOUCHED] = DFT_COLUMN_SPEC(TOUCHED, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_BK_STRIDES] = DFT_COLUMN_SPEC(STRIDES, DFT_MASK(DFT_ENC_BYTES)),
};
#define NSPECS (sizeof specs / sizeof *specs)

static void get_file_key(struct dft_columns *columns, struct dft_row *row)
{
    uint64_t io;

    row->class = (uint8_t)dft_column_leb_max(columns, DFT_BK_CLASS, DFT_CLASS_MARK);
    io = dft_column_leb_max(columns, DFT_BK_IO, DFT_IO_COUNT);
    row->io = (uint8_t)(io ? io - 1 : dft_class_io(row->class));
}

static void get_call_key(struct dft_columns *columns, struct dft_row *row, const struct dft_call *call)
{
    row->subject = call->id;
    row->op = call->op;
    row->io = call->io;
    row->size_class = (uint8_t)dft_column_leb_max(columns, DFT_BK_SIZE_CLASS, DFT_SIZE_CLASSES - 1);
    row->access = (uint8_t)dft_column_leb_max(columns, DFT_BK_ACCESS, DFT_ACCESS_COUNT - 1);
    row->err = (uint16_t)dft_column_leb_max(columns, DFT_BK_ERRNO, UINT16_MAX);
}

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
            get_file_key(columns, row);
        } else {
            get_call_key(columns, row, &calls[subject]);
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

/* Appends the bins of a histogram to the decoder's. Returns 0, -ENOMEM or -EBADMSG. */
static int get_histogram(struct dft_decoder *decoder, unsigned id, size_t *used, uint16_t *count)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t n = dft_column_leb_max(columns, id, DFT_BIN_LAST + 1), bin = 0, distance;
    struct dft_bin *bins;

    if (*used + n > DFT_BINS_MAX) {
        dft_columns_fault(columns, "more bins than a block may hold");
        return -EBADMSG;
    }
    if (dft_buffer_reserve(&decoder->bins, (*used + n + 1) * sizeof *bins))
        return -ENOMEM;
    bins = (struct dft_bin *)decoder->bins.bytes + *used;
    for (uint64_t i = 0; i < n && !columns->reason; i++) {
        distance = dft_column_leb_max(columns, id, DFT_BIN_LAST);
        bin += distance;
        if (bin > DFT_BIN_LAST || (i && !distance))
            dft_column_fault(columns, id);
        bins[i].bin = (uint32_t)bin;
        bins[i].count = dft_column_leb(columns, id);
    }
    *used += n;
    *count = (uint16_t)n; /* at most DFT_BIN_LAST + 1 */
    return columns->reason ? -EBADMSG : 0;
}

/* Points the histogram rows to their bins, which stand where they stay: those of all durations and
 * sizes, then those of sizes requested that are not as the sizes moved (nasked AS_MOVED). */
#define AS_MOVED UINT16_MAX

static void point_to_bins(const struct dft_bin *bins, struct dft_row *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind != DFT_ROW_HISTOGRAM)
            continue;
        rows[i].durations = bins;
        rows[i].sizes = bins + rows[i].ndurations;
        bins = rows[i].sizes + rows[i].nsizes;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind != DFT_ROW_HISTOGRAM)
            continue;
        if (rows[i].nasked == AS_MOVED) {
            rows[i].asked = rows[i].sizes;
            rows[i].nasked = rows[i].nsizes;
        } else {
            rows[i].asked = bins;
            bins += rows[i].nasked;
        }
    }
}

static int get_bins(struct dft_decoder *decoder, struct dft_row *rows, uint32_t count)
{
    size_t used = 0;
    int status = 0;

    for (uint32_t i = 0; i < count && !status; i++) {
        if (rows[i].kind != DFT_ROW_HISTOGRAM)
            continue;
        status = get_histogram(decoder, DFT_BK_BINS, &used, &rows[i].ndurations);
        if (!status)
            status = get_histogram(decoder, DFT_BK_BINS, &used, &rows[i].nsizes);
    }
    for (uint32_t i = 0; i < count && !status; i++) {
        rows[i].nasked = AS_MOVED;
        if (rows[i].kind == DFT_ROW_HISTOGRAM && dft_column_leb_max(&decoder->columns, DFT_BK_ASKED_BINS, 1))
            status = get_histogram(decoder, DFT_BK_ASKED_BINS, &used, &rows[i].nasked);
        else if (rows[i].kind != DFT_ROW_HISTOGRAM)
            rows[i].nasked = 0;
    }
    if (!status)
        point_to_bins(decoder->bins.bytes, rows, count);
    return status;
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
    dft_occupancy_get(columns, buckets);
    status = columns->reason ? -EBADMSG : get_bins(decoder, buckets->rows, buckets->count);
    return status ? status : dft_patterns_get(decoder, buckets);
}

int dft_decode_buckets(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                       struct dft_buckets *buckets, const char **reason)
{
    int status = dft_decoder_open(decoder, header, payload, specs, NSPECS, reason);

    if (status)
        return status;
    return dft_decoder_result(decoder, get_buckets(decoder, header, buckets), reason);
}
