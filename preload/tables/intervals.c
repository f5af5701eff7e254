/* SPDX-License-Identifier: MIT */
/* Owns the slots of the intervals, 64 slots to a chunk.
 *
 * A slot's word is generation << 3 | state. The other fields change only while the slot is BUSY. So
 * a reader who finds the same word before and after has read one interval. A chunk has a bit a slot
 * (taken or not). One more word holds the number of its intervals and the range of megabytes that
 * they touch. So a search skips most chunks: neighbours in the table were mapped one after the
 * other, and lie near each other. */
#include "tables/intervals.h"

#include "os/sys.h"

#define MEGABYTE_BITS 20
#define MEGABYTE_MAX  ((UINT64_C(1) << 28) - 1)

struct slot {
    _Atomic uint64_t word;
    _Atomic uint64_t number;
    _Atomic uintptr_t start, end;
    _Atomic uint64_t file;
    _Atomic int64_t offset;
};

struct chunk {
    _Atomic uint64_t taken;
    _Atomic uint64_t bounds; /* 0..6 intervals, 7..34 first megabyte, 35..62 last one */
};

struct table {
    struct chunk chunks[DFT_MAPS_CHUNKS];
    struct slot slots[DFT_MAPS_SLOTS];
};

_Atomic uint32_t dft_maps_used;

static struct table *table;        /* atomic */
static _Atomic uint32_t nchunks;   /* an upper bound of the chunks used so far */
static _Atomic uint32_t free_from; /* where to begin the search for a free slot */

/* --- chunks ----------------------------------------------------------------------------------- */

static uint64_t megabyte(uintptr_t address)
{
    uint64_t n = (uint64_t)address >> MEGABYTE_BITS;

    return n < MEGABYTE_MAX ? n : MEGABYTE_MAX;
}

static uint64_t make_bounds(uint64_t count, uint64_t first, uint64_t last)
{
    return count | first << 7 | last << 35;
}

static int touches(uint64_t bounds, struct dft_range range)
{
    return bounds & 127 && (bounds >> 7 & MEGABYTE_MAX) <= megabyte(range.end - 1) &&
           bounds >> 35 >= megabyte(range.start);
}

/* Widens the bounds of a chunk by one more interval. */
static void widen(struct chunk *chunk, struct dft_range range)
{
    uint64_t before = atomic_load_explicit(&chunk->bounds, memory_order_relaxed), after;

    do {
        uint64_t first = megabyte(range.start), last = megabyte(range.end - 1);

        if (before & 127) {
            uint64_t low = before >> 7 & MEGABYTE_MAX, high = before >> 35;

            first = low < first ? low : first;
            last = high > last ? high : last;
        }
        after = make_bounds((before & 127) + 1, first, last);
    } while (!atomic_compare_exchange_weak_explicit(&chunk->bounds, &before, after, memory_order_release,
                                                    memory_order_relaxed));
}

static struct table *table_get(void)
{
    struct table *made = __atomic_load_n(&table, __ATOMIC_ACQUIRE), *none = NULL;

