/* SPDX-License-Identifier: MIT */
/* Touched parts and strides of files: adding and merging (pattern.h says what they mean). */
#include "aggregator/pattern.h"

#include <string.h>

#define WORDS (DFT_TOUCHED_PARTS / 64)

/* --- touched parts ---------------------------------------------------------------------------- */

/* Every two bits become one, in the lower half of a word. */
static uint64_t halve(uint64_t bits)
{
    bits = (bits | bits >> 1) & UINT64_C(0x5555555555555555);
    bits = (bits | bits >> 1) & UINT64_C(0x3333333333333333);
    bits = (bits | bits >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    bits = (bits | bits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    bits = (bits | bits >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (bits | bits >> 16) & UINT32_MAX;
}

void dft_touched_widen(struct dft_touched *touched, uint32_t shift)
{
    /* After ten times all parts are in one, and stay there. */
    for (uint32_t n = shift - touched->shift < 10 ? shift - touched->shift : 10; n > 0; n--)
        for (uint32_t i = 0; i < WORDS; i++)
            touched->bits[i] = 2 * i < WORDS ? halve(touched->bits[2 * i]) | halve(touched->bits[2 * i + 1]) << 32 : 0;
    touched->shift = shift;
}

void dft_touched_add(struct dft_touched *touched, uint64_t offset, uint64_t end)
{
    uint32_t shift;

    if (end <= offset)
        return;
    shift = dft_touched_shift(end);
    if (shift > touched->shift)
        dft_touched_widen(touched, shift);
    dft_touched_mark(touched, offset >> touched->shift, (end - 1) >> touched->shift);
}

void dft_touched_merge(struct dft_touched *into, const struct dft_touched *from)
{
    struct dft_touched other = *from;

    if (other.shift > into->shift)
        dft_touched_widen(into, other.shift);
    else if (other.shift < into->shift)
        dft_touched_widen(&other, into->shift);
    for (uint32_t i = 0; i < WORDS; i++)
        into->bits[i] |= other.bits[i];
}

uint64_t dft_touched_bytes(const struct dft_touched *touched)
{
    uint64_t parts = 0;

    for (uint32_t i = 0; i < WORDS; i++)
        parts += (uint64_t)__builtin_popcountll(touched->bits[i]);
    return parts << touched->shift;
}

/* --- strides ---------------------------------------------------------------------------------- */

static uint64_t distance(int64_t bytes)
{
    return bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
}

static int comes_before(const struct dft_stride *a, const struct dft_stride *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    if (distance(a->bytes) != distance(b->bytes))
        return distance(a->bytes) < distance(b->bytes);
    return a->bytes > b->bytes;
}

void dft_strides_merge(struct dft_stride into[2], const struct dft_stride from[2])
{
    struct dft_stride all[4] = {into[0], into[1]};
    uint32_t count = 2;

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = 0;

        while (at < count && !(all[at].count && from[i].count && all[at].bytes == from[i].bytes))
            at++;
        if (at < count)
            all[at].count += from[i].count;
        else
            all[count++] = from[i];
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = i + 1; k < count; k++)
            if (comes_before(&all[k], &all[i])) {
                struct dft_stride swap = all[i];

                all[i] = all[k];
                all[k] = swap;
            }
    memcpy(into, all, 2 * sizeof *into);
}

void dft_pattern_merge(struct dft_pattern *into, const struct dft_pattern *from)
{
    dft_touched_merge(&into->touched, &from->touched);
    dft_strides_merge(into->strides, from->strides);
}
