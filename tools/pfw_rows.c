/* Aggregated records: each stands for the calls of one kind in one interval, and becomes rows.
 *
 * A field that all calls had comes as F_min, F_max, F_sum, one that a single call had as F alone. How the durations of
 * more than two calls are spread is not known: the histogram has the smallest, the largest, and for the others the mean
 * that is left, and the record is counted as an estimate. */
#include <errno.h>
#include <string.h>

#include "pfw_inside.h"

struct series {
    uint64_t sum, min, max;
    int known, single;
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

static int positive(const struct dft_pfw_value *value, uint64_t *number)
{
    int negative;

    if (!value || dft_pfw_unsigned(value, number, &negative))
        return 0;
    if (negative)
        *number = 0;
    return 1;
}

/* `plain`: the field by itself, which may be one of the known members. */
static struct series series_of(const struct dft_pfw_record *record, const char *name, const struct dft_pfw_value *plain)
{
    struct series series = {0};

    if (positive(find(record, name, "_sum"), &series.sum)) {
        series.known = 1;
        if (!positive(find(record, name, "_min"), &series.min))
            series.min = 0;
        if (!positive(find(record, name, "_max"), &series.max))
            series.max = series.sum;
    } else if (positive(plain, &series.sum)) {
        series.known = series.single = 1;
        series.min = series.max = series.sum;
    }
    return series;
}

static const struct dft_pfw_value *known_member(const struct dft_pfw_record *record, enum dft_pfw_member member)
{
    return record->have >> member & 1 ? &record->member[member] : NULL;
}

/* Bytes by the rule of the call. fread and fwrite: exact when all items had one size. */
static struct series bytes_of(struct dft_pfw *pfw, const struct dft_pfw_call *call, uint64_t count)
{
    const struct dft_pfw_record *record = pfw->record;
    struct series ret = series_of(record, "ret", known_member(record, DFT_PFW_RET));
    struct series size = series_of(record, "size", known_member(record, DFT_PFW_SIZE));
    struct series image = series_of(record, "image_size", known_member(record, DFT_PFW_IMAGE_SIZE));

