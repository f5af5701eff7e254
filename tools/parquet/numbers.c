/* SPDX-License-Identifier: MIT */
/* Finds the different numbers of a chunk: by a table of all that are possible where these are few,
 * else by a hash. */
#include "parquet/numbers.h"

#define DIRECT_MAX (1u << 18) /* numbers that are possible */
#define UNKNOWN    UINT32_MAX

struct index {
    uint32_t *places; /* positions in `list` */
    uint32_t mask;
    int64_t *list, least;
    uint32_t known, most;
};

static uint32_t index_direct(struct index *index, uint32_t *indices, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *place = &index->places[(uint64_t)values[i] - (uint64_t)index->least];

        if (*place == UNKNOWN) {
            if (index->known == index->most)
                return 0;
            index->list[index->known] = values[i];
            *place = index->known++;
        }
        indices[i] = *place;
    }
    return index->known;
}

static uint32_t index_hashed(struct index *index, uint32_t *indices, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = values[i];
        uint32_t at = (uint32_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 32) & index->mask;

        while (index->places[at] != UNKNOWN && index->list[index->places[at]] != value)
            at = (at + 1) & index->mask;
        if (index->places[at] == UNKNOWN) {
            if (index->known == index->most)
                return 0;
            index->list[index->known] = value;
            index->places[at] = index->known++;
        }
        indices[i] = index->places[at];
    }
    return index->known;
}

uint32_t dft_parquet_index(struct dft_bytes *entries, struct dft_bytes *places, uint32_t *indices,
                           const int64_t *values, uint32_t count, int64_t least, int64_t greatest, uint32_t most)
{
    uint64_t range = (uint64_t)greatest - (uint64_t)least;
    int is_direct = range < DIRECT_MAX && range / 4 < count;
    struct index index = {.least = least, .most = most};
    size_t slots = 64;
    uint32_t known;

    while (!is_direct && slots < 2 * (size_t)most)
        slots *= 2;
    if (is_direct)
        slots = (size_t)range + 1;
    index.mask = (uint32_t)(slots - 1);
    entries->length = places->length = 0;
    index.places = (void *)dft_bytes_room(places, slots * sizeof *index.places);
    index.list = (void *)dft_bytes_room(entries, (size_t)most * sizeof *index.list);
    if (!index.places || !index.list)
        return 0;
    memset(index.places, 0xff, slots * sizeof *index.places);
    known = is_direct ? index_direct(&index, indices, values, count) : index_hashed(&index, indices, values, count);
    entries->length = known * sizeof *index.list;
    return known;
}
