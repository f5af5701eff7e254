/* SPDX-License-Identifier: MIT */
/* Makes and finds the objects of a thread's table. An object is neutral and whole before the table
 * tells of it, so a reader may come at any time. */
#include "rows/rows_inside.h"

#include <string.h>

#define ARENA_END         (DFT_LIVE_TABLE_BYTES / 8)
/* What is left to call rows and histograms, and to directories besides. */
#define OTHERS_BYTES      5632u
#define DIRECTORIES_BYTES 1024u
#define CALLS_LEAST       24u /* call rows are written alone when there are as many */
#define FILES_EVERY       16u /* intervals between two writes because there are many files */

static uint32_t low_of(const struct dft_live_table *live)
{
    return atomic_load_explicit(&((struct dft_live_table *)(uintptr_t)live)->low, memory_order_relaxed);
}

static uint32_t high_of(const struct dft_live_table *live)
{
    return atomic_load_explicit(&((struct dft_live_table *)(uintptr_t)live)->high, memory_order_relaxed);
}

/* --- index ------------------------------------------------------------------------------------ */

static uint32_t hash_of_key(const struct dft_live_key *key, uint32_t kind)
{
    return dft_rows_hash(key->region ^ key->subject ^ kind, key->interval) ^
           dft_rows_hash((uint64_t)key->facets << 32 | key->call, kind);
}

static int is_key(const struct dft_live_key *a, const struct dft_live_key *b)
{
    return a->interval == b->interval && a->call == b->call && a->facets == b->facets && a->region == b->region &&
           a->subject == b->subject;
}

static void index_add(struct dft_rows *rows, uint32_t hash, uint32_t place)
{
    uint32_t at = hash % DFT_ROWS_INDEX;

    while (rows->index[at])
        at = (at + 1) % DFT_ROWS_INDEX;
    rows->index[at] = (uint16_t)place;
}

/* A histogram that is in the table, though its maker did not come to note it. */
static void note_histogram(struct dft_rows *rows, const struct dft_live_histogram *histogram, uint32_t place)
{
    if (histogram->object.number != rows->nhistograms || rows->nhistograms == DFT_ROWS_HISTOGRAMS)
        return;
    memset(rows->chunks[rows->nhistograms], 0, sizeof rows->chunks[0]);
    rows->histograms[rows->nhistograms++] = place;
}

