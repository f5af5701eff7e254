/* SPDX-License-Identifier: MIT */
/* Waiting for counters that other threads raise. */
#ifndef DFT_REPLAY_WAIT_H
#define DFT_REPLAY_WAIT_H

#include <stdatomic.h>
#include <stdint.h>

/* Has a counter reached a value? Counters may wrap around. */
static inline int dft_replay_reached(const _Atomic uint32_t *counter, uint32_t value)
{
    return (int32_t)(atomic_load(counter) - value) >= 0;
}

/* Waits until a counter has reached a value. */
void dft_replay_await(const _Atomic uint32_t *counter, uint32_t value);
/* Raises a counter by one, and wakes those that wait for it. */
void dft_replay_raise(_Atomic uint32_t *counter);

#endif
