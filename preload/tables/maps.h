/* SPDX-License-Identifier: MIT */
/* Address range -> file: which parts of the address space are mappings of traced files.
 *
 * The table is a small log of intervals, each with a number; where several cover a page, the one with the highest number is true:
 *
 *   a mapping   these pages show this file from this offset on
 *   a cut       these pages show no file (they were unmapped, or replaced)
 *
 * Unmapping is a cut, made before the real call (as soon as that has returned, another thread may map something there) and open until
 * it has returned: then it is settled, or taken back as if it had never been. An interval never changes once it is there, so whoever
 * looks needs no lock. Settling makes room: mappings under the cut are replaced by what is left of them, with the same
 * number, and then the cut goes. So the table at rest has one interval a mapping, and no cuts.
 *
 *   who                                may
 *   any thread, handlers, vfork        everything, at any time (the child of a vfork changes its parent's memory)
 *   a forked child                     goes on with the table as it was: mappings are inherited
 *
 * Nobody ever waits for anybody. What is left by a thread that never comes back (longjmp out of a handler, the end of a vfork child, other
 * threads at a fork) costs a slot or two; no later answer is wrong for it.
 * The table lies in memory that is reserved at the first mapping. What does not fit is not known, and counted. */
#ifndef DFT_MAPS_H
#define DFT_MAPS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DFT_MAPS_CHUNK  64u
#define DFT_MAPS_CHUNKS 1024u
#define DFT_MAPS_SLOTS                                                                                                 \
    (DFT_MAPS_CHUNK * DFT_MAPS_CHUNKS) /* more than the kernel's own limit, vm.max_map_count, by default */

/* Pages [start, end) show the file from `offset` on. */
struct dft_map {
    uintptr_t start, end;
    uint64_t file;
    int64_t offset;
};

extern _Atomic uint32_t dft_maps_used; /* slots */

/* Is there anything in the table? Programs that map no traced files pay this, and nothing else. */
static inline int dft_maps_any(void)
{
    return (int)__builtin_expect(atomic_load_explicit(&dft_maps_used, memory_order_relaxed) != 0, 0);
}

/* Makes sure that the memory is there, where it cannot be had later. */
void dft_maps_reserve(void);

/* Whole pages: what a program's range begins or ends in the middle of belongs to it; of an empty one, the page that it begins in. */
struct dft_range {
    uintptr_t start, end;
};
struct dft_range dft_maps_range(const void *address, size_t length);

/* These pages are being unmapped. */
struct dft_cut {
    struct dft_range range;
    uint64_t number; /* for dft_maps_find */
    uint32_t slot;   /* 0: there was no room; all mappings that the range touches are forgotten as a whole */
};

/* A mapping that was just made; what was known about its pages is no longer true. Returns 0 or -ENOMEM. */
int dft_maps_add(const struct dft_map *map);

/* These pages are something else now. */
void dft_maps_forget(struct dft_range range);

/* The first mapped part of the range, as it was before the cut of this number (0: as it is). Returns 0 when there is none. */
int dft_maps_find(struct dft_range range, uint64_t before, struct dft_map *found);

/* Before the real call; then one of the other two: the pages are gone, or nothing happened to them. */
struct dft_cut dft_maps_cut(struct dft_range range);
void dft_maps_settle(const struct dft_cut *cut);
void dft_maps_restore(const struct dft_cut *cut);

/* Mappings that were given up for lack of room since the last time. */
uint32_t dft_maps_take_lost(void);

#endif
