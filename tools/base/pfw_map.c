/* The map: grown at two thirds. */
#include "base/pfw_map.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 64u

void dft_pfw_map_fini(struct dft_pfw_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

void dft_pfw_map_clear(struct dft_pfw_map *map)
{
    if (map->count)
        memset(map->slots, 0, map->room * sizeof *map->slots);
    map->count = 0;
}

static struct dft_pfw_slot *place(const struct dft_pfw_map *map, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (map->room - 1);

    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->slots[at];
}

static int grow(struct dft_pfw_map *map)
{
    struct dft_pfw_map bigger = {.count = map->count, .room = map->room ? 2 * map->room : ROOM_MIN};

    bigger.slots = calloc(bigger.room, sizeof *bigger.slots);
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].key)
            *place(&bigger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = bigger;
    return 0;
}

uint64_t *dft_pfw_map_put(struct dft_pfw_map *map, uint64_t key)
{
    struct dft_pfw_slot *slot;

    if (3 * (map->count + 1) > 2 * map->room && grow(map))
        return NULL;
    slot = place(map, key);
    if (!slot->key) {
        slot->key = key;
        map->count++;
    }
    return &slot->value;
}
