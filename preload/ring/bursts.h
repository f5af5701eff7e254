/* SPDX-License-Identifier: MIT */
/* Open bursts. A burst is an unbroken series of quick calls of one kind on one stream by one
 * thread. Each burst becomes one event (probe/burst.h).
 *
 * The open bursts of a thread are stored in its first ring in the live file. So readers find the
 * open bursts of a killed process there. A burst ends when the thread makes another call on the
 * stream. It also ends when a region begins or ends, and when the thread ends. The burst then
 * becomes a record.
 *
 *   who                           may                        with whom at the same time
 *   the owner                     begin, add, end            nobody: `bursts_busy` is set meanwhile
 *   its signal handlers           the same, unless busy      -
 *   finaliser, after dft_late     take open bursts that are  an owner that does not see
 *                                 not busy                   dft_late yet: it is busy */
#ifndef DFT_BURSTS_H
#define DFT_BURSTS_H

#include "ring/ring.h"

static inline uint64_t dft_bursts_key(const void *stream, enum dft_call_number call)
{
    return (uint64_t)(uintptr_t)stream ^ (uint64_t)call << 48;
}

/* Ends the thread's bursts on a stream, except the burst of the call `keep`. */
void dft_bursts_break(struct dft_thread *self, const void *stream, enum dft_call_number keep);
/* The call of the thread's open burst on a stream; DFT_CALL_NONE: there is none. */
enum dft_call_number dft_bursts_call(const struct dft_thread *self, const void *stream);
/* Ends all bursts of this thread. */
void dft_bursts_end(struct dft_thread *self);
/* Moves all bursts to another ring, which becomes the thread's `home`. Returns 0, or -1 when they
 * cannot move now. Signals blocked. */
int dft_bursts_move(struct dft_thread *self, struct dft_ring *to);

/* Adds `more`, a burst that ended at `now` ticks, to the open burst of its stream and call. Opens a
 * burst with `more` where none is open. `word`: the descriptor's. Returns 0, or -1 when no burst
 * can be open now. */
int dft_bursts_add(struct dft_thread *self, const void *stream, const struct dft_burst *more, uint64_t word,
                   uint64_t now);

/* Can the burst grow without an overflow of either number into the other? */
static inline int dft_bursts_has_room(const struct dft_burst *run)
{
    uint64_t moved = atomic_load_explicit(&((struct dft_burst *)(uintptr_t)run)->moved, memory_order_relaxed);

    return !(moved & (UINT64_C(1) << 63 | UINT64_C(1) << (DFT_BURST_CALL_BITS - 1)));
}

static inline void dft_bursts_count(struct dft_burst *run, uint64_t moved)
{
    atomic_store_explicit(&run->moved, atomic_load_explicit(&run->moved, memory_order_relaxed) + moved,
                          memory_order_relaxed);
}

/* Finds the open burst of a call and locks its place. NULL: no burst is open, or the burst cannot
 * go on. */
static inline __attribute__((always_inline)) struct dft_burst *dft_bursts_find(struct dft_thread *self, uint64_t key,
                                                                               uint64_t word)
{
    struct dft_ring *home = self->home;
    uint32_t i = 0;

    if (__builtin_expect(atomic_load_explicit(&home->bursts_busy, memory_order_relaxed), 0))
        return NULL;
    atomic_store_explicit(&home->bursts_busy, 1, memory_order_relaxed);
    __asm__ volatile("" : : : "memory");
    while (i < DFT_BURSTS && self->burst_keys[i] != key)
        i++;
    if (__builtin_expect(i < DFT_BURSTS && self->burst_words[i] == word && !*(volatile int *)&dft_late &&
                             atomic_load_explicit(&home->bursts[i].call, memory_order_relaxed) != DFT_CALL_NONE &&
                             dft_bursts_has_room(&home->bursts[i]),
                         1))
        return &home->bursts[i];
    atomic_store_explicit(&home->bursts_busy, 0, memory_order_release);
    return NULL;
}

#endif
