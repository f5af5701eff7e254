/* SPDX-License-Identifier: MIT */
/* Owns the log of mappings and cuts.
 *
 * A search must not miss a mapping that is split meanwhile. A piece may go into a slot that the
 * search has already passed. That piece replaces an interval that the search has not reached yet.
 * So the pieces are published first, then `splits` counts, and then the split mapping goes. A
 * search that missed the pieces sees another count, and starts again. */
#include "tables/maps.h"

#include <errno.h>
#include <sys/auxv.h>

#include "tables/intervals.h"

#define ROOM_FOR_CUTS 4096u /* slots that mappings leave free for cuts and pieces */

static _Atomic uint64_t last_number; /* the highest number of an interval so far */
static _Atomic uint64_t splits;
static _Atomic uint32_t lost;

/* --- searching -------------------------------------------------------------------------------- */

/* Finds the newest interval at the beginning of the range; its number is 0 when there is none.
 * Returns where the next mapping begins. */
static uintptr_t newest_at(struct dft_range range, uint64_t before, struct dft_interval *newest)
{
    struct dft_walk walk = dft_walk_begin(range);
    uintptr_t next = range.end;
    struct dft_interval seen;

    newest->number = 0;
    while (dft_walk_next(&walk, &seen)) {
        if (before && seen.number >= before)
            continue;
        if (seen.map.start > range.start) {
            if (dft_interval_is_map(&seen) && seen.map.start < next)
                next = seen.map.start;
        } else if (seen.number > newest->number) {
            *newest = seen;
        }
    }
    return next;
}

/* Returns the address where the newest interval stops being the newest. */
static uintptr_t end_of(struct dft_range range, uint64_t before, const struct dft_interval *newest)
{
    uintptr_t end = newest->map.end < range.end ? newest->map.end : range.end;
    struct dft_walk walk = dft_walk_begin((struct dft_range){range.start, end});
    struct dft_interval seen;

    while (dft_walk_next(&walk, &seen))
        if (seen.number > newest->number && (!before || seen.number < before) && seen.map.start > range.start &&
            seen.map.start < end)
            end = seen.map.start;
    return end;
}

static int find(struct dft_range range, uint64_t before, struct dft_mapped_range *found)
{
    while (range.start < range.end) {
        struct dft_interval newest;
        uintptr_t next = newest_at(range, before, &newest);

        if (newest.number && dft_interval_is_map(&newest)) {
            found->start = range.start;
            found->end = end_of(range, before, &newest);
            found->file = newest.map.file;
            found->offset = newest.map.offset + (int64_t)(range.start - newest.map.start);
            return 1;
        }
        range.start = newest.number && newest.map.end < next ? newest.map.end : next;
    }
    return 0;
}

int dft_maps_find(struct dft_range range, uint64_t before, struct dft_mapped_range *found)
{
    uint64_t version;
    int is;

    if (!dft_maps_any())
        return 0;
    do {
        version = atomic_load_explicit(&splits, memory_order_acquire);
        is = find(range, before, found);
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&splits, memory_order_relaxed) != version);
    return is;
}

/* --- changing --------------------------------------------------------------------------------- */

