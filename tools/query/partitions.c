/* SPDX-License-Identifier: MIT */
/* Partitions in the spill file: buffers, extents, and records as bytes. */
#include "query/partitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/spill_file.h"
#include "format/leb128.h"
#include "mpi/comm.h"

enum { HAS_CALL = 1, HAS_HISTOGRAM = 2, IS_PARENT = 4, HAS_PATTERN = 8, IS_MEMBER = 16 };

#define HEAD_MAX    (1u + DFT_LEB_MAX * (sizeof(struct dft_group_key) + sizeof(struct dft_metrics)) / 8u)
#define BINS_MAX    (DFT_LEB_MAX + 2u * DFT_LEB_MAX * DFT_BINS) /* of one list */
#define PATTERN_MAX (DFT_LEB_MAX * (sizeof(struct dft_metrics) + sizeof(struct dft_pattern)) / 8u)
#define RECORD_MAX  (HEAD_MAX + 3u * BINS_MAX + PATTERN_MAX)

uint8_t *dft_words_put(uint8_t *at, const void *words, size_t bytes)
{
    const uint8_t *from = words;

    for (size_t i = 0; i < bytes; i += sizeof(uint64_t))
        at = dft_leb_put(at, dft_load64(from + i) + 1);
    return at;
}

const uint8_t *dft_words_get(const uint8_t *at, const uint8_t *end, void *words, size_t bytes)
{
    uint8_t *into = words;

    for (size_t i = 0; at && i < bytes; i += sizeof(uint64_t)) {
        uint64_t word;

        at = dft_leb_get(at, end, &word);
        if (at)
            dft_store64(into + i, word - 1);
    }
    return at;
}

/* --- records as bytes ------------------------------------------------------------------------- */

static uint8_t *put_bins(uint8_t *at, const struct dft_bin *bins, uint32_t count)
{
    uint32_t before = 0;

    at = dft_leb_put(at, count);
    for (uint32_t i = 0; i < count; i++) {
        at = dft_leb_put(at, bins[i].bin - before);
        at = dft_leb_put(at, bins[i].count);
        before = bins[i].bin;
    }
    return at;
}

static const uint8_t *get_bins(const uint8_t *at, const uint8_t *end, struct dft_bin *bins, uint16_t *count)
{
    uint64_t n = 0, step, bin = 0;

    at = dft_leb_get(at, end, &n);
    if (n > DFT_BINS)
        return NULL;
    for (uint64_t i = 0; at && i < n; i++) {
        at = dft_leb_get(at, end, &step);
        if (at)
            at = dft_leb_get(at, end, &bins[i].count);
        bin += at ? step : 0;
        bins[i].bin = (uint32_t)bin;
    }
    *count = (uint16_t)n;
    return at;
}

static size_t put_record(uint8_t *record, const struct dft_record *partial)
{
    const struct dft_row *call = partial->rows[0], *histogram = partial->rows[1], *file = partial->rows[2];
    static const struct dft_pattern none;
    uint8_t *at = record + 1;

    *record = (uint8_t)((call ? HAS_CALL : 0) | (histogram ? HAS_HISTOGRAM : 0) | (partial->is_parent ? IS_PARENT : 0) |
                        (file ? HAS_PATTERN : 0) | (partial->calls ? IS_MEMBER : 0));
    at = dft_words_put(at, &partial->key, sizeof partial->key);
    if (partial->is_parent)
        at = dft_leb_put(at, partial->inside_ns);
    if (partial->calls)
        at = dft_leb_put(dft_leb_put(at, partial->member), partial->calls);
    if (call)
        at = dft_words_put(at, &call->metrics, sizeof call->metrics);
    if (histogram) {
        at = put_bins(at, histogram->durations, histogram->ndurations);
        at = put_bins(at, histogram->sizes, histogram->nsizes);
        at = put_bins(at, histogram->asked, histogram->nasked);
    }
    if (file) {
        at = dft_words_put(at, &file->metrics, sizeof file->metrics);
        at = dft_words_put(at, file->pattern ? file->pattern : &none, sizeof none);
    }
    return (size_t)(at - record);
}

/* What a reader has of a record. */
struct decoded {
    struct dft_record partial;
    struct dft_row rows[3];
    struct dft_pattern pattern;
    struct dft_bin durations[DFT_BINS], sizes[DFT_BINS], asked[DFT_BINS];
};

