/* SPDX-License-Identifier: MIT */
/* Packs numbers of so many bits behind each other, the lowest bit first: what the encodings of
 * Parquet share. */
#ifndef DFT_PARQUET_BITS_H
#define DFT_PARQUET_BITS_H

#include <stdint.h>

#include "format/leb128.h"

/* How many bits the number has. */
static inline unsigned dft_bits_width(uint64_t number)
{
    return number ? 64u - (unsigned)__builtin_clzll(number) : 0;
}

/* A stream of bits. `to` needs 8 bytes more room than the bits have. */
struct dft_bits {
    unsigned char *to;
    uint64_t word;
    unsigned filled; /* bits of the word; below 64 */
};

/* width: 1 to 64; the number has no other bits. */
static inline void dft_bits_put(struct dft_bits *bits, uint64_t number, unsigned width)
{
    bits->word |= number << bits->filled;
    bits->filled += width;
    if (bits->filled >= 64) {
        dft_store64(bits->to, bits->word);
        bits->to += 8;
        bits->filled -= 64;
        bits->word = bits->filled ? number >> (width - bits->filled) : 0;
    }
}

/* Ends at a whole byte. Returns the end. */
static inline unsigned char *dft_bits_end(struct dft_bits *bits)
{
    dft_store64(bits->to, bits->word);
    return bits->to + (bits->filled + 7) / 8;
}

#endif