    if (call->by_result)
        return ret;
    if (call->by_items) {
        if (size.known && size.min != size.max && count)
            size.max = size.sum / count;
        if (size.known) {
            ret.sum *= size.max;
            ret.min *= size.min;
            ret.max *= size.max;
        }
        return ret;
    }
    return image.known ? image : size;
}

static uint64_t scaled(const struct dft_pfw *pfw, uint64_t number)
{
    uint64_t ns;

    return __builtin_mul_overflow(number, pfw->known->unit_ns, &ns) || ns >> 63 ? 0 : ns;
}

static void fill(struct dft_pfw *pfw, struct dft_row *row, const struct dft_pfw_call *call, uint64_t start_ns,
                 uint64_t count)
{
    const struct dft_pfw_record *record = pfw->record;
    struct dft_metrics *metrics = &row->metrics;
    struct series duration = series_of(record, "dur", known_member(record, DFT_PFW_DUR));
    struct series bytes = bytes_of(pfw, call, count), ret;
    enum dft_class class;
    uint64_t failed;

    if (!duration.known)
        duration = series_of(record, "dur", find(record, "dur", ""));
    dft_metrics_clear(metrics);
    ret = series_of(record, "ret", known_member(record, DFT_PFW_RET));
    failed = call->libc && ret.single && count == 1 && known_member(record, DFT_PFW_RET)->negative;
    metrics->count = metrics->samples = count;
    metrics->errors = failed;
    metrics->dur_sum = metrics->edge = scaled(pfw, duration.sum);
    metrics->dur_min = scaled(pfw, count > 1 && duration.single ? 0 : duration.min);
    metrics->dur_max = scaled(pfw, duration.max);
    metrics->first_start = start_ns;
    metrics->last_end = start_ns + (count == 1 ? metrics->dur_sum : metrics->dur_max);
    row->op = call->op;
    class = dft_op_class(call->op);
    if (bytes.known && bytes.sum && class != DFT_CLASS_READ && class != DFT_CLASS_WRITE) {
        row->op = call->writes ? DFT_OP_WRITE : DFT_OP_READ;
        class = dft_op_class(row->op);
    }
    if ((class != DFT_CLASS_READ && class != DFT_CLASS_WRITE) || failed)
        return;
    metrics->data = count;
    metrics->bytes = bytes.sum;
    metrics->size_min = bytes.min;
    metrics->size_max = bytes.max;
}

/* Durations or sizes into bins. */
static uint16_t put_bins(struct dft_bin bins[3], uint64_t count, uint64_t min, uint64_t max, uint64_t sum)
{
    uint64_t values[3] = {min, max, 0}, counts[3] = {1, 1, 0};
    uint16_t n = 0;

    if (count == 1) {
        values[0] = values[1] = sum;
        counts[1] = 0;
    } else if (count > 2) {
        uint64_t left = sum > min && sum - min > max ? sum - min - max : 0, mean = left / (count - 2);

        values[2] = mean < min ? min : mean > max ? max : mean;
        counts[2] = count - 2;
    }
    for (unsigned i = 0; i < 3; i++) {
        uint32_t bin = dft_bin_of(values[i]), at = 0;

        if (!counts[i])
            continue;
        while (at < n && bins[at].bin < bin)
            at++;
        if (at < n && bins[at].bin == bin) {
            bins[at].count += counts[i];
            continue;
        }
        memmove(&bins[at + 1], &bins[at], (n - at) * sizeof *bins);
        bins[at] = (struct dft_bin){bin, counts[i]};
        n++;
    }
    return n;
}

static int merge(struct dft_pfw_stream *stream, struct dft_row *row, uint64_t start_ns, uint64_t file)
{
    const struct dft_metrics metrics = row->metrics;
    struct dft_bin durations[3], sizes[3];
    struct dft_row histogram = *row;
    int rc = dft_table_merge(stream->rows, row);

    histogram.kind = DFT_ROW_HISTOGRAM;
    histogram.interval = start_ns / (DFT_PFW_INTERVAL_NS * DFT_COARSE);
    dft_metrics_clear(&histogram.metrics);
    histogram.durations = durations;
    histogram.ndurations = put_bins(durations, metrics.samples, metrics.dur_min, metrics.dur_max, metrics.dur_sum);
    histogram.sizes = sizes;
    histogram.nsizes =
        metrics.data ? put_bins(sizes, metrics.data, metrics.size_min, metrics.size_max, metrics.bytes) : 0;
    if (!rc)
        rc = dft_table_merge(stream->rows, &histogram);
    if (rc || !file || dft_op_class(row->op) > DFT_CLASS_WRITE)
        return rc;
    row->kind = DFT_ROW_FILE;
    row->class = (uint8_t)dft_op_class(row->op);
    row->op = 0;
    row->interval = histogram.interval;
    row->subject = file;
    return dft_table_merge(stream->rows, row);
}

static uint64_t count_of(const struct dft_pfw_record *record)
{
    uint64_t count;

    if (positive(known_member(record, DFT_PFW_DFT_CNT), &count) && count)
        return count;
    if (!DFT_PFW_HAS(record, DFT_CNT) && positive(known_member(record, DFT_PFW_COUNT), &count) && count)
        return count;
    return 1;
}

int dft_pfw_aggregated(struct dft_pfw *pfw)
{
    struct dft_pfw_record *record = pfw->record;
    struct dft_pfw_stream *stream;
    struct dft_pfw_call *call;
    struct dft_row row = {.kind = DFT_ROW_CALL};
    uint64_t start_ns, count = count_of(record);

    if (!DFT_PFW_HAS(record, NAME) || DFT_PFW_GET(record, NAME)->kind != DFT_PFW_STRING || !DFT_PFW_HAS(record, TS) ||
        dft_pfw_when(pfw, DFT_PFW_GET(record, TS), &start_ns))
        return -1;
    call = dft_pfw_call(pfw, record);
    stream =
        call ? dft_pfw_stream_of_record(pfw, pfw->repeated ? DFT_STREAM_ROWS | DFT_STREAM_REPEATED : DFT_STREAM_ROWS)
             : NULL;
    pfw->now_ns = start_ns;
    pfw->timed = 1;
    if (!stream || pfw->surveys || pfw->error)
        return 0;
    if (!stream->rows) {
        stream->rows = dft_table_create(DFT_PFW_INTERVAL_NS, DFT_KEEP_HISTOGRAMS | DFT_KEEP_FILES);
        pfw->tables++;
    }
    if (!stream->rows) {
        pfw->error = -ENOMEM;
        return 0;
    }
    row.subject = call->id;
    row.interval = start_ns / DFT_PFW_INTERVAL_NS;
    fill(pfw, &row, call, start_ns, count);
    pfw->counts->estimated += count > 2;
    if (!stream->rows_end || start_ns < stream->rows_start)
        stream->rows_start = start_ns;
    if (row.metrics.last_end > stream->rows_end)
        stream->rows_end = row.metrics.last_end;
    pfw->error = merge(stream, &row, start_ns, dft_pfw_file_of(pfw, record));
    stream->first++;
    if (dft_table_count(stream->rows) > 2048)
        dft_pfw_rows_flush(pfw, stream);
    return 0;
}