static void add_lost(void)
{
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

static void publish_piece(const struct dft_interval *whole, uintptr_t start, uintptr_t end)
{
    const struct dft_mapped_range piece = {start, end, whole->map.file,
                                           whole->map.offset + (int64_t)(start - whole->map.start)};

    if (start < end && dft_interval_publish(&piece, whole->number, DFT_INTERVAL_MAP, 0) < 0)
        add_lost();
}

enum outcome { OUTCOME_GONE, OUTCOME_SPLIT, OUTCOME_CHANGED };

/* Takes a cut out of a mapping. While the mapping is SPLITTING, no other thread splits it, and the
 * mapping is as true as before. Other cuts must wait until its pieces are published, which clean()
 * ensures. */
static enum outcome take_out(struct dft_interval *seen, struct dft_range range)
{
    if (seen->map.start >= range.start && seen->map.end <= range.end)
        return dft_interval_retire(seen) ? OUTCOME_GONE : OUTCOME_CHANGED;
    if (!dft_interval_change(seen, DFT_INTERVAL_SPLITTING))
        return OUTCOME_CHANGED;
    publish_piece(seen, seen->map.start, range.start);
    publish_piece(seen, range.end, seen->map.end);
    atomic_fetch_add_explicit(&splits, 1, memory_order_seq_cst);
    dft_interval_retire(seen);
    return OUTCOME_SPLIT;
}

/* Takes a settled cut out of all older mappings, and then removes the cut itself. Leaves mappings
 * that other threads are splitting to those threads. `wide` grows by the mappings that were split.
 * Returns their number. */
static int clean_one(struct dft_interval *cut, struct dft_range *wide)
{
    const struct dft_range range = {cut->map.start, cut->map.end};
    int nsplit = 0, again, left;
    uint64_t version;

    do {
        struct dft_walk walk = dft_walk_begin(range);
        struct dft_interval seen;

        again = left = 0;
        version = atomic_load_explicit(&splits, memory_order_seq_cst);
        while (dft_walk_next(&walk, &seen)) {
            enum outcome outcome = OUTCOME_CHANGED;

            if (!dft_interval_is_map(&seen) || seen.number >= cut->number)
                continue;
            if (dft_interval_state(&seen) == DFT_INTERVAL_SPLITTING) {
                left++;
                continue;
            }
            outcome = take_out(&seen, range);
            again += outcome != OUTCOME_GONE;
            if (outcome == OUTCOME_SPLIT) {
                nsplit++;
                wide->start = seen.map.start < wide->start ? seen.map.start : wide->start;
                wide->end = seen.map.end > wide->end ? seen.map.end : wide->end;
            }
        }
    } while (again || atomic_load_explicit(&splits, memory_order_seq_cst) != version);
    if (!left)
        dft_interval_retire(cut);
    return nsplit;
}

/* Also cleans cuts that other threads have settled. Those threads may have skipped the mapping that
 * this thread was splitting. */
static void clean(struct dft_range range)
{
    struct dft_range wide = range;
    int again;

    do {
        struct dft_walk walk;
        struct dft_interval seen;

        again = 0;
        atomic_thread_fence(memory_order_seq_cst);
        walk = dft_walk_begin(wide);
        while (dft_walk_next(&walk, &seen))
            if (dft_interval_state(&seen) == DFT_INTERVAL_SETTLED)
                again += clean_one(&seen, &wide);
    } while (again);
}

/* The table has no slot for a cut: retires all mappings that the cut would touch, as a whole. */
static void drop_all(struct dft_range range)
{
    struct dft_walk walk = dft_walk_begin(range);
    struct dft_interval seen;

    while (dft_walk_next(&walk, &seen))
        if (dft_interval_state(&seen) == DFT_INTERVAL_MAP && dft_interval_retire(&seen))
            add_lost();
}

static uint64_t next_number(void)
{
    return atomic_fetch_add_explicit(&last_number, 1, memory_order_acq_rel) + 1;
}

struct dft_cut dft_maps_cut(struct dft_range range)
{
    const struct dft_mapped_range map = {range.start, range.end, 0, 0};
    struct dft_cut cut = {.range = range, .number = next_number()};
    int at = dft_interval_publish(&map, cut.number, DFT_INTERVAL_CUT, 0);

    cut.slot = (uint32_t)(at + 1);
    if (at < 0)
        drop_all(range);
    return cut;
}

void dft_maps_settle(const struct dft_cut *cut)
{
    struct dft_interval seen;

    if (cut->slot && dft_interval_read(cut->slot - 1, &seen) && dft_interval_change(&seen, DFT_INTERVAL_SETTLED))
        clean(cut->range);
}

void dft_maps_restore(const struct dft_cut *cut)
{
    struct dft_interval seen;

    if (cut->slot && dft_interval_read(cut->slot - 1, &seen))
        dft_interval_retire(&seen);
}

void dft_maps_forget(struct dft_range range)
{
    struct dft_mapped_range map;
    struct dft_cut cut;

    if (!dft_maps_find(range, 0, &map))
        return;
    cut = dft_maps_cut(range);
    dft_maps_settle(&cut);
}

int dft_maps_add(const struct dft_mapped_range *map)
{
    dft_maps_forget((struct dft_range){map->start, map->end});
    if (dft_interval_publish(map, next_number(), DFT_INTERVAL_MAP, ROOM_FOR_CUTS) >= 0)
        return 0;
    add_lost();
    return -ENOMEM;
}

/* --- ranges ----------------------------------------------------------------------------------- */

struct dft_range dft_maps_range(const void *address, size_t length)
{
    static _Atomic uintptr_t page;
    uintptr_t mask = atomic_load_explicit(&page, memory_order_relaxed), start = (uintptr_t)address, end;

    if (__builtin_expect(!mask, 0))
        atomic_store_explicit(&page, mask = getauxval(AT_PAGESZ), memory_order_relaxed);
    mask = ~(mask - 1);
    if (__builtin_add_overflow(start, length ? length : 1, &end) || end > mask)
        end = mask;
    else
        end = (end + ~mask) & mask;
    return (struct dft_range){start & mask, end};
}

uint32_t dft_maps_take_lost(void)
{
    return __builtin_expect(atomic_load_explicit(&lost, memory_order_relaxed) != 0, 0)
               ? atomic_exchange_explicit(&lost, 0, memory_order_relaxed)
               : 0;
}
