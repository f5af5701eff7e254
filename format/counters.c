/* SPDX-License-Identifier: MIT */
/* COUNTERS blocks, both directions. The samples of a moment share one time and one list of series. */
#include <errno.h>
#include <string.h>

#include "decoder.h"
#include "encoder.h"

static const struct dft_column_spec specs[] = {
    [DFT_COL_NAMES] = DFT_COLUMN_SPEC(NAMES, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_CN_SERIES] = DFT_COLUMN_SPEC(SERIES, DFT_MASK(DFT_ENC_BYTES)),
    [DFT_CN_TIME] = DFT_COLUMN_SPEC(TIME, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_CN_MEMBERS] = DFT_COLUMN_SPEC(MEMBERS, DFT_MASK(DFT_ENC_LEB128)),
    [DFT_CN_VALUE] = DFT_COLUMN_SPEC(VALUE, DFT_MASK(DFT_ENC_LEB128)),
};
#define NSPECS (sizeof specs / sizeof *specs)

#define SERIES_TOTAL 1u
#define SERIES_REAL  2u
#define SERIES_UNIT  2 /* the bits from here on */

/* --- put -------------------------------------------------------------------------------------- */

/* How many samples from `from` on are of one moment. */
static uint32_t moment_length(const struct dft_counters *counters, uint32_t from)
{
    const struct dft_counter_sample *samples = counters->samples;
    uint32_t next = from + 1;

    while (next < counters->count && samples[next].time_ns == samples[from].time_ns &&
           samples[next].series > samples[next - 1].series)
        next++;
    return next - from;
}

static int put_series(struct dft_raw *raw, struct dft_entries *entries, const struct dft_counters *counters)
{
    dft_raw_open(raw, DFT_CN_SERIES, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < counters->nseries; i++) {
        const struct dft_counter_series *series = &counters->series[i];
        struct dft_entry *entry = dft_entries_get(entries, series->id);

        if (!entry)
            return -E2BIG;
        dft_raw_leb(raw, dft_entries_refer(entries, entry));
        dft_raw_leb(raw, (uint64_t)series->unit << SERIES_UNIT | (series->real ? SERIES_REAL : 0) |
                             (series->kind == DFT_COUNTER_TOTAL ? SERIES_TOTAL : 0));
    }
    dft_raw_close(raw);
    return 0;
}

static void put_members(struct dft_raw *raw, const struct dft_counters *counters)
{
    dft_raw_open(raw, DFT_CN_MEMBERS, DFT_ENC_LEB128);
    for (uint32_t i = 0, n; i < counters->count; i += n) {
        uint32_t next = 0;

        n = moment_length(counters, i);
        dft_raw_leb(raw, n == counters->nseries ? 0 : n);
        for (uint32_t j = 0; j < n && n != counters->nseries; j++) {
            dft_raw_leb(raw, counters->samples[i + j].series - next);
            next = counters->samples[i + j].series + 1;
        }
    }
    dft_raw_close(raw);
}

static void put_times(struct dft_raw *raw, const struct dft_counters *counters, uint64_t start)
{
    uint64_t previous = start;

    dft_raw_open(raw, DFT_CN_TIME, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < counters->count; i += moment_length(counters, i)) {
        dft_raw_leb(raw, dft_zigzag(counters->samples[i].time_ns - previous));
        previous = counters->samples[i].time_ns;
    }
    dft_raw_close(raw);
}

static void put_values(struct dft_raw *raw, const struct dft_counters *counters, uint64_t *last)
{
    memset(last, 0, counters->nseries * sizeof *last);
    dft_raw_open(raw, DFT_CN_VALUE, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct dft_counter_sample *sample = &counters->samples[i];
        uint64_t value = (uint64_t)sample->value, *before = &last[sample->series];

        if (counters->series[sample->series].real)
            dft_raw_leb(raw, __builtin_bswap64(value ^ *before)); /* short numbers end in zeros */
        else
            dft_raw_leb(raw, dft_zigzag(value - *before));
        *before = value;
    }
    dft_raw_close(raw);
}

/* Sets the times of the header. Returns 0 or -EINVAL. */
static int check(const struct dft_counters *counters, struct dft_block_header *header)
{
    if (counters->count > DFT_COUNT_MAX || counters->nseries > DFT_NAMES_MAX || (counters->count && !counters->nseries))
        return -EINVAL;
    for (uint32_t i = 0; i < counters->count; i++) {
        uint64_t time = counters->samples[i].time_ns;

        if (counters->samples[i].series >= counters->nseries)
            return -EINVAL;
        if (!i || time < header->start)
            header->start = time;
        if (time > header->end)
            header->end = time;
    }
    return 0;
}

long dft_encode_counters(struct dft_encoder *encoder, const struct dft_counters *counters, const void **block)
{
    struct dft_block_header header = {.type = DFT_BLOCK_COUNTERS,
                                      .count = counters->count,
                                      .stream = counters->stream,
                                      .key = counters->key,
                                      .first = counters->first,
                                      .last = counters->first + counters->count - (counters->count != 0),
                                      .tid = counters->tid};
    struct dft_entries entries;
    uint64_t *last;
    int status = check(counters, &header);

    if (status)
        return status;
    dft_block_begin(encoder);
    last = dft_arena_take(encoder, ((uint64_t)counters->nseries + 1) * sizeof *last);
    status = last ? dft_entries_begin(encoder, &entries, (uint64_t)counters->nseries + counters->nnames) : -E2BIG;
    if (!status)
        status = dft_entries_define(&entries, counters->names, counters->nnames);
    if (!status)
        status = put_series(&encoder->raw, &entries, counters);
    if (status)
        return status;
    dft_names_put(&encoder->raw, &entries);
    put_times(&encoder->raw, counters, header.start);
    put_members(&encoder->raw, counters);
    put_values(&encoder->raw, counters, last);
    return dft_block_end(encoder, &header, NULL, 0, block);
}

