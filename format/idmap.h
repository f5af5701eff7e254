/* SPDX-License-Identifier: MIT */
/* A hash map from 64-bit ids to positions in a list, for one block at a time: emptied by a new
 * generation, in memory that is touched only where entries are. The list of ids is the caller's. */
#ifndef DFT_IDMAP_H
#define DFT_IDMAP_H

#include <stdint.h>

struct dft_idmap_slot {
    uint32_t generation; /* of the entry; an older one: free */
    uint32_t position;
};

struct dft_idmap {
    struct dft_idmap_slot *slots; /* zeroed at first, 2 << bits of them */
    uint32_t generation;
    uint32_t shift; /* of the hash: 64 - log2 of the slots in use */
    uint32_t bits;  /* at most 1 << bits entries */
    uint32_t count; /* entries */
};

#define DFT_IDMAP_BITS       16u /* of the largest map */
#define DFT_IDMAP_FIRST_BITS 9u  /* log2 of the slots that an empty map uses */

/* All slots are free. */
static inline void dft_idmap_free_all(struct dft_idmap *map)
{
    if (++map->generation)
        return;
    for (uint32_t i = 0; i < 2u << map->bits; i++)
        map->slots[i].generation = 0;
    map->generation = 1;
}

/* Empties the map, for at most 1 << bits different ids. */
static inline void dft_idmap_reset(struct dft_idmap *map)
{
    map->shift = 64 - (map->bits + 1 < DFT_IDMAP_FIRST_BITS ? map->bits + 1 : DFT_IDMAP_FIRST_BITS);
    map->count = 0;
    dft_idmap_free_all(map);
}

/* The slot of an id: the one that holds it, or (its generation is not the map's) the free one where
 * it would go. ids: where the ids of positions are, `stride` bytes apart. */
static inline struct dft_idmap_slot *dft_idmap_find(const struct dft_idmap *map, uint64_t id, const void *ids,
                                                    uint32_t stride)
{
    uint32_t mask = (uint32_t)((UINT64_C(1) << (64 - map->shift)) - 1);
    uint32_t at = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> map->shift);

    for (;; at++) {
        struct dft_idmap_slot *slot = &map->slots[at & mask];

        if (slot->generation != map->generation)
            return slot;
        if (*(const uint64_t *)((const char *)ids + (uint64_t)slot->position * stride) == id)
            return slot;
    }
}

/* Puts the next position, map->count, into a free slot that was found for its id, which is among the
 * ids by now. A map that is half full takes four times the slots: so one with few ids touches few
 * pages. */
static inline void dft_idmap_add(struct dft_idmap *map, struct dft_idmap_slot *slot, const void *ids, uint32_t stride)
{
    *slot = (struct dft_idmap_slot){map->generation, map->count++};
    if (2 * (uint64_t)map->count <= UINT64_C(1) << (64 - map->shift) || 64 - map->shift > map->bits)
        return;
    map->shift = 64 - map->shift + 2 > map->bits + 1 ? 63 - map->bits : map->shift - 2;
    dft_idmap_free_all(map);
    for (uint32_t i = 0; i < map->count; i++) {
        uint64_t id = *(const uint64_t *)((const char *)ids + (uint64_t)i * stride);

        *dft_idmap_find(map, id, ids, stride) = (struct dft_idmap_slot){map->generation, i};
    }
}

#endif