void dft_rows_index_again(struct dft_rows *rows)
{
    const struct dft_live_table *live = rows->live;
    uint32_t at = DFT_LIVE_ARENA;

    memset(rows->index, 0, sizeof rows->index);
    while (at < low_of(live)) {
        const struct dft_live_object *object = dft_live_at(live, at);
        const struct dft_live_histogram *histogram = dft_live_at(live, at);
        const struct dft_live_file *file = dft_live_at(live, at);

        if (object->type == DFT_LIVE_HISTOGRAM) {
            index_add(rows, hash_of_key(&histogram->key, DFT_LIVE_HISTOGRAM), at);
            note_histogram(rows, histogram, at);
        } else if (object->type == DFT_LIVE_FILE) {
            index_add(rows, dft_rows_hash(file->file ^ object->which, file->region ^ file->interval), at);
        }
        at += dft_live_object_bytes(object) / 8;
    }
    for (at = high_of(live); at < ARENA_END; at += sizeof(struct dft_live_row) / 8)
        index_add(rows, hash_of_key(&((const struct dft_live_row *)dft_live_at(live, at))->key, 0), at);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Room at the lower end for an object, zeroed. NULL: there is none. */
static void *reserve(struct dft_rows *rows, uint8_t type, uint32_t *place)
{
    struct dft_live_table *live = rows->live;
    uint32_t bytes = dft_live_object_bytes(&(const struct dft_live_object){.type = type});
    struct dft_live_object *object;

    *place = low_of(live);
    if (*place + bytes / 8 > high_of(live))
        return NULL;
    object = dft_live_at(live, *place);
    memset(object, 0, bytes);
    object->type = type;
    return object;
}

static void commit(struct dft_rows *rows, const void *object)
{
    atomic_store_explicit(&rows->live->low, low_of(rows->live) + dft_live_object_bytes(object) / 8,
                          memory_order_release);
    atomic_thread_fence(memory_order_release); /* before other objects refer to this one */
}

static uint32_t find_row(const struct dft_rows *rows, const struct dft_live_key *key, uint32_t hash)
{
    for (uint32_t at = hash % DFT_ROWS_INDEX; rows->index[at]; at = (at + 1) % DFT_ROWS_INDEX) {
        uint32_t place = rows->index[at];

        if (place >= high_of(rows->live) && is_key(&((struct dft_live_row *)dft_live_at(rows->live, place))->key, key))
            return place;
    }
    return 0;
}

uint32_t dft_rows_row(struct dft_rows *rows, const struct dft_live_key *key)
{
    struct dft_live_table *live = rows->live;
    uint32_t hash = hash_of_key(key, 0), place = find_row(rows, key, hash);
    struct dft_live_row *row;

    if (place)
        return place;
    place = high_of(live) - sizeof *row / 8;
    if (place < low_of(live))
        return 0;
    row = dft_live_at(live, place);
    *row = (struct dft_live_row){.key = *key,
                                 .dur_min = UINT64_MAX,
                                 .first_start = UINT64_MAX,
                                 .size_min = UINT64_MAX,
                                 .offset_min = INT64_MAX,
                                 .offset_max = -1};
    atomic_store_explicit(&live->high, place, memory_order_release);
    index_add(rows, hash, place);
    return place;
}

static uint32_t find_histogram(const struct dft_rows *rows, const struct dft_live_key *key, uint32_t hash)
{
    for (uint32_t at = hash % DFT_ROWS_INDEX; rows->index[at]; at = (at + 1) % DFT_ROWS_INDEX) {
        const struct dft_live_histogram *histogram = dft_live_at(rows->live, rows->index[at]);

        if (rows->index[at] < low_of(rows->live) && histogram->object.type == DFT_LIVE_HISTOGRAM &&
            is_key(&histogram->key, key))
            return rows->index[at];
    }
    return 0;
}

int dft_rows_histogram(struct dft_rows *rows, const struct dft_live_key *key)
{
    uint32_t hash = hash_of_key(key, DFT_LIVE_HISTOGRAM), place = find_histogram(rows, key, hash);
    struct dft_live_histogram *histogram;

    if (place)
        return ((const struct dft_live_object *)dft_live_at(rows->live, place))->number;
    if (rows->nhistograms == DFT_ROWS_HISTOGRAMS || !(histogram = reserve(rows, DFT_LIVE_HISTOGRAM, &place)))
        return -1;
    histogram->object.number = (uint16_t)rows->nhistograms;
    histogram->key = *key;
    commit(rows, histogram);
    index_add(rows, hash, place);
    memset(rows->chunks[rows->nhistograms], 0, sizeof rows->chunks[0]);
    rows->histograms[rows->nhistograms] = place;
    return (int)rows->nhistograms++;
}

uint32_t dft_rows_counter(struct dft_rows *rows, uint32_t histogram, enum dft_live_bins which, uint64_t value)
{
    uint32_t bin = dft_bin_of(value), counter = dft_rows_counter_there(rows, histogram, which, value), place;
    struct dft_live_histogram *owner;
    struct dft_live_chunk *chunk;

    if (counter)
        return counter;
    chunk = reserve(rows, DFT_LIVE_CHUNK, &place);
    if (!chunk)
        return 0;
    chunk->object.which = (uint8_t)which;
    chunk->object.number = (uint16_t)(bin / DFT_LIVE_CHUNK_BINS);
    owner = dft_live_at(rows->live, rows->histograms[histogram]);
    chunk->object.other = owner->object.other;
    commit(rows, chunk);
    owner->object.other = place;
    rows->chunks[histogram][which][bin / DFT_LIVE_CHUNK_BINS] = (uint16_t)place;
    return dft_rows_counter_in(place, bin);
}

/* --- files ------------------------------------------------------------------------------------ */

int dft_rows_has_room(const struct dft_rows *rows, int is_directory)
{
    const uint32_t most = 2 * sizeof(struct dft_live_file) + sizeof(struct dft_live_data) + OTHERS_BYTES +
                          (is_directory ? 0 : DIRECTORIES_BYTES);

    return low_of(rows->live) + most / 8 <= ARENA_END;
}

uint32_t dft_rows_find_file(const struct dft_rows *rows, uint64_t file, uint64_t region, uint64_t interval,
                            uint32_t which)
{
    uint32_t hash = dft_rows_hash(file ^ which, region ^ interval);

    for (uint32_t at = hash % DFT_ROWS_INDEX; rows->index[at]; at = (at + 1) % DFT_ROWS_INDEX) {
        const struct dft_live_file *live = dft_live_at(rows->live, rows->index[at]);

        if (rows->index[at] < low_of(rows->live) && live->object.type == DFT_LIVE_FILE && live->file == file &&
            live->region == region && live->interval == interval && live->object.which == which)
            return rows->index[at];
    }
    return 0;
}

uint32_t dft_rows_file(struct dft_rows *rows, uint64_t file, uint64_t region, uint64_t interval, uint32_t which)
{
    uint32_t place = dft_rows_find_file(rows, file, region, interval, which);
    struct dft_live_file *live;

    if (place)
        return place;
    live = reserve(rows, DFT_LIVE_FILE, &place);
    if (!live)
        return 0;
    live->object.which = (uint8_t)which;
    live->file = file;
    live->region = region;
    live->interval = interval;
    live->dur_min = live->first_start = UINT64_MAX;
    commit(rows, live);
    index_add(rows, dft_rows_hash(file ^ which, region ^ interval), place);
    return place;
}

int dft_rows_admits(const struct dft_rows *rows)
{
    return dft_rows_has_room(rows, 0) && rows->interval >= rows->closed_until;
}

unsigned dft_rows_choose(struct dft_rows *rows, unsigned full)
{
    uint32_t calls = (ARENA_END - high_of(rows->live)) * 8 / (uint32_t)sizeof(struct dft_live_row);

    if (calls >= CALLS_LEAST)
        return DFT_LIVE_CALLS_WRITTEN;
    rows->closed_until = rows->interval + FILES_EVERY;
    return full | DFT_LIVE_CALLS_WRITTEN | DFT_LIVE_FILES_WRITTEN;
}

int dft_rows_may_flush_files(const struct dft_rows *rows)
{
    return rows->interval - rows->files_interval >= FILES_EVERY;
}

static int make_data(struct dft_rows *rows, struct dft_live_file *file, uint32_t owner)
{
    uint32_t place;
    struct dft_live_data *data = reserve(rows, DFT_LIVE_DATA, &place);

    if (!data)
        return -ENOSPC;
    data->object.other = owner;
    data->size_min = UINT64_MAX;
    data->offset_min = INT64_MAX;
    data->offset_max = -1;
    commit(rows, data);
    file->data = place;
    return 0;
}

/* Marks what was touched so far. */
static void touch_all(struct dft_touched *touched, const struct dft_live_data *data)
{
    if (data->offset_max <= data->offset_min)
        return;
    while ((uint64_t)data->offset_max > (uint64_t)DFT_TOUCHED_PARTS << touched->shift)
        touched->shift++;
    dft_touched_mark(touched, (uint64_t)data->offset_min >> touched->shift,
                     ((uint64_t)data->offset_max - 1) >> touched->shift);
}

/* Makes each part twice as long. A reader keeps away meanwhile. */
static void fold(struct dft_live_pattern *pattern)
{
    uint64_t *bits = pattern->touched.bits;

    atomic_store_explicit(&pattern->folding, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < DFT_TOUCHED_PARTS; i++) {
        uint64_t both = bits[2 * i % DFT_TOUCHED_PARTS / 64] >> (2 * i % 64) & 3;

        if (i >= DFT_TOUCHED_PARTS / 2)
            both = 0;
        bits[i / 64] = (bits[i / 64] & ~(UINT64_C(1) << (i % 64))) | (uint64_t)(both != 0) << (i % 64);
    }
    pattern->touched.shift++;
    atomic_store_explicit(&pattern->folding, 0, memory_order_release);
}

/* Without room the file's bytes are not known any more. */
static void make_pattern(struct dft_rows *rows, struct dft_live_file *file, uint32_t owner, struct dft_live_data *data)
{
    uint32_t place;
    struct dft_live_pattern *pattern = dft_rows_has_room(rows, 0) ? reserve(rows, DFT_LIVE_PATTERN, &place) : NULL;

    if (!pattern) {
        data->object.number = 1;
        return;
    }
    pattern->object.other = owner;
    touch_all(&pattern->touched, data);
    commit(rows, pattern);
    file->pattern = place;
}

/* The end of an access: cut where 64 bits end. */
static int64_t end_of(const struct dft_rows_event *event)
{
    uint64_t capacity = (uint64_t)(INT64_MAX - event->offset);

    return event->offset + (int64_t)(event->bytes < capacity ? event->bytes : capacity);
}

/* Does the access join what was touched so far, all between two offsets? */
static int joins(const struct dft_live_data *data, int64_t offset, int64_t end)
{
    return data->offset_max < 0 || (offset <= data->offset_max && end >= data->offset_min);
}

int dft_rows_widen_file(struct dft_rows *rows, uint32_t place, const struct dft_rows_event *event)
{
    struct dft_live_file *file = dft_live_at(rows->live, place);
    struct dft_live_data *data;
    int64_t end;

    if (!event->is_data)
        return 0;
    if (!file->data && make_data(rows, file, place))
        return -ENOSPC;
    data = dft_live_at(rows->live, file->data);
    if (event->offset < 0 || event->offset == INT64_MAX || data->object.number)
        return 0;
    end = end_of(event);
    if (!file->pattern && !joins(data, event->offset, end))
        make_pattern(rows, file, place, data);
    if (file->pattern && event->bytes) {
        struct dft_live_pattern *pattern = dft_live_at(rows->live, file->pattern);

        while ((uint64_t)end > (uint64_t)DFT_TOUCHED_PARTS << pattern->touched.shift)
            fold(pattern);
    }
    return 0;
}

/* The counts of the most common of many values, in little memory: J. Misra and D. Gries, "Finding
 * repeated elements", 1982. Where a value is common, it stays; its count may be too low. */
void dft_rows_stride(struct dft_live_table *live, uint32_t place, int64_t bytes)
{
    struct dft_stride *strides = ((struct dft_live_pattern *)dft_live_at(live, place))->strides, *free = NULL;

    for (uint32_t i = 0; i < DFT_LIVE_STRIDES; i++) {
        if (strides[i].count && strides[i].bytes == bytes) {
            strides[i].count++;
            return;
        }
        if (!strides[i].count)
            free = &strides[i];
    }
    if (free) {
        free->bytes = bytes;
        free->count = 1;
        return;
    }
    for (uint32_t i = 0; i < DFT_LIVE_STRIDES; i++)
        strides[i].count--;
}

/* --- emptying --------------------------------------------------------------------------------- */

void dft_rows_empty(struct dft_rows *rows, uint32_t what)
{
    struct dft_live_table *live = rows->live;
    uint64_t events = atomic_load_explicit(&live->events, memory_order_relaxed);

    atomic_store_explicit(&live->written, what, memory_order_release);
    if (what & DFT_LIVE_CALLS_WRITTEN) {
        atomic_store_explicit(&live->high, ARENA_END, memory_order_release);
        atomic_store_explicit(&live->calls_first, events, memory_order_release);
    }
    if (what & DFT_LIVE_FILES_WRITTEN) {
        atomic_store_explicit(&live->low, DFT_LIVE_ARENA, memory_order_release);
        atomic_store_explicit(&live->files_first, events, memory_order_release);
        rows->nhistograms = 0;
        rows->files_interval = rows->interval;
        memset(rows->files, 0, sizeof rows->files);
    }
    atomic_store_explicit(&live->written, 0, memory_order_release);
    memset(rows->cursors, 0, sizeof rows->cursors);
    dft_rows_index_again(rows);
}
