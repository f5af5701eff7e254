/* SPDX-License-Identifier: MIT */
/* Tables of aggregate rows: their memory, the hash index, and clearing. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/pages.h"

_Static_assert(sizeof(struct dft_row) == 256, "four cache lines; see row.h");

#define DFT_GROWING_ROWS_MAX (1u << 30) /* row numbers and twice as many slots fit 32 bits */

/* Enough for one row with every octave in use, and for calls whose times spread over a few. */
static uint32_t table_chunks_for(uint32_t rows)
{
    return DFT_HISTOGRAMS * DFT_CHUNKS_OF_SPINE + 6 * rows;
}

static uint32_t table_slots_for(uint32_t rows)
{
    uint32_t slots = DFT_SLOTS_MIN;

    while (slots < 2 * rows)
        slots *= 2;
    return slots;
}

static uint32_t table_clamp_rows(uint32_t rows)
{
    if (rows < DFT_TABLE_ROWS_MIN)
        return DFT_TABLE_ROWS_MIN;
    return rows > DFT_TABLE_ROWS_MAX ? DFT_TABLE_ROWS_MAX : rows;
}

static size_t table_take(size_t *used, size_t bytes)
{
    size_t at = *used;

    *used += (bytes + 63) & ~(size_t)63;
    return at;
}

/* Lays out a fixed table; with memory, points its arrays there. Returns the bytes needed. */
static size_t table_lay_out(char *memory, uint32_t rows)
{
    struct dft_table *table = (struct dft_table *)(void *)memory;
    uint32_t chunks = table_chunks_for(rows), slots = table_slots_for(rows);
    size_t bins = (size_t)chunks * DFT_CHUNK_BINS, used = 0;

    table_take(&used, sizeof(*table));
    size_t slots_at = table_take(&used, slots * sizeof(*table->slots));
    size_t links_at = table_take(&used, rows * sizeof(*table->links));
    size_t rows_at = table_take(&used, rows * sizeof(*table->rows));
    size_t spines_at = table_take(&used, rows * sizeof(*table->spines));
    size_t chunks_at = table_take(&used, chunks * sizeof(*table->chunks));
    size_t patterns_at = table_take(&used, rows * sizeof(*table->patterns));
    size_t bins_at = table_take(&used, bins * sizeof(*table->bins));
    if (memory) {
        table->capacity = table->spines_capacity = table->patterns_capacity = rows;
        table->slots_capacity = slots;
        table->chunks_capacity = chunks;
        table->bins_capacity = bins;
        table->slots = (void *)(memory + slots_at);
        table->links = (void *)(memory + links_at);
        table->rows = (void *)(memory + rows_at);
        table->spines = (void *)(memory + spines_at);
        table->chunks = (void *)(memory + chunks_at);
        table->patterns = (void *)(memory + patterns_at);
        table->bins = (void *)(memory + bins_at);
    }
    return used;
}

size_t dft_table_bytes(uint32_t rows)
{
    return table_lay_out(NULL, table_clamp_rows(rows));
}

struct dft_table *dft_table_init(void *memory, uint32_t rows, uint64_t interval_ns, unsigned keep)
{
    struct dft_table *table = memory;

    if (!interval_ns || interval_ns > DFT_INTERVAL_NS_MAX)
        return NULL;
    table_lay_out(memory, table_clamp_rows(rows));
    table->interval_ns = interval_ns;
    table->keep = keep;
    table->active = DFT_SLOTS_MIN;
    table->sorted = 1;
    return table;
}

struct dft_table *dft_table_create(uint64_t interval_ns, unsigned keep)
{
    struct dft_table *table;

    if (!interval_ns || interval_ns > DFT_INTERVAL_NS_MAX)
        return NULL;
    table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->slots = calloc(DFT_SLOTS_MIN, sizeof(*table->slots));
    if (!table->slots) {
        free(table);
        return NULL;
    }
    table->interval_ns = interval_ns;
    table->keep = keep;
    table->growing = table->sorted = 1;
    table->active = table->slots_capacity = DFT_SLOTS_MIN;
    return table;
}

void dft_table_destroy(struct dft_table *table)
{
    if (!table)
        return;
    dft_pages_free(table->rows, table->capacity * sizeof(*table->rows));
    dft_pages_free(table->links, table->links_capacity * sizeof(*table->links));
    dft_pages_free(table->slots, table->slots_capacity * sizeof(*table->slots));
    dft_pages_free(table->spines, table->spines_capacity * sizeof(*table->spines));
    dft_pages_free(table->chunks, table->chunks_capacity * sizeof(*table->chunks));
    dft_pages_free(table->patterns, table->patterns_capacity * sizeof(*table->patterns));
    dft_pages_free(table->bins, table->bins_capacity * sizeof(*table->bins));
    free(table);
}

/* Grows one array to hold `need` elements, by half at least. On failure it stays as it is. */
static int table_grow(void *array, uint32_t *capacity, uint64_t need, size_t element)
{
    uint64_t wanted = *capacity + (uint64_t)*capacity / 2 + 16;
    void *bigger;

    if (need <= *capacity)
        return 0;
    if (wanted < need)
        wanted = need;
    if (wanted > DFT_GROWING_ROWS_MAX)
        return -ENOMEM;
    bigger = dft_pages_grow(*(void **)array, *capacity * element, wanted * element);
    if (!bigger)
        return -ENOMEM;
    *(void **)array = bigger;
    *capacity = (uint32_t)wanted;
    return 0;
}

