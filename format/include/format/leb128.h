/* SPDX-License-Identifier: MIT */
/* The smallest pieces of the format: LEB128, zigzag, little-endian words. Writers know that there
 * is room; readers check. */
#ifndef DFT_LEB128_H
#define DFT_LEB128_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words of the file are copied as they are");

#define DFT_LEB_MAX 10u /* bytes of the longest LEB128 number */

#define dft_likely(condition)   __builtin_expect(!!(condition), 1)
#define dft_unlikely(condition) __builtin_expect(!!(condition), 0)

static inline uint64_t dft_zigzag(uint64_t value)
{
    return (value << 1) ^ (0 - (value >> 63));
}

static inline uint64_t dft_unzigzag(uint64_t value)
{
    return (value >> 1) ^ (0 - (value & 1));
}

static inline uint8_t *dft_leb_put(uint8_t *at, uint64_t value)
{
    while (dft_unlikely(value >= 128)) {
        *at++ = (uint8_t)(value | 128);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t dft_load64(const void *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline void dft_store64(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* The bits of a number of at most eight bytes, of which `word` holds the first ones: seven from
 * each byte, without a branch, since lengths are hard to predict. `last`: the top bit of its last
 * byte. */
static inline uint64_t dft_leb_of_word(uint64_t word, uint64_t last)
{
    word &= (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Returns the place behind the number, or NULL: it ends early or needs more than 64 bits. */
static inline const uint8_t *dft_leb_get(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    uint64_t sum = 0;

    if (dft_likely(end - at >= 8)) {
        uint64_t word, last;

        if (at[0] < 128) { /* the processor guesses short ones and need not wait for where the next begins */
            *value = at[0];
            return at + 1;
        }
        if (at[1] < 128) {
            *value = (at[0] & 127u) | (uint64_t)at[1] << 7;
            return at + 2;
        }
        word = dft_load64(at);
        last = ~word & UINT64_C(0x8080808080808080);
        last &= 0 - last;
        if (dft_likely(last)) {
            *value = dft_leb_of_word(word, last);
            return at + __builtin_ctzll(last) / 8 + 1;
        }
    }
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint64_t byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        sum |= (byte & 127) << shift;
        if (byte < 128) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}

#endif
