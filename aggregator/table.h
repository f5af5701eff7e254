/* SPDX-License-Identifier: MIT */
/* The memory of a table, private to the aggregator: arrays, hash index, histogram chunks. One
 * thread at a time.
 *
 * Rows lie in one array in order of arrival, in the very form that dft_table_rows gives out; beside
 * each a link (its hash, its histogram). The index is open addressing with linear probing over row
 * numbers, each beside the hash of its key, so that hardly a row is looked at which is not the one.
 * Only its first `active` slots are in use: it doubles as rows come (at most half full), so a table
 * with few rows touches, and clears, little memory. A histogram is a spine, one chunk number per
 * octave, over chunks of 32 counters that are handed out on demand. Everything refers by number,
 * not by address, because the arrays of a growing table move.
 *
 * Who changes a table first reserves (the only step that can fail), then inserts freely. */
#ifndef DFT_TABLE_H
#define DFT_TABLE_H

#include <string.h>

#include "aggregator/aggregate.h"
#include "aggregator/cursor.h"
#include "aggregator/pattern.h"

#define DFT_SLOTS_MIN    64u
#define DFT_RECENT       128u
#define DFT_RECENT_FILES 64u
#define DFT_TABLE_AHEAD                                                                                                \
    8u /* so far ahead is memory fetched: enough for what the memory takes, few enough to stay in the cache */

struct dft_table_slot {
    uint32_t hash, row; /* number + 1, 0 free */
};

struct dft_link {
    uint32_t hash;
    union {               /* number + 1, 0 none */
        uint32_t spine;   /* of a histogram row its own, of a call row that of its histogram row */
        uint32_t pattern; /* of a file row */
    };
};

/* Where the last event of a call, or on a file, went: valid for what lies in [from_ns, to_ns), one
 * interval. */
struct dft_recent {
    uint64_t subject, region, traits;
    uint64_t from_ns, to_ns;
    uint64_t part_ns, part_end_ns; /* of the interval the 64th whose bit the row has because of it */
    uint32_t row, spine;           /* number; number + 1; of a file `spine` is not used */
};

struct dft_table {
    uint64_t interval_ns;
    unsigned keep;
    uint8_t growing; /* arrays are on the heap */
    uint8_t sorted;
    uint32_t count, capacity, links_capacity;
    uint32_t active, slots_capacity;
    uint32_t nspines, spines_capacity;
    uint32_t nchunks, chunks_capacity;
    uint32_t npatterns, patterns_capacity;
    size_t bins_capacity;
    struct dft_row *rows;
    struct dft_link *links;
    struct dft_table_slot *slots; /* also scratch of the sort */
    struct dft_spine *spines;
    struct dft_chunk *chunks;
    struct dft_pattern *patterns; /* of file rows */
    struct dft_bin *bins;         /* lists that dft_table_rows makes */
    struct dft_recent recent[DFT_RECENT];
    struct dft_recent recent_files[DFT_RECENT_FILES];
    struct dft_cursor cursors[DFT_CURSORS];
};

/* Adds to the rows what cursors have summed up. */
void dft_table_settle(struct dft_table *table);

/* So much room. Patterns are one for each file row. */
struct dft_table_need {
    uint32_t rows, spines, chunks, patterns;
};

/* Makes room for so much more. 0, -ENOSPC or -ENOMEM. */
int dft_table_reserve_slow(struct dft_table *, const struct dft_table_need *need);

static inline int dft_table_reserve(struct dft_table *table, uint32_t rows, uint32_t spines, uint32_t chunks,
                                    uint32_t patterns)
{
    if (table->capacity - table->count >= rows && table->spines_capacity - table->nspines >= spines &&
        table->chunks_capacity - table->nchunks >= chunks && table->patterns_capacity - table->npatterns >= patterns)
        return 0;
    return dft_table_reserve_slow(table, &(struct dft_table_need){rows, spines, chunks, patterns});
}

/* The most that an event can need: three call rows, a histogram, three file rows; a chunk of
 * durations, one of sizes, one of sizes requested; a pattern. */
static inline int dft_table_reserve_event(struct dft_table *table)
{
    return dft_table_reserve(table, 7, 1, 3, table->keep & DFT_KEEP_FILES ? 1 : 0);
}

/* What makes a row that row. The first eight bytes are those of a row. File rows have 0 in op and in what stands behind
 * io, other rows in class. */
struct dft_key {
    uint8_t kind, class, op, io, size_class, access;
    uint16_t err;
    uint64_t interval, region, subject;
};
_Static_assert(offsetof(struct dft_key, err) == offsetof(struct dft_row, err) && offsetof(struct dft_row, err) == 6 &&
                   offsetof(struct dft_key, access) == offsetof(struct dft_row, access),
               "traits are eight bytes, and alike");

/* The first eight bytes of a key, or of a row, as one word. */
static inline uint64_t dft_table_traits(const void *key_or_row)
{
    uint64_t traits;

    memcpy(&traits, key_or_row, sizeof traits);
    return traits;
}

