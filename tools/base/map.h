/* SPDX-License-Identifier: MIT */
/* Maps 64-bit numbers to 64-bit numbers by open addressing. Keys should be hashes already. The map
 * cannot keep key 0. */
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
/* Forgets all keys, but keeps the memory. */
void dft_map_clear(struct dft_map *map);
/* The place of a key's value. A key that was not there gets the value 0. NULL: no memory. */
uint64_t *dft_map_put(struct dft_map *map, uint64_t key);

/* Where a key's search begins. Both halves count: keys may differ in the upper one alone. */
static inline size_t dft_map_at(const struct dft_map *map, uint64_t key)
{
    return (size_t)((key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (map->capacity - 1);
}

static inline uint64_t *dft_map_find(const struct dft_map *map, uint64_t key)
{
    size_t at;

    if (!map->capacity)
        return NULL;
    at = dft_map_at(map, key);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return map->slots[at].key ? &map->slots[at].value : NULL;
}

/* Makes one key from two numbers. */
static inline uint64_t dft_map_join(uint64_t a, uint64_t b)
{
    uint64_t key = (a ^ (b + 1) * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);

    key ^= key >> 32;
    return key ? key : 1;
}

#endif
