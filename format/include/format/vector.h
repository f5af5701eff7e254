/* SPDX-License-Identifier: MIT */
/* Sixteen bytes at once. */
#ifndef DFT_FORMAT_VECTOR_H
#define DFT_FORMAT_VECTOR_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef uint8_t dft_vector __attribute__((vector_size(16), aligned(1), may_alias));

static inline dft_vector dft_vector_of(uint8_t byte)
{
    return (dft_vector){byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte};
}

/* A bit for each byte, the first byte's lowest. The bytes are the result of a comparison. */
static inline uint32_t dft_vector_bits(dft_vector compared)
{
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)compared);
#else
    typedef uint64_t halves __attribute__((vector_size(16)));
    const uint64_t gather = UINT64_C(0x0102040810204080), ones = UINT64_C(0x0101010101010101);
    const halves both = (halves)compared;

    return (uint32_t)((both[0] & ones) * gather >> 56 | ((both[1] & ones) * gather >> 56) << 8);
#endif
}

#endif