static const uint8_t *get_record(const uint8_t *at, const uint8_t *end, struct decoded *record)
{
    struct dft_record *partial = &record->partial;
    uint64_t member = 0;
    uint8_t has = *at++;

    *partial = (struct dft_record){.is_parent = has & IS_PARENT};
    at = dft_words_get(at, end, &partial->key, sizeof partial->key);
    if (at && has & IS_PARENT)
        at = dft_leb_get(at, end, &partial->inside_ns);
    if (at && has & IS_MEMBER)
        at = dft_leb_get(at, end, &member);
    if (at && has & IS_MEMBER)
        at = dft_leb_get(at, end, &partial->calls);
    partial->member = (uint32_t)member;
    if (at && has & HAS_CALL) {
        at = dft_words_get(at, end, &record->rows[0].metrics, sizeof record->rows[0].metrics);
        partial->rows[0] = &record->rows[0];
    }
    if (at && has & HAS_HISTOGRAM) {
        at = get_bins(at, end, record->durations, &record->rows[1].ndurations);
        if (at)
            at = get_bins(at, end, record->sizes, &record->rows[1].nsizes);
        if (at)
            at = get_bins(at, end, record->asked, &record->rows[1].nasked);
        partial->rows[1] = &record->rows[1];
    }
    if (at && has & HAS_PATTERN) {
        at = dft_words_get(at, end, &record->rows[2].metrics, sizeof record->rows[2].metrics);
        at = dft_words_get(at, end, &record->pattern, sizeof record->pattern);
        partial->rows[2] = &record->rows[2];
    }
    return at;
}

/* --- writing ---------------------------------------------------------------------------------- */

int dft_partitions_add(struct dft_partitions *partitions, unsigned level, uint32_t root)
{
    uint32_t count = partitions->count + DFT_PARTITIONS;
    struct dft_partition *bigger = realloc(partitions->list, count * sizeof *bigger);

    if (!bigger)
        return -ENOMEM;
    partitions->list = bigger;
    if (!partitions->buffers)
        partitions->buffers = malloc(DFT_PARTITIONS * partitions->buffer_bytes);
    if (!partitions->used)
        partitions->used = calloc(DFT_PARTITIONS, sizeof *partitions->used);
    if (!partitions->record)
        partitions->record = malloc(RECORD_MAX);
    if (!partitions->buffers || !partitions->used || !partitions->record)
        return -ENOMEM;
    memset(bigger + partitions->count, 0, DFT_PARTITIONS * sizeof *bigger);
    for (uint32_t i = partitions->count; i < count; i++) {
        bigger[i].level = level;
        bigger[i].root = level ? root : i;
    }
    partitions->count = count;
    return 0;
}