int dft_table_reserve_slow(struct dft_table *table, const struct dft_table_need *need)
{
    uint64_t need_rows = (uint64_t)table->count + need->rows;
    int rc;

    if (!table->growing)
        return -ENOSPC;
    /* The rows come last: their capacity vouches for the links and slots. */
    rc = table_grow(&table->links, &table->links_capacity, need_rows, sizeof(*table->links));
    if (!rc)
        rc = table_grow(&table->slots, &table->slots_capacity, table_slots_for(table->links_capacity),
                        sizeof(*table->slots));
    if (!rc)
        rc = table_grow(&table->rows, &table->capacity, need_rows, sizeof(*table->rows));
    if (!rc)
        rc = table_grow(&table->spines, &table->spines_capacity, (uint64_t)table->nspines + need->spines,
                        sizeof(*table->spines));
    if (!rc)
        rc = table_grow(&table->chunks, &table->chunks_capacity, (uint64_t)table->nchunks + need->chunks,
                        sizeof(*table->chunks));
    if (!rc)
        rc = table_grow(&table->patterns, &table->patterns_capacity, (uint64_t)table->npatterns + need->patterns,
                        sizeof(*table->patterns));
    return rc;
}

/* Murmur3's 64-bit finaliser (A. Appleby, public domain) over the fields, one multiplication
 * each. */
uint32_t dft_table_hash(const struct dft_key *key)
{
    uint64_t h = (key->subject ^ (key->subject >> 32)) + dft_table_traits(key) * UINT64_C(0xd6e8feb86659fd93);

    h = (h ^ (h >> 32)) * UINT64_C(0x9e3779b97f4a7c15) + key->region;
    h = (h ^ (h >> 29)) * UINT64_C(0xff51afd7ed558ccd) + key->interval;
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 32);
}

void dft_table_index(struct dft_table *table)
{
    uint32_t mask = table->active - 1;

    memset(table->slots, 0, table->active * sizeof(*table->slots));
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t hash = table->links[i].hash, at = hash & mask;

        if (i + DFT_TABLE_AHEAD < table->count)
            dft_table_fetch_slot(table, table->links[i + DFT_TABLE_AHEAD].hash);
        while (table->slots[at].row)
            at = (at + 1) & mask;
        table->slots[at] = (struct dft_table_slot){hash, i + 1};
    }
}

static int table_is_of_key(const struct dft_row *a, const struct dft_key *b)
{
    return a->subject == b->subject && a->interval == b->interval && a->region == b->region &&
           dft_table_traits(a) == dft_table_traits(b);
}

static uint32_t table_insert(struct dft_table *table, const struct dft_key *key, uint32_t hash, uint32_t at)
{
    uint32_t number = table->count++;
    struct dft_row *row = &table->rows[number];

    *row = (struct dft_row){.kind = key->kind,
                            .class = key->class,
                            .op = key->op,
                            .io = key->io,
                            .size_class = key->size_class,
                            .access = key->access,
                            .err = key->err,
                            .interval = key->interval,
                            .region = key->region,
                            .subject = key->subject};
    dft_metrics_clear_inline(&row->metrics);
    table->links[number] = (struct dft_link){.hash = hash};
    table->sorted = 0;
    if (key->kind == DFT_ROW_HISTOGRAM) {
        memset(&table->spines[table->nspines], 0, sizeof(*table->spines));
        table->links[number].spine = ++table->nspines;
    }
    if (2 * table->count > table->active) {
        table->active *= 2;
        dft_table_index(table);
    } else {
        table->slots[at] = (struct dft_table_slot){hash, number + 1};
    }
    return number;
}

uint32_t dft_table_find_hashed(struct dft_table *table, const struct dft_key *key, uint32_t hash)
{
    uint32_t mask = table->active - 1, at;

    for (at = hash & mask; table->slots[at].row; at = (at + 1) & mask) {
        const struct dft_table_slot *slot = &table->slots[at];

        if (slot->hash == hash && table_is_of_key(&table->rows[slot->row - 1], key))
            return slot->row - 1;
    }
    return table_insert(table, key, hash, at);
}

uint32_t dft_table_find(struct dft_table *table, const struct dft_key *key)
{
    return dft_table_find_hashed(table, key, dft_table_hash(key));
}

uint32_t dft_table_take_chunk(struct dft_table *table)
{
    memset(&table->chunks[table->nchunks], 0, sizeof(*table->chunks));
    return ++table->nchunks;
}

uint32_t dft_table_count(const struct dft_table *table)
{
    return table->count;
}

size_t dft_table_used(const struct dft_table *table)
{
    size_t of_row = sizeof(*table->rows) + sizeof(*table->links);
    size_t of_chunk = sizeof(*table->chunks) + DFT_CHUNK_BINS / 2 * sizeof(*table->bins); /* mostly fewer bins */

    return table->count * of_row + table->active * sizeof(*table->slots) + table->nspines * sizeof(*table->spines) +
           table->npatterns * sizeof(*table->patterns) + table->nchunks * of_chunk;
}

void dft_table_clear(struct dft_table *table)
{
    memset(table->slots, 0, table->active * sizeof(*table->slots));
    memset(table->recent, 0, sizeof(table->recent));
    memset(table->recent_files, 0, sizeof(table->recent_files));
    for (uint32_t i = 0; i < DFT_CURSORS; i++) {
        table->cursors[i].width_ns = table->cursors[i].same_count = 0;
        table->cursors[i].samples = 0;
    }
    table->active = DFT_SLOTS_MIN;
    table->count = table->nspines = table->nchunks = table->npatterns = 0;
    table->sorted = 1;
}
