/* SPDX-License-Identifier: MIT */
/* A map from group keys to dense numbers 0, 1, ...; one thread. */
#ifndef DFT_GROUP_MAP_H
#define DFT_GROUP_MAP_H

#include "query/query.h"

struct dft_group_slot {
    uint32_t hash, number; /* lower half of the key's; number + 1, 0 free */
};

struct dft_group_map {
    struct dft_group_key *keys; /* by number */
    uint32_t count, capacity;
    struct dft_group_slot *slots; /* a power of two of them, at most half in use */
    uint32_t nslots;
};

/* An empty map is all zero. Returns 0 and the number of the key (added when new), or -ENOMEM. The
 * key's padding must be zero. */
int dft_group_map_get(struct dft_group_map *map, const struct dft_group_key *key, uint32_t *number);
/* The same for many keys, much faster where there are many numbers. */
int dft_group_map_get_all(struct dft_group_map *map, const struct dft_group_key *keys, uint32_t count,
                          uint32_t *numbers);
/* The number of a key, or -1. */
int64_t dft_group_map_find(const struct dft_group_map *map, const struct dft_group_key *key);
/* Bytes that its keys take. */
size_t dft_group_map_used(const struct dft_group_map *map);
/* Forgets the keys and keeps the memory. */
void dft_group_map_clear(struct dft_group_map *map);
void dft_group_map_fini(struct dft_group_map *map);
/* The map uses the lower half of the hash; the upper one is for whoever divides keys otherwise. */
uint64_t dft_group_hash(const struct dft_group_key *key);

#endif