static int write_extent(struct dft_partitions *partitions, struct dft_partition *partition, const void *bytes,
                        size_t length)
{
    struct dft_extent extent = {.bytes = (uint32_t)length};
    int rc;

    if (partition->count == partition->capacity) {
        uint32_t capacity = partition->capacity ? 2 * partition->capacity : 4;
        struct dft_extent *bigger = realloc(partition->extents, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        partition->extents = bigger;
        partition->capacity = capacity;
    }
    rc = dft_spill_file_append(partitions->file, bytes, length, &extent.offset);
    if (!rc)
        partition->extents[partition->count++] = extent;
    return rc;
}

static int write_buffer(struct dft_partitions *partitions, uint32_t slot)
{
    struct dft_partition *partition = &partitions->list[partitions->count - DFT_PARTITIONS + slot];
    int rc = 0;

    if (partitions->used[slot])
        rc = write_extent(partitions, partition, partitions->buffers + slot * partitions->buffer_bytes,
                          partitions->used[slot]);
    partitions->used[slot] = 0;
    return rc;
}

int dft_partitions_put_bytes(struct dft_partitions *partitions, const void *record, size_t bytes, uint64_t hash,
                             uint64_t memory)
{
    struct dft_partition *first = &partitions->list[partitions->count - DFT_PARTITIONS];
    uint32_t slot = (uint32_t)(hash >> (64 - DFT_PARTITION_BITS * (first->level + 1))) % DFT_PARTITIONS;
    size_t *used = &partitions->used[slot];
    int rc = 0;

    first[slot].records++;
    first[slot].memory += memory;
    if (*used + bytes > partitions->buffer_bytes)
        rc = write_buffer(partitions, slot);
    if (rc || bytes > partitions->buffer_bytes)
        return rc ? rc : write_extent(partitions, &first[slot], record, bytes);
    memcpy(partitions->buffers + slot * partitions->buffer_bytes + *used, record, bytes);
    *used += bytes;
    return 0;
}

int dft_partitions_put(struct dft_partitions *partitions, const struct dft_record *partial, uint64_t hash,
                       uint64_t memory)
{
    size_t bytes = put_record(partitions->record, partial);

    return dft_partitions_put_bytes(partitions, partitions->record, bytes, hash, memory);
}

int dft_partitions_flush(struct dft_partitions *partitions)
{
    uint64_t sums[DFT_PARTITIONS][2];
    struct dft_partition *first = &partitions->list[partitions->count - DFT_PARTITIONS];
    int rc = 0;

    for (uint32_t slot = 0; slot < DFT_PARTITIONS; slot++) {
        if (!rc)
            rc = write_buffer(partitions, slot);
        sums[slot][0] = first[slot].records;
        sums[slot][1] = first[slot].memory;
    }
    dft_comm_sum(&sums[0][0], 2 * DFT_PARTITIONS);
    for (uint32_t slot = 0; slot < DFT_PARTITIONS; slot++) {
        first[slot].records = sums[slot][0];
        first[slot].memory = sums[slot][1];
    }
    return dft_comm_agree(rc);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_extent(struct dft_partitions *partitions, const struct dft_extent *extent,
                       int (*take)(void *context, const uint8_t *at, const uint8_t *end), void *context)
{
    uint8_t *bytes = malloc(extent->bytes);
    int rc = bytes ? dft_spill_file_read(partitions->file, bytes, extent->bytes, extent->offset) : -ENOMEM;

    if (!rc)
        rc = take(context, bytes, bytes + extent->bytes);
    free(bytes);
    return rc;
}

int dft_partition_read_bytes(struct dft_partitions *partitions, uint32_t number,
                             int (*take)(void *context, const uint8_t *at, const uint8_t *end), void *context)
{
    /* Splitting adds to the list while it is read: the partition may move. */
    const struct dft_partition partition = partitions->list[number];
    int rc = 0;

    for (uint32_t i = 0; !rc && i < partition.count; i++)
        rc = read_extent(partitions, &partition.extents[i], take, context);
    return rc;
}

struct reading {
    struct decoded *record;
    int (*emit)(void *context, const struct dft_record *partial);
    void *context;
};

static int emit_records(void *context, const uint8_t *at, const uint8_t *end)
{
    const struct reading *reading = context;
    int rc = 0;

    while (!rc && at < end) {
        at = get_record(at, end, reading->record);
        rc = at ? reading->emit(reading->context, &reading->record->partial) : -EIO;
    }
    return rc;
}

int dft_partition_read(struct dft_partitions *partitions, uint32_t number,
                       int (*emit)(void *context, const struct dft_record *partial), void *context)
{
    struct reading reading = {.record = malloc(sizeof *reading.record), .emit = emit, .context = context};
    struct decoded *record = reading.record;
    int rc;

    if (!record)
        return -ENOMEM;
    memset(record->rows, 0, sizeof record->rows);
    record->rows[0].kind = DFT_ROW_CALL;
    record->rows[1].kind = DFT_ROW_HISTOGRAM;
    record->rows[2].kind = DFT_ROW_FILE;
    record->rows[2].pattern = &record->pattern;
    record->rows[1].durations = record->durations;
    record->rows[1].sizes = record->sizes;
    record->rows[1].asked = record->asked;
    rc = dft_partition_read_bytes(partitions, number, emit_records, &reading);
    free(record);
    return rc;
}

void dft_partitions_fini(struct dft_partitions *partitions)
{
    for (uint32_t i = 0; i < partitions->count; i++)
        free(partitions->list[i].extents);
    free(partitions->list);
    free(partitions->buffers);
    free(partitions->used);
    free(partitions->record);
    partitions->list = NULL;
    partitions->buffers = partitions->record = NULL;
    partitions->used = NULL;
    partitions->count = 0;
}
