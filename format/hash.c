/* SPDX-License-Identifier: MIT */
/* Ids of names: MurmurHash64A (Austin Appleby, public domain) with seed 0, written from its
 * description. */
#include "format/hash.h"
#include "format/leb128.h"

#define MULTIPLIER UINT64_C(0xc6a4a7935bd1e995)

static uint64_t mix(uint64_t word)
{
    word *= MULTIPLIER;
    word ^= word >> 47;
    return word * MULTIPLIER;
}

uint64_t dft_name_id(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    uint64_t hash = length * MULTIPLIER, rest = 0;
    size_t left = length;

    for (; left >= 8; left -= 8, at += 8)
        hash = (hash ^ mix(dft_load64(at))) * MULTIPLIER;
    if (left && length >= 8) { /* with the bytes before them, which are shifted out */
        rest = dft_load64(at + left - 8) >> (64 - 8 * left);
    } else {
        for (size_t i = 0; i < left; i++)
            rest |= (uint64_t)at[i] << (8 * i);
    }
    if (left)
        hash = (hash ^ rest) * MULTIPLIER;
    hash ^= hash >> 47;
    hash *= MULTIPLIER;
    hash ^= hash >> 47;
    return hash ? hash : 1; /* 0 means "none" */
}