    if (made)
        return made;
    made = dft_sys_reserve(sizeof *made);
    if (!made || __atomic_compare_exchange_n(&table, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    DFT_SYS(munmap, made, sizeof *made, 0, 0, 0, 0);
    return none;
}

void dft_maps_reserve(void)
{
    table_get();
}

static void raise_chunks(uint32_t to)
{
    uint32_t seen = atomic_load_explicit(&nchunks, memory_order_relaxed);

    while (seen < to &&
           !atomic_compare_exchange_weak_explicit(&nchunks, &seen, to, memory_order_release, memory_order_relaxed))
        ;
}

/* Takes a free slot of the chunk. Returns its number in the table, or -1. */
static int claim_in(uint32_t at)
{
    struct chunk *chunk = &table->chunks[at];
    uint64_t taken = atomic_load_explicit(&chunk->taken, memory_order_relaxed);

    while (~taken) {
        uint32_t bit = (uint32_t)__builtin_ctzll(~taken);

        if (atomic_compare_exchange_weak_explicit(&chunk->taken, &taken, taken | UINT64_C(1) << bit,
                                                  memory_order_acquire, memory_order_relaxed))
            return (int)(at * DFT_MAPS_CHUNK + bit);
    }
    return -1;
}

/* Takes a free slot. Returns -1 when all but `spare` slots are taken. */
static int claim(uint32_t spare)
{
    uint32_t first = atomic_load_explicit(&free_from, memory_order_relaxed);

    if (!table_get() || atomic_load_explicit(&dft_maps_used, memory_order_relaxed) >= DFT_MAPS_SLOTS - spare)
        return -1;
    for (uint32_t i = 0; i < DFT_MAPS_CHUNKS; i++) {
        uint32_t at = (first + i) % DFT_MAPS_CHUNKS;
        int slot = claim_in(at);

        if (slot < 0)
            continue;
        atomic_fetch_add_explicit(&dft_maps_used, 1, memory_order_relaxed);
        if (i)
            atomic_store_explicit(&free_from, at, memory_order_relaxed);
        raise_chunks(at + 1);
        return slot;
    }
    return -1;
}

/* --- slots ------------------------------------------------------------------------------------ */

int dft_interval_publish(const struct dft_mapped_range *map, uint64_t number, enum dft_interval_state state,
                         uint32_t spare)
{
    int at = claim(spare);
    struct slot *slot = at < 0 ? NULL : &table->slots[at];
    uint64_t generation;

    if (!slot)
        return -1;
    generation = (atomic_load_explicit(&slot->word, memory_order_relaxed) >> 3) + 1;
    atomic_store_explicit(&slot->word, generation << 3 | DFT_INTERVAL_BUSY, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->number, number, memory_order_relaxed);
    atomic_store_explicit(&slot->start, map->start, memory_order_relaxed);
    atomic_store_explicit(&slot->end, map->end, memory_order_relaxed);
    atomic_store_explicit(&slot->file, map->file, memory_order_relaxed);
    atomic_store_explicit(&slot->offset, map->offset, memory_order_relaxed);
    widen(&table->chunks[(uint32_t)at / DFT_MAPS_CHUNK], (struct dft_range){map->start, map->end});
    atomic_store_explicit(&slot->word, generation << 3 | (uint64_t)state, memory_order_release);
    return at;
}

int dft_interval_change(struct dft_interval *interval, enum dft_interval_state state)
{
    uint64_t to = (interval->word & ~UINT64_C(7)) | (uint64_t)state;

    if (!atomic_compare_exchange_strong_explicit(&table->slots[interval->slot].word, &interval->word, to,
                                                 memory_order_seq_cst, memory_order_relaxed))
        return 0;
    interval->word = to;
    return 1;
}

int dft_interval_retire(struct dft_interval *interval)
{
    uint32_t chunk = interval->slot / DFT_MAPS_CHUNK;
    uint64_t bit = UINT64_C(1) << interval->slot % DFT_MAPS_CHUNK;

    if (!dft_interval_change(interval, DFT_INTERVAL_FREE))
        return 0;
    atomic_fetch_sub_explicit(&table->chunks[chunk].bounds, 1, memory_order_relaxed);
    atomic_fetch_and_explicit(&table->chunks[chunk].taken, ~bit, memory_order_release);
    atomic_fetch_sub_explicit(&dft_maps_used, 1, memory_order_relaxed);
    if (chunk < atomic_load_explicit(&free_from, memory_order_relaxed))
        atomic_store_explicit(&free_from, chunk, memory_order_relaxed);
    return 1;
}

int dft_interval_read(uint32_t at, struct dft_interval *seen)
{
    struct slot *slot = &table->slots[at];
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

    for (;;) {
        if ((word & 7) <= DFT_INTERVAL_BUSY)
            return 0;
        seen->slot = at;
        seen->word = word;
        seen->number = atomic_load_explicit(&slot->number, memory_order_relaxed);
        seen->map.start = atomic_load_explicit(&slot->start, memory_order_relaxed);
        seen->map.end = atomic_load_explicit(&slot->end, memory_order_relaxed);
        seen->map.file = atomic_load_explicit(&slot->file, memory_order_relaxed);
        seen->map.offset = atomic_load_explicit(&slot->offset, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        word = atomic_load_explicit(&slot->word, memory_order_acquire);
        if (word == seen->word)
            return 1;
    }
}

/* --- searching -------------------------------------------------------------------------------- */

struct dft_walk dft_walk_begin(struct dft_range range)
{
    return (struct dft_walk){.range = range, .end = atomic_load_explicit(&nchunks, memory_order_acquire)};
}

/* A first test, which may read fields of different intervals. This test is enough for most
 * slots. */
static inline int may_touch(uint32_t at, struct dft_range range)
{
    const struct slot *slot = &table->slots[at];

    return atomic_load_explicit(&slot->start, memory_order_relaxed) < range.end &&
           atomic_load_explicit(&slot->end, memory_order_relaxed) > range.start;
}

int dft_walk_next(struct dft_walk *walk, struct dft_interval *seen)
{
    for (;;) {
        uint32_t at;

        while (!walk->bits) {
            struct chunk *chunk = &table->chunks[walk->next];

            if (walk->next++ >= walk->end)
                return 0;
            if (touches(atomic_load_explicit(&chunk->bounds, memory_order_acquire), walk->range))
                walk->bits = atomic_load_explicit(&chunk->taken, memory_order_acquire);
        }
        at = (walk->next - 1) * DFT_MAPS_CHUNK + (uint32_t)__builtin_ctzll(walk->bits);
        walk->bits &= walk->bits - 1;
        if (may_touch(at, walk->range) && dft_interval_read(at, seen) && seen->map.start < walk->range.end &&
            seen->map.end > walk->range.start)
            return 1;
    }
}
