/* SPDX-License-Identifier: MIT */
/* BUCKETS blocks out of rows, one column after the other over all rows. buckets.def is the one list
 * of a row's numbers. */
#include <errno.h>

#include "buckets.h"

/* What rows refer to: positions of region + 1 (0: none) and subject. */
struct row_names {
    uint32_t region, subject;
};

/* The calls of a block by id, op and class. Rows of unknown calls get one without a text. */
struct call_list {
    struct dft_idmap *map;
    struct dft_call *list;
    uint64_t *keys; /* of each: its id, op and class in one */
    uint32_t count;
};

static struct dft_call *call_get(struct call_list *calls, uint64_t id, uint8_t op, uint8_t io)
{
    const uint64_t key =
        id ^ (uint64_t)op << 56 ^ (uint64_t)io << 48; /* ids are hashes: it is as unlikely that two are alike */
    struct dft_idmap_slot *slot = dft_idmap_find(calls->map, key, calls->keys, sizeof *calls->keys);

    if (slot->generation == calls->map->generation)
        return &calls->list[slot->position];
    calls->list[calls->count] = (struct dft_call){.id = id, .op = op, .io = io};
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
        *call_get(calls, buckets->calls[i].id, buckets->calls[i].op, buckets->calls[i].io) = buckets->calls[i];
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
    names->subject = (uint32_t)(call_get(calls, row->subject, row->op, row->io) - calls->list);
    return 0;
}

/* One column of a value for each row that has it. Zeros alone need no column. */
#define PUT_COLUMN(raw, id, buckets, has, value)                                                                       \
    do {                                                                                                               \
        dft_raw_open(raw, id, DFT_ENC_LEB128);                                                                         \
        for (uint32_t i = 0; i < (buckets)->count; i++) {                                                              \
            const struct dft_row *row = &(buckets)->rows[i];                                                           \
                                                                                                                       \
            (void)row;                                                                                                 \
            if (has)                                                                                                   \
                dft_raw_leb(raw, value);                                                                               \
        }                                                                                                              \
        dft_raw_close_or_drop(raw);                                                                                    \
    } while (0)

static void put_keys(struct dft_raw *raw, const struct dft_buckets *buckets, const struct row_names *names)
{
    PUT_COLUMN(raw, DFT_BK_KIND, buckets, 1, row->kind);
    PUT_COLUMN(raw, DFT_BK_INTERVAL, buckets, 1, dft_zigzag(row->interval - (i ? row[-1].interval : 0)));
    PUT_COLUMN(raw, DFT_BK_REGION, buckets, 1, names[i].region);
    PUT_COLUMN(raw, DFT_BK_SUBJECT, buckets, 1, names[i].subject);
    PUT_COLUMN(raw, DFT_BK_CLASS, buckets, row->kind == DFT_ROW_FILE, row->class);
    PUT_COLUMN(raw, DFT_BK_IO, buckets, row->kind == DFT_ROW_FILE,
               row->io == dft_class_io(row->class) ? 0 : row->io + 1u);
    PUT_COLUMN(raw, DFT_BK_SIZE_CLASS, buckets, row->kind != DFT_ROW_FILE, row->size_class);
    PUT_COLUMN(raw, DFT_BK_ACCESS, buckets, row->kind != DFT_ROW_FILE, row->access);
    PUT_COLUMN(raw, DFT_BK_ERRNO, buckets, row->kind != DFT_ROW_FILE, row->err);
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
    dft_raw_close_or_drop(raw);
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

        if (row->kind > DFT_ROW_FILE || row->class > DFT_CLASS_MARK || row->io >= DFT_IO_COUNT ||
            row->size_class >= DFT_SIZE_CLASSES || row->access >= DFT_ACCESS_COUNT)
            return -EINVAL;
        if (row->kind == DFT_ROW_FILE && row->pattern && row->pattern->touched.shift > DFT_TOUCHED_SHIFT_MAX)
            return -EINVAL;
        if (row->kind != DFT_ROW_HISTOGRAM)
            continue;
        if (histogram_fault(row->durations, row->ndurations) || histogram_fault(row->sizes, row->nsizes) ||
            histogram_fault(row->asked, row->nasked))
            return -EINVAL;
        bins += row->ndurations + row->nsizes + row->nasked;
    }
    return bins > DFT_BINS_MAX ? -E2BIG : 0;
}

static int is_as_moved(const struct dft_row *row)
{
    if (row->nasked != row->nsizes)
        return 0;
    for (uint32_t i = 0; i < row->nasked; i++)
        if (row->asked[i].bin != row->sizes[i].bin || row->asked[i].count != row->sizes[i].count)
            return 0;
    return 1;
}

static void put_bins(struct dft_raw *raw, const struct dft_buckets *buckets)
{
    dft_raw_open(raw, DFT_BK_BINS, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];

        if (row->kind != DFT_ROW_HISTOGRAM)
            continue;
        put_histogram(raw, row->durations, row->ndurations);
        put_histogram(raw, row->sizes, row->nsizes);
    }
    dft_raw_close_or_drop(raw);
    dft_raw_open(raw, DFT_BK_ASKED_BINS, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *row = &buckets->rows[i];
        int differs = row->kind == DFT_ROW_HISTOGRAM && !is_as_moved(row);

        if (row->kind == DFT_ROW_HISTOGRAM)
            dft_raw_leb(raw, (uint64_t)differs);
        if (differs)
            put_histogram(raw, row->asked, row->nasked);
    }
    dft_raw_close_or_drop(raw);
}

static void put_rows(struct dft_encoder *encoder, const struct dft_buckets *buckets, const struct row_names *names)
{
    struct dft_raw *raw = &encoder->raw;

    dft_raw_open(raw, DFT_BK_INTERVAL_NS, DFT_ENC_LEB128);
    dft_raw_leb(raw, buckets->interval_ns);
    dft_raw_close(raw);
    put_keys(raw, buckets, names);
    put_metrics(raw, buckets);
    dft_occupancy_put(raw, buckets);
    put_bins(raw, buckets);
    dft_patterns_put(raw, buckets);
}

void dft_buckets_find_times(struct dft_buckets *buckets)
{
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_metrics *metrics = &buckets->rows[i].metrics;

        if (buckets->rows[i].kind == DFT_ROW_HISTOGRAM || metrics->first_start == UINT64_MAX)
            continue;
        if (!buckets->start || metrics->first_start < buckets->start)
            buckets->start = metrics->first_start;
        if (metrics->last_end > buckets->end)
            buckets->end = metrics->last_end;
    }
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
