/* Group keys -> dense numbers: open addressing with linear probing. */
#include "group_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

_Static_assert(sizeof(struct dft_group_key) == 80, "compared and hashed as ten words");

/* Five products that do not wait for each other: most words are 0, and a chain through all of them takes longer. */
uint64_t dft_group_hash(const struct dft_group_key *key)
{
    static const uint64_t odd[10] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xff51afd7ed558ccd),
                                     UINT64_C(0xc4ceb9fe1a85ec53), UINT64_C(0xbf58476d1ce4e5b9),
                                     UINT64_C(0x94d049bb133111eb), UINT64_C(0xd6e8feb86659fd93),
                                     UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),
                                     UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3)};
    uint64_t words[10], hash = 0;

    memcpy(words, key, sizeof words);
    for (unsigned i = 0; i < 10; i += 2) {
        unsigned __int128 product = (unsigned __int128)(words[i] + odd[i]) * (words[i + 1] + odd[i + 1]);

        hash += (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    hash = (hash ^ hash >> 32) * odd[0];
    return hash ^ hash >> 29;
}

static uint32_t *find_slot(const struct dft_group_map *map, const struct dft_group_key *key)
{
    uint32_t i = (uint32_t)dft_group_hash(key) & (map->nslots - 1);

    while (map->slots[i] && memcmp(&map->keys[map->slots[i] - 1], key, sizeof *key))
        i = (i + 1) & (map->nslots - 1);
    return &map->slots[i];
}

static int grow(struct dft_group_map *map)
{
    uint32_t nslots = map->nslots ? 2 * map->nslots : 256;
    struct dft_group_key *keys;
    uint32_t *slots;

    if (map->count >= UINT32_MAX / 4)
        return -ENOMEM;
    keys = dft_pages_grow(map->keys, map->capacity * sizeof *keys, nslots / 2 * sizeof *keys);
    if (!keys)
        return -ENOMEM;
    map->keys = keys;
    map->capacity = nslots / 2;
    slots = calloc(nslots, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(map->slots);
    map->slots = slots;
    map->nslots = nslots;
    for (uint32_t i = 0; i < map->count; i++)
        *find_slot(map, &keys[i]) = i + 1;
    return 0;
}

int dft_group_map_get(struct dft_group_map *map, const struct dft_group_key *key, uint32_t *number)
{
    uint32_t *slot;

    if (2 * map->count >= map->nslots && grow(map))
        return -ENOMEM;
    slot = find_slot(map, key);
    if (!*slot) {
        map->keys[map->count++] = *key;
        *slot = map->count;
    }
    *number = *slot - 1;
    return 0;
}

int64_t dft_group_map_find(const struct dft_group_map *map, const struct dft_group_key *key)
{
    return map->nslots ? (int64_t)*find_slot(map, key) - 1 : -1;
}

size_t dft_group_map_used(const struct dft_group_map *map)
{
    return map->count * sizeof *map->keys + map->nslots * sizeof *map->slots;
}

void dft_group_map_clear(struct dft_group_map *map)
{
    if (map->count)
        memset(map->slots, 0, map->nslots * sizeof *map->slots);
    map->count = 0;
}

void dft_group_map_fini(struct dft_group_map *map)
{
    dft_pages_free(map->keys, map->capacity * sizeof *map->keys);
    free(map->slots);
    memset(map, 0, sizeof *map);
}
