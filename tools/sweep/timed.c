/* SPDX-License-Identifier: MIT */
/* Sorts what has a time: the least significant digit first, with 11 bits a pass. */
#include "sweep/timed.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

struct dft_timed *dft_timed_sort(struct dft_timed *list, struct dft_timed *other, size_t count, uint64_t from,
                                 uint64_t width)
{
    for (unsigned shift = 0; shift < 64 && width >> shift; shift += DIGIT_BITS) {
        size_t places[DIGITS] = {0}, sum = 0;
        struct dft_timed *swap;

        for (size_t i = 0; i < count; i++)
            places[(list[i].time - from) >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t n = places[d];

            places[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            other[places[(list[i].time - from) >> shift & (DIGITS - 1)]++] = list[i];
        swap = list;
        list = other;
        other = swap;
    }
    return list;
}
