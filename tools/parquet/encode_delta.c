/* SPDX-License-Identifier: MIT */
/* DELTA_BINARY_PACKED: for times, sequence numbers and what else is near to the value before. */
#include "parquet/encode_delta.h"
#include "parquet/bits.h"

#define BLOCK       128u
#define MINIS       4u
#define MINI        (BLOCK / MINIS)
/* of a block: the least difference, the widths, all numbers, and what a packer needs more */
#define BLOCK_BYTES (DFT_LEB_MAX + MINIS + BLOCK * 8 + 8)

/* Differences to the value before each, less the least one; arithmetic wraps around, as readers' does. */
static int64_t differences(uint64_t *deltas, const int64_t *values, uint32_t count)
{
    const int64_t *before = values - 1;
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        int64_t delta = (int64_t)((uint64_t)values[i] - (uint64_t)before[i]);

        deltas[i] = (uint64_t)delta;
        least = delta < least ? delta : least;
    }
    for (uint32_t i = 0; i < count; i++)
        deltas[i] -= (uint64_t)least;
    return least;
}

static unsigned width_of(const uint64_t *deltas, uint32_t count)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < count; i++)
        bits |= deltas[i];
    return dft_bits_width(bits);
}

/* A part of a block that is not full has zeros behind its numbers. Parts without numbers are not
 * there. */
static unsigned char *put_block(unsigned char *to, const int64_t *values, uint32_t count)
{
    uint64_t deltas[BLOCK];
    int64_t least = differences(deltas, values, count);
    unsigned char *widths;

    memset(deltas + count, 0, (BLOCK - count) * sizeof *deltas);
    to = dft_leb_put(to, dft_zigzag((uint64_t)least));
    widths = to;
    to += MINIS;
    for (uint32_t mini = 0; mini < MINIS; mini++) {
        const uint64_t *from = deltas + mini * MINI;
        unsigned width = width_of(from, MINI);
        struct dft_bits bits = {.to = to};

        widths[mini] = (unsigned char)width;
        if (!width)
            continue;
        for (uint32_t i = 0; i < MINI; i++)
            dft_bits_put(&bits, from[i], width);
        to = dft_bits_end(&bits);
    }
    return to;
}

void dft_parquet_encode_delta(struct dft_bytes *page, const int64_t *values, uint32_t count)
{
    dft_bytes_varint(page, BLOCK);
    dft_bytes_varint(page, MINIS);
    dft_bytes_varint(page, count);
    dft_bytes_varint(page, dft_zigzag(count ? (uint64_t)values[0] : 0));
    for (uint32_t at = 1; at < count; at += BLOCK) {
        unsigned char *room = dft_bytes_room(page, BLOCK_BYTES);
        uint32_t rest = count - at;

        if (!room)
            return;
        page->length += (size_t)(put_block(room, values + at, rest < BLOCK ? rest : BLOCK) - room);
    }
}

unsigned dft_parquet_encode_delta_bits(const int64_t *values, uint32_t count)
{
    const uint32_t samples = 64, step = count / samples > BLOCK ? count / samples : BLOCK;
    uint64_t bits = 0, numbers = 0, deltas[BLOCK];

    for (uint32_t at = 1; at < count; at += step) {
        uint32_t n = count - at < BLOCK ? count - at : BLOCK;

        differences(deltas, values + at, n);
        for (uint32_t mini = 0; mini < n; mini += MINI)
            bits += (uint64_t)width_of(deltas + mini, n - mini < MINI ? n - mini : MINI) * MINI;
        bits += 8 * (MINIS + 2);
        numbers += n;
    }
    return numbers ? (unsigned)(bits / numbers) : 64;
}
