/* SPDX-License-Identifier: MIT */
/* 64-bit numbers to 64-bit numbers: open addressing, keys that are hashes already. Key 0 cannot be kept. */
#ifndef DFT_MAP_H
#define DFT_MAP_H

#include <stddef.h>
#include <stdint.h>

struct dft_map_slot {
    uint64_t key, value;
};

struct dft_map {
    struct dft_map_slot *slots;
    size_t count, capacity; /* capacity: 0 or a power of two */
};

void dft_map_fini(struct dft_map *map);
/* Forgets all keys, keeps the memory. */
void dft_map_clear(struct dft_map *map);
/* The place of a key's value, made with value 0 when it was not there. NULL: no memory. */
uint64_t *dft_map_put(struct dft_map *map, uint64_t key);

static inline uint64_t *dft_map_find(const struct dft_map *map, uint64_t key)
{
    size_t at;

    if (!map->capacity)
        return NULL;
    at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (map->capacity - 1);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return map->slots[at].key ? &map->slots[at].value : NULL;
}

/* One key of two numbers. */
static inline uint64_t dft_map_join(uint64_t a, uint64_t b)
{
    uint64_t key = (a ^ (b + 1) * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);

    key ^= key >> 32;
    return key ? key : 1;
}

#endif
