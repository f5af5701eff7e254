/* SPDX-License-Identifier: MIT */
/* Waiting by stripes: a few locks for all counters. */
#include "replay/replay_wait.h"

#include <pthread.h>

#define STRIPES 64u

static struct stripe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    _Atomic uint32_t waiters;
} stripes[STRIPES] = {[0 ... STRIPES - 1] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}};

static struct stripe *stripe_of(const _Atomic uint32_t *counter)
{
    return &stripes[((uintptr_t)counter * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

void dft_replay_await(const _Atomic uint32_t *counter, uint32_t value)
{
    struct stripe *stripe = stripe_of(counter);

    if (dft_replay_reached(counter, value))
        return;
    pthread_mutex_lock(&stripe->lock);
    atomic_fetch_add(&stripe->waiters, 1);
    while (!dft_replay_reached(counter, value))
        pthread_cond_wait(&stripe->changed, &stripe->lock);
    atomic_fetch_sub(&stripe->waiters, 1);
    pthread_mutex_unlock(&stripe->lock);
}

void dft_replay_raise(_Atomic uint32_t *counter)
{
    struct stripe *stripe = stripe_of(counter);

    atomic_fetch_add(counter, 1);
    if (!atomic_load(&stripe->waiters))
        return;
    pthread_mutex_lock(&stripe->lock);
    pthread_cond_broadcast(&stripe->changed);
    pthread_mutex_unlock(&stripe->lock);
}