/* --- get -------------------------------------------------------------------------------------- */

static int get_series(struct dft_decoder *decoder, struct dft_counters *counters)
{
    struct dft_columns *columns = &decoder->columns;
    const struct dft_name *names = decoder->names.bytes;
    size_t most = dft_column_left(columns, DFT_CN_SERIES) / 2;

    if (most > DFT_NAMES_MAX)
        most = DFT_NAMES_MAX;
    if (dft_buffer_reserve(&decoder->rows, (most + 1) * sizeof(struct dft_counter_series)))
        return -ENOMEM;
    counters->series = decoder->rows.bytes;
    while (dft_column_left(columns, DFT_CN_SERIES) && !columns->reason) {
        uint64_t name = dft_column_leb(columns, DFT_CN_SERIES), traits;

        if (name >= decoder->nnames || counters->nseries == most) {
            dft_column_fault(columns, DFT_CN_SERIES);
            break;
        }
        traits = dft_column_leb_max(columns, DFT_CN_SERIES, UINT8_MAX);
        counters->series[counters->nseries++] =
            (struct dft_counter_series){.id = names[name].id,
                                        .unit = (uint8_t)(traits >> SERIES_UNIT),
                                        .kind = traits & SERIES_TOTAL ? DFT_COUNTER_TOTAL : DFT_COUNTER_LEVEL,
                                        .real = (traits & SERIES_REAL) != 0};
    }
    return columns->reason ? -EBADMSG : 0;
}

/* Times and series of the samples of one moment. Returns how many there are; 0: a fault. */
static uint32_t get_moment(struct dft_columns *columns, struct dft_counters *counters, uint32_t at, uint64_t time)
{
    uint64_t members = dft_column_leb(columns, DFT_CN_MEMBERS), n = members ? members : counters->nseries, next = 0;

    if (!n || n > counters->nseries || n > counters->count - at) {
        dft_column_fault(columns, DFT_CN_MEMBERS);
        return 0;
    }
    for (uint32_t i = 0; i < n && !columns->reason; i++) {
        uint64_t series = next + (members ? dft_column_leb_max(columns, DFT_CN_MEMBERS, DFT_NAMES_MAX) : 0);

        if (series >= counters->nseries) {
            dft_column_fault(columns, DFT_CN_MEMBERS);
            return 0;
        }
        counters->samples[at + i].time_ns = time;
        counters->samples[at + i].series = (uint32_t)series;
        next = series + 1;
    }
    return columns->reason ? 0 : (uint32_t)n;
}

static void get_values(struct dft_columns *columns, struct dft_counters *counters, uint64_t *last)
{
    memset(last, 0, counters->nseries * sizeof *last);
    for (uint32_t i = 0; i < counters->count && !columns->reason; i++) {
        struct dft_counter_sample *sample = &counters->samples[i];
        uint64_t value = dft_column_leb(columns, DFT_CN_VALUE), *before = &last[sample->series];

        if (counters->series[sample->series].real)
            *before ^= __builtin_bswap64(value);
        else
            *before += dft_unzigzag(value);
        sample->value = (int64_t)*before;
    }
}

static int get_counters(struct dft_decoder *decoder, const struct dft_block_header *header,
                        struct dft_counters *counters)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t time = header->start;
    int status = dft_names_get(decoder);

    *counters = (struct dft_counters){.key = header->key,
                                      .stream = header->stream,
                                      .tid = header->tid,
                                      .first = header->first,
                                      .start = header->start,
                                      .end = header->end,
                                      .count = header->count,
                                      .names = decoder->names.bytes,
                                      .nnames = decoder->nnames};
    if (!status)
        status = get_series(decoder, counters);
    if (!status)
        status = dft_buffer_reserve(&decoder->samples, ((size_t)header->count + 1) * sizeof(struct dft_counter_sample));
    if (!status)
        status = dft_buffer_reserve(&decoder->numbers, ((size_t)counters->nseries + 1) * sizeof(uint64_t));
    if (status)
        return status;
    counters->samples = decoder->samples.bytes;
    for (uint32_t at = 0, n; at < counters->count; at += n) {
        time += dft_unzigzag(dft_column_leb(columns, DFT_CN_TIME));
        n = get_moment(columns, counters, at, time);
        if (!n)
            return -EBADMSG;
    }
    get_values(columns, counters, decoder->numbers.bytes);
    return columns->reason ? -EBADMSG : 0;
}

int dft_decode_counters(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                        struct dft_counters *counters, const char **reason)
{
    int status = dft_decoder_open(decoder, header, payload, specs, NSPECS, reason);

    if (status)
        return status;
    return dft_decoder_result(decoder, get_counters(decoder, header, counters), reason);
}
