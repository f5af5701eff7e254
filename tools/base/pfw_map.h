/* 64-bit numbers to 64-bit numbers: open addressing, keys that are hashes already. Key 0 cannot be kept. */
#ifndef DFT_PFW_MAP_H
#define DFT_PFW_MAP_H

#include <stddef.h>
#include <stdint.h>

struct dft_pfw_slot {
    uint64_t key, value;
};

struct dft_pfw_map {
    struct dft_pfw_slot *slots;
    size_t count, room; /* room: 0 or a power of two */
};

void dft_pfw_map_fini(struct dft_pfw_map *map);
/* Forgets all keys, keeps the memory. */
void dft_pfw_map_clear(struct dft_pfw_map *map);
/* The place of a key's value, made with value 0 when it was not there. NULL: no memory. */
uint64_t *dft_pfw_map_put(struct dft_pfw_map *map, uint64_t key);

static inline uint64_t *dft_pfw_map_find(const struct dft_pfw_map *map, uint64_t key)
{
    size_t at;

    if (!map->room)
        return NULL;
    at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (map->room - 1);
    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return map->slots[at].key ? &map->slots[at].value : NULL;
}

#endif
