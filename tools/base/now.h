/* SPDX-License-Identifier: MIT */
/* Time that nobody sets. Who waits for a while compares moments: on a busy machine a sleep takes longer than it
 * says. */
#ifndef DFT_NOW_H
#define DFT_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t dft_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
