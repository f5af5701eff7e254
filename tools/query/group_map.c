/* SPDX-License-Identifier: MIT */
/* Group keys -> dense numbers: open addressing with linear probing. */
#include "query/group_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/pages.h"

#define AHEAD 8u

_Static_assert(sizeof(struct dft_group_key) == 80, "compared and hashed as ten words");

/* Five products that do not wait for each other: most words are 0, and a chain through all of them
 * takes longer. */
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

static struct dft_group_slot *find_slot(const struct dft_group_map *map, const struct dft_group_key *key, uint32_t hash)
{
    uint32_t i = hash & (map->nslots - 1);

    while (map->slots[i].number &&
           (map->slots[i].hash != hash || memcmp(&map->keys[map->slots[i].number - 1], key, sizeof *key)))
        i = (i + 1) & (map->nslots - 1);
    return &map->slots[i];
}

/* The slots know the hashes, so that keys need not be looked at. */
static void move_slots(struct dft_group_map *map, struct dft_group_slot *slots, uint32_t nslots)
{
    for (uint32_t s = 0; s < map->nslots; s++) {
        uint32_t i = map->slots[s].hash & (nslots - 1);

        if (!map->slots[s].number)
            continue;
        while (slots[i].number)
            i = (i + 1) & (nslots - 1);
        slots[i] = map->slots[s];
    }
}

static int grow(struct dft_group_map *map)
{
    uint32_t nslots = map->nslots ? 2 * map->nslots : 256;
    struct dft_group_key *keys;
    struct dft_group_slot *slots;

    if (map->count >= UINT32_MAX / 4)
        return -ENOMEM;
    keys = dft_pages_grow(map->keys, map->capacity * sizeof *keys, nslots / 2 * sizeof *keys);
    if (!keys)
        return -ENOMEM;
    map->keys = keys;
    map->capacity = nslots / 2;
    slots = dft_pages_grow(NULL, 0, nslots * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    memset(slots, 0, nslots * sizeof *slots);
    move_slots(map, slots, nslots);
    dft_pages_free(map->slots, map->nslots * sizeof *slots);
    map->slots = slots;
    map->nslots = nslots;
    return 0;
}

static int get(struct dft_group_map *map, const struct dft_group_key *key, uint32_t hash, uint32_t *number)
{
    struct dft_group_slot *slot;

    if (2 * map->count >= map->nslots && grow(map))
        return -ENOMEM;
    slot = find_slot(map, key, hash);
    if (!slot->number) {
        map->keys[map->count++] = *key;
        *slot = (struct dft_group_slot){hash, map->count};
    }
    *number = slot->number - 1;
    return 0;
}

int dft_group_map_get(struct dft_group_map *map, const struct dft_group_key *key, uint32_t *number)
{
    return get(map, key, (uint32_t)dft_group_hash(key), number);
}

static void fetch_slot(const struct dft_group_map *map, uint32_t hash)
{
    if (map->nslots)
        __builtin_prefetch(&map->slots[hash & (map->nslots - 1)], 1);
}

static void fetch_key(const struct dft_group_map *map, uint32_t hash)
{
    const struct dft_group_slot *slot = map->nslots ? &map->slots[hash & (map->nslots - 1)] : NULL;

    if (slot && slot->number &&
        slot->hash == hash) { /* else it is not the first in its place: it comes without being fetched */
        const char *key = (const char *)&map->keys[slot->number - 1];

        __builtin_prefetch(key);
        __builtin_prefetch(key + sizeof *map->keys - 1);
    }
}

/* As dft_table_merge_rows: slots and keys are fetched into the cache some steps before they are
 * needed. */
int dft_group_map_get_all(struct dft_group_map *map, const struct dft_group_key *keys, uint32_t count,
                          uint32_t *numbers)
{
    uint32_t hashes[4 * AHEAD];
    int rc = 0;

    for (uint64_t i = 0; !rc && i < (uint64_t)count + 2 * AHEAD; i++) {
        if (i < count) {
            hashes[i % (4 * AHEAD)] = (uint32_t)dft_group_hash(&keys[i]);
            fetch_slot(map, hashes[i % (4 * AHEAD)]);
        }
        if (i >= AHEAD && i < (uint64_t)count + AHEAD)
            fetch_key(map, hashes[(i - AHEAD) % (4 * AHEAD)]);
        if (i >= 2 * AHEAD)
            rc = get(map, &keys[i - 2 * AHEAD], hashes[(i - 2 * AHEAD) % (4 * AHEAD)], &numbers[i - 2 * AHEAD]);
    }
    return rc;
}

int64_t dft_group_map_find(const struct dft_group_map *map, const struct dft_group_key *key)
{
    return map->nslots ? (int64_t)find_slot(map, key, (uint32_t)dft_group_hash(key))->number - 1 : -1;
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
    dft_pages_free(map->slots, map->nslots * sizeof *map->slots);
    memset(map, 0, sizeof *map);
}
