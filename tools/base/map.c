/* SPDX-License-Identifier: MIT */
/* The map, which grows when two thirds of the slots are taken. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64u

void dft_map_fini(struct dft_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

void dft_map_clear(struct dft_map *map)
{
    if (map->count)
        memset(map->slots, 0, map->capacity * sizeof *map->slots);
    map->count = 0;
}

static struct dft_map_slot *place(const struct dft_map *map, uint64_t key)
{
    size_t at = dft_map_at(map, key);

    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static int grow(struct dft_map *map)
{
    struct dft_map bigger = {.count = map->count, .capacity = map->capacity ? 2 * map->capacity : CAPACITY_MIN};

    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key)
            *place(&bigger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = bigger;
    return 0;
}

uint64_t *dft_map_put(struct dft_map *map, uint64_t key)
{
    struct dft_map_slot *slot;

    if (3 * (map->count + 1) > 2 * map->capacity && grow(map))
        return NULL;
    slot = place(map, key);
    if (!slot->key) {
        slot->key = key;
        map->count++;
    }
    return &slot->value;
}
