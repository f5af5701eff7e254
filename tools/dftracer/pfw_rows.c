/* SPDX-License-Identifier: MIT */
/* Aggregated records: each stands for the calls of one kind in one period, and becomes rows.
 *
 * A field that all calls had comes as F_min, F_max, F_sum, one that a single call had as F alone. A
 * record that has a sum alone says nothing of the least and the most: the row leaves them as an
 * empty row has them, which is "not known" to who reads it. How the durations of more calls are
 * spread is not known either: where the record does not say all of them, there is no histogram. */
#include "dftracer/pfw_rows.h"

#include <errno.h>
#include <string.h>

#include "dftracer/pfw_calls.h"
#include "dftracer/pfw_place.h"
#include "dftracer/pfw_stream.h"
#include "dftracer/pfw_time.h"

#define UNKNOWN_LEAST UINT64_MAX /* as in an empty row */
#define UNKNOWN_MAX   UINT64_C(0)

/* What a record says of one field of its calls. */
struct series {
    uint64_t sum, min, max;
    int known;
};

static const struct dft_pfw_value *find(const struct dft_pfw_record *record, const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    for (uint32_t i = 0; i < record->nothers; i++) {
        struct dft_text key = record->other[i].key;

        if (key.length == n + m && !memcmp(key.bytes, name, n) && !memcmp(key.bytes + n, end, m))
            return &record->other[i].value;
    }
    return NULL;
}

static int positive(const struct dft_pfw_value *value, uint64_t unit, uint64_t *number)
{
    int negative;

    if (!value || dft_pfw_scaled(value, unit, number, &negative))
        return 0;
    if (negative)
        *number = 0;
    return 1;
}

static const struct dft_pfw_value *known_member(const struct dft_pfw_record *record, enum dft_pfw_member member)
{
    return record->have >> member & 1 ? &record->member[member] : NULL;
}

/* `member`: the field by itself, where it is one of the known members. In parts of which `unit` are one. */
static struct series series_of(const struct dft_pfw_record *record, const char *name, enum dft_pfw_member member,
                               uint64_t unit, uint64_t count)
{
    struct series series = {.min = UNKNOWN_LEAST, .max = UNKNOWN_MAX};
    const struct dft_pfw_value *plain = known_member(record, member);

    series.known = positive(find(record, name, "_sum"), unit, &series.sum) ||
                   positive(plain ? plain : find(record, name, ""), unit, &series.sum);
    if (!series.known)
        return series;
    if (!positive(find(record, name, "_min"), unit, &series.min))
        series.min = count == 1 ? series.sum : UNKNOWN_LEAST;
    if (!positive(find(record, name, "_max"), unit, &series.max))
        series.max = count == 1 ? series.sum : UNKNOWN_MAX;
    if (!series.sum)
        series.min = series.max = 0;
    return series;
}

/* Items of `size` bytes each: exact when all items had one size, else of their mean size. */
static struct series bytes_of_items(struct series items, struct series size, uint64_t count)
{
    int one_size = size.min == size.max && size.min != UNKNOWN_LEAST;
    uint64_t unit = !size.known ? 1 : one_size ? size.max : size.sum / count;

    if (size.known && !one_size) {
        items.min = UNKNOWN_LEAST;
        items.max = UNKNOWN_MAX;
    }
    items.min =
        items.min == UNKNOWN_LEAST || __builtin_mul_overflow(items.min, unit, &items.min) ? UNKNOWN_LEAST : items.min;
    if (__builtin_mul_overflow(items.max, unit, &items.max))
        items.max = UNKNOWN_MAX;
    if (__builtin_mul_overflow(items.sum, unit, &items.sum))
        items.sum = UINT64_MAX;
    return items;
}