/* The number of the row with this key, made empty when it was not there. Room must have been
 * reserved. */
uint32_t dft_table_find(struct dft_table *, const struct dft_key *key);
/* The same in two steps, with what is likely needed fetched into the cache between them: hash, then
 * slot and row. */
uint32_t dft_table_find_hashed(struct dft_table *, const struct dft_key *key, uint32_t hash);
uint32_t dft_table_hash(const struct dft_key *key);

static inline void dft_table_fetch_slot(const struct dft_table *table, uint32_t hash)
{
    __builtin_prefetch(&table->slots[hash & (table->active - 1)]);
}

static inline void dft_table_fetch_row(const struct dft_table *table, uint32_t hash, int with_data)
{
    uint32_t mask = table->active - 1, at = hash & mask;
    const char *row;

    while (table->slots[at].row && table->slots[at].hash != hash)
        at = (at + 1) & mask;
    if (!table->slots[at].row)
        return;
    row = (const char *)&table->rows[table->slots[at].row - 1];
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + 64, 1);
    __builtin_prefetch(row + 192, 1);
    if (with_data)
        __builtin_prefetch(row + 128, 1);
}

/* Builds the index anew over `active` slots. */
void dft_table_index(struct dft_table *);

/* A zeroed chunk, its number + 1. Room must have been reserved. */
uint32_t dft_table_take_chunk(struct dft_table *);

/* The pattern of a file row, which is empty where there was none. Room for it must have been
 * reserved. */
static inline struct dft_pattern *dft_table_pattern(struct dft_table *table, uint32_t row)
{
    struct dft_link *link = &table->links[row];

    if (!link->pattern) {
        memset(&table->patterns[table->npatterns], 0, sizeof(*table->patterns));
        link->pattern = ++table->npatterns;
    }
    return &table->patterns[link->pattern - 1];
}

/* Counts a value `count` times. Room for a chunk must have been reserved. */
static inline void dft_table_count_bin(struct dft_table *table, uint32_t spine, int which, uint32_t bin, uint64_t count)
{
    uint32_t *chunk = &table->spines[spine - 1].chunks[which][bin / DFT_CHUNK_BINS];

    if (__builtin_expect(!*chunk, 0))
        *chunk = dft_table_take_chunk(table);
    table->chunks[*chunk - 1].counts[bin % DFT_CHUNK_BINS] += count;
}

/* dft_metrics_merge, for where a call would cost more than the work. Branches, not conditional
 * moves: extremes seldom change, and a store that is not made is the cheapest. */
static inline __attribute__((always_inline)) void dft_metrics_merge_inline(struct dft_metrics *into,
                                                                           const struct dft_metrics *from)
{
#define DFT_SUM(field) (into->field += from->field)
#define DFT_MIN(field)                                                                                                 \
    do {                                                                                                               \
        if (from->field < into->field)                                                                                 \
            into->field = from->field;                                                                                 \
    } while (0)
#define DFT_MAX(field)                                                                                                 \
    do {                                                                                                               \
        if (from->field > into->field)                                                                                 \
            into->field = from->field;                                                                                 \
    } while (0)
    DFT_SUM(count);
    DFT_SUM(samples);
    DFT_SUM(errors);
    DFT_SUM(dur_sum);
    DFT_MIN(dur_min);
    DFT_MAX(dur_max);
    DFT_SUM(edge);
    into->step = (int64_t)((uint64_t)into->step + (uint64_t)from->step);
    DFT_MIN(first_start);
    DFT_MAX(last_end);
    into->occupancy |= from->occupancy;
    DFT_SUM(strided);
    DFT_SUM(random);
    if (!from->data)
        return;
    DFT_SUM(data);
    DFT_SUM(bytes);
    DFT_MIN(size_min);
    DFT_MAX(size_max);
    DFT_MIN(offset_min);
    DFT_MAX(offset_max);
    DFT_SUM(sequential);
    DFT_SUM(consecutive);
    DFT_SUM(asked);
    DFT_SUM(turns);
#undef DFT_SUM
#undef DFT_MIN
#undef DFT_MAX
}

/* One by one: gcc would clear the whole with one instruction that takes long to begin. */
static inline __attribute__((always_inline)) void dft_metrics_clear_inline(struct dft_metrics *metrics)
{
    metrics->count = metrics->samples = metrics->errors = 0;
    metrics->dur_sum = metrics->dur_max = metrics->edge = 0;
    metrics->step = 0;
    metrics->last_end = metrics->data = metrics->bytes = metrics->size_max = 0;
    metrics->sequential = metrics->consecutive = metrics->asked = metrics->turns = metrics->occupancy = 0;
    metrics->strided = metrics->random = 0;
    metrics->dur_min = metrics->size_min = metrics->first_start = UINT64_MAX;
    metrics->offset_min = INT64_MAX;
    metrics->offset_max = -1;
}
_Static_assert(sizeof(struct dft_metrics) == 23 * sizeof(uint64_t), "all fields are cleared");

#endif
