/* SPDX-License-Identifier: MIT */
/* Real numbers as integers. What a trace says may lead to any real number, and a conversion that does
 * not fit is undefined: here it gives the nearest integer that there is, and no number gives 0. */
#ifndef DFT_SATURATE_H
#define DFT_SATURATE_H

#include <stdint.h>

static inline uint64_t dft_uint_of(double value)
{
    return value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

static inline int64_t dft_int_of(long double value)
{
    return value >= 0x1p63L ? INT64_MAX : value >= -0x1p63L ? (int64_t)value : value < 0 ? INT64_MIN : 0;
}

#endif