static void fill_data(struct dft_pfw *pfw, struct dft_metrics *metrics, uint8_t op)
{
    const struct dft_pfw_record *record = pfw->record;
    struct series bytes = series_of(record, "ret", DFT_PFW_RET, 1, metrics->count);
    struct series offset = series_of(record, "offset", DFT_PFW_OFFSET, 1, metrics->count);
    const struct dft_pfw_value *least = find(record, "ret", "_min");
    int64_t number;

    if (dft_op_bytes(op) == DFT_BYTES_ITEMS)
        bytes = bytes_of_items(bytes, series_of(record, "size", DFT_PFW_SIZE, 1, metrics->count), metrics->count);
    if (bytes.known && !dft_pfw_sum_fits(&pfw->byte_sum, bytes.sum)) {
        pfw->counts->long_sizes++;
        return;
    }
    if (!bytes.known)
        return;
    metrics->data = metrics->count;
    metrics->bytes = bytes.sum;
    metrics->size_min = bytes.min;
    metrics->size_max = bytes.max;
    if (least && !dft_pfw_signed(least, &number) && number < 0)
        metrics->size_min = UNKNOWN_LEAST; /* of a call that failed */
    if (positive(find(record, "offset", "_min"), 1, &offset.min) && offset.min < INT64_MAX)
        metrics->offset_min = (int64_t)offset.min;
    if (positive(find(record, "offset", "_max"), 1, &offset.max) && offset.max < INT64_MAX)
        metrics->offset_max = (int64_t)offset.max;
    else if (offset.known && metrics->count == 1 && offset.sum < INT64_MAX && bytes.sum < INT64_MAX - offset.sum)
        metrics->offset_max = (int64_t)(offset.sum + bytes.sum);
    if (offset.known && metrics->count == 1 && offset.sum < INT64_MAX)
        metrics->offset_min = (int64_t)offset.sum;
}

/* How long after the start of the period its calls went on at least: a thread makes one at a
 * time. */
static uint64_t last_of(const struct dft_metrics *metrics, uint64_t period_ns)
{
    uint64_t sum = metrics->dur_sum < period_ns ? metrics->dur_sum : period_ns;

    return sum > metrics->dur_max ? sum : metrics->dur_max;
}

static void fill(struct dft_pfw *pfw, struct dft_row *row, const struct dft_pfw_call *call, uint64_t start_ns,
                 uint64_t count)
{
    const struct dft_pfw_record *record = pfw->record;
    struct dft_metrics *metrics = &row->metrics;
    struct series duration = series_of(record, "dur", DFT_PFW_DUR, pfw->known->unit_ns, count);
    const struct dft_pfw_value *ret = known_member(record, DFT_PFW_RET);
    enum dft_class class = dft_op_class(call->op);

    dft_metrics_clear(metrics);
    row->op = call->op;
    metrics->count = metrics->samples = count;
    metrics->errors = call->libc && count == 1 && ret && ret->negative;
    metrics->dur_sum = metrics->edge = duration.known ? dft_pfw_duration(pfw, duration.sum, count) : 0;
    /* what the clock of no program can have measured is not known */
    metrics->dur_min = duration.min >> 63 ? UNKNOWN_LEAST : duration.min;
    metrics->dur_max = duration.max >> 63 ? UNKNOWN_MAX : duration.max;
    metrics->first_start = start_ns;
    metrics->last_end = start_ns + (count == 1 ? metrics->dur_sum : last_of(metrics, pfw->known->period_ns));
    row->io = (uint8_t)dft_op_io(call->op);
    row->err = metrics->errors ? DFT_ERRNO_UNKNOWN : 0;
    if ((class == DFT_CLASS_READ || class == DFT_CLASS_WRITE) && !metrics->errors)
        fill_data(pfw, metrics, call->op);
    metrics->asked = metrics->bytes;
    if (dft_metrics_knows_size_min(metrics) && metrics->size_min == metrics->size_max)
        row->size_class = dft_size_class(metrics->size_min);
}

/* Durations or sizes into bins, where the record says them all. Returns the number of bins. */
static uint16_t put_bins(struct dft_bin bins[2], uint64_t count, uint64_t min, uint64_t max)
{
    if (min == UNKNOWN_LEAST || max < min || (count > 2 && min != max))
        return 0;
    bins[0] = (struct dft_bin){dft_bin_of(min), count};
    if (dft_bin_of(min) == dft_bin_of(max))
        return 1;
    bins[0].count = bins[1].count = 1;
    bins[1].bin = dft_bin_of(max);
    return 2;
}

