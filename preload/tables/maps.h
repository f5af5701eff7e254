/* SPDX-License-Identifier: MIT */
/* Maps address ranges to files: which parts of the address space are mappings of traced files.
 *
 * The table is a small log of numbered intervals. Where several intervals cover a page, the highest
 * number is true.
 *
 *   a mapping   these pages show this file from this offset on
 *   a cut       these pages show no file (they were unmapped, or replaced)
 *
 * An unmap is a cut. The cut is made before the real call. As soon as the call has returned,
 * another thread may map something there. The cut stays open until the call has returned. Then the
 * cut is settled, or taken back as if it had never been. A published interval never changes, so
 * readers need no lock. Settling frees slots. The mappings under the cut are replaced by their
 * remaining pieces, with the same number. Then the cut is removed. So the table at rest has one
 * interval a mapping, and no cuts.
 *
 *   who                             may
 *   any thread, handlers, vfork     everything, at any time
 *                                   (the child of a vfork changes its parent's memory)
 *   a forked child                  goes on with the table as it was: mappings are inherited
 *
 * No thread ever waits for another. A thread that never comes back leaves a slot or two behind.
 * Examples are a longjmp out of a handler, the end of a vfork child, and the other threads at a
 * fork. No later answer is wrong because of such a slot. The memory of the table is reserved at the
 * first mapping. Mappings beyond the capacity are unknown, and counted. */
#ifndef DFT_MAPS_H
#define DFT_MAPS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DFT_MAPS_CHUNK  64u
#define DFT_MAPS_CHUNKS 1024u
#define DFT_MAPS_SLOTS  (DFT_MAPS_CHUNK * DFT_MAPS_CHUNKS) /* above the default vm.max_map_count */

/* Pages [start, end) show the file from `offset` on, a number of whole pages. In its lowest bits stands the
 * class that the file has of its own (enum dft_io). */
struct dft_mapped_range {
    uintptr_t start, end;
    uint64_t file;
    int64_t offset;
};
#define DFT_MAP_CLASS 15

extern _Atomic uint32_t dft_maps_used; /* slots */

/* Is there anything in the table? Programs that map no traced files pay for this test, and nothing
 * else. */
static inline int dft_maps_any(void)
{
    return (int)__builtin_expect(atomic_load_explicit(&dft_maps_used, memory_order_relaxed) != 0, 0);
}

/* Reserves the memory early, for callers who cannot obtain memory later. */
void dft_maps_reserve(void);

/* Whole pages. A page that the program's range covers only in part belongs to this range. An empty
 * range becomes the page in which it begins. */
struct dft_range {
    uintptr_t start, end;
};
struct dft_range dft_maps_range(const void *address, size_t length);

/* Pages that a call is unmapping. */
struct dft_cut {
    struct dft_range range;
    uint64_t number; /* for dft_maps_find */
    /* 0: the table was full; all mappings that the range touches are forgotten as a whole */
    uint32_t slot;
};

/* Adds a mapping that was just made. Earlier knowledge about its pages is no longer true. Returns 0
 * or -ENOMEM. */
int dft_maps_add(const struct dft_mapped_range *map);

/* Forgets these pages: they now hold something else. */
void dft_maps_forget(struct dft_range range);

/* Finds the first mapped part of the range, as it was before the cut of this number (0: as it is
 * now). Returns 0 when there is none. */
int dft_maps_find(struct dft_range range, uint64_t before, struct dft_mapped_range *found);

/* Cut before the real call. Afterwards settle when the pages are gone, or restore when nothing
 * happened to them. */
struct dft_cut dft_maps_cut(struct dft_range range);
void dft_maps_settle(const struct dft_cut *cut);
void dft_maps_restore(const struct dft_cut *cut);

/* Returns the number of mappings given up for lack of slots since the last call. */
uint32_t dft_maps_take_lost(void);

#endif