/* *spread_unknown: percentiles of its calls are not known. */
static int merge(struct dft_pfw_stream *stream, struct dft_row *row, uint64_t start_ns, uint64_t file,
                 int *spread_unknown)
{
    const struct dft_metrics metrics = row->metrics;
    struct dft_bin durations[2], sizes[2];
    struct dft_row histogram = *row;
    int rc = dft_table_merge(stream->rows, row);

    histogram.kind = DFT_ROW_HISTOGRAM;
    histogram.interval = start_ns / (stream->interval_ns * DFT_COARSE);
    dft_metrics_clear(&histogram.metrics);
    histogram.durations = durations;
    histogram.ndurations = put_bins(durations, metrics.samples, metrics.dur_min, metrics.dur_max);
    histogram.sizes = sizes;
    histogram.asked = sizes; /* what was requested is not known: they are taken to be what was moved */
    histogram.nsizes = histogram.nasked =
        metrics.data ? put_bins(sizes, metrics.data, metrics.size_min, metrics.size_max) : 0;
    *spread_unknown = !histogram.ndurations || (metrics.data && !histogram.nsizes);
    if (!rc && (histogram.ndurations || histogram.nsizes))
        rc = dft_table_merge(stream->rows, &histogram);
    if (rc || !file || dft_op_class(row->op) == DFT_CLASS_MARK)
        return rc;
    row->kind = DFT_ROW_FILE;
    row->class = (uint8_t)dft_class_on_file(dft_op_class(row->op));
    row->op = row->size_class = 0;
    row->err = 0;
    row->interval = histogram.interval;
    row->subject = file;
    return dft_table_merge(stream->rows, row);
}

/* How many calls: older writers say `count`. */
static uint64_t count_of(const struct dft_pfw_record *record)
{
    uint64_t count;

    if (DFT_PFW_HAS(record, DFT_CNT))
        return positive(known_member(record, DFT_PFW_DFT_CNT), 1, &count) ? count : 1;
    return positive(known_member(record, DFT_PFW_COUNT), 1, &count) && count ? count : 1;
}

int dft_pfw_aggregated(struct dft_pfw *pfw)
{
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_stream *stream;
    struct dft_pfw_call *call;
    struct dft_row row = {.kind = DFT_ROW_CALL};
    uint64_t start_ns, count = count_of(record);
    int spread_unknown = 0;

    if (!DFT_PFW_HAS(record, NAME) || DFT_PFW_GET(record, NAME)->kind != DFT_PFW_STRING || !DFT_PFW_HAS(record, TS))
        return -1;
    if (dft_pfw_start(pfw, &start_ns))
        return 0;
    if (!dft_pfw_sum_fits(&pfw->call_sum, count)) {
        pfw->counts->long_sizes++;
        return 0;
    }
    call = dft_pfw_call(pfw, record);
    stream = call ? dft_pfw_stream_of_record(pfw, pfw->repeated ? DFT_STREAM_COUNTED | DFT_STREAM_REPEATED
                                                                : DFT_STREAM_COUNTED)
                  : NULL;
    pfw->periodic = 1;
    if (pfw->job->period_ends)
        start_ns = start_ns > pfw->known->period_ns ? start_ns - pfw->known->period_ns : 0;
    if (!stream || !count || pfw->surveys || pfw->error)
        return 0;
    if (!stream->rows) {
        stream->interval_ns = pfw->known->period_ns;
        stream->rows = dft_table_create(stream->interval_ns, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
        pfw->tables++;
    }
    if (!stream->rows) {
        pfw->error = -ENOMEM;
        return 0;
    }
    row.subject = call->id;
    row.interval = start_ns / stream->interval_ns;
    fill(pfw, &row, call, start_ns, count);
    if (!stream->rows_end || start_ns < stream->rows_start)
        stream->rows_start = start_ns;
    if (row.metrics.last_end > stream->rows_end)
        stream->rows_end = row.metrics.last_end;
    pfw->error = merge(stream, &row, start_ns, dft_pfw_file_of(pfw, record), &spread_unknown);
    pfw->counts->unspread += (uint64_t)spread_unknown;
    stream->first++;
    if (dft_table_count(stream->rows) > 2048)
        dft_pfw_rows_flush(pfw, stream);
    return 0;
}
