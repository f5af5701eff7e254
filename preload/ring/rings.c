/* SPDX-License-Identifier: MIT */
/* Owns the set of rings of a thread: the first ring, larger and spare ones, rings of a new live
 * file, and their counts. */
#include "ring/rings.h"

#include <string.h>

#include "format/live_read.h"
#include "os/clock.h"
#include "ring/bursts.h"
#include "os/sys.h"
#include "store/livefile.h"

#define GROWN_MAX   256u /* large rings, 260 KiB each */
#define SPARE_RINGS 8u

static uint32_t grown; /* atomic: number of large rings */

static void set_up(const struct dft_thread *thread, struct dft_ring *ring, uint32_t tid)
{
    ring->tid = tid;
    atomic_store_explicit(&ring->paused, dft_thread_pause_of_ring(thread), memory_order_relaxed);
}

/* A thread that pauses the process marks the rings with the state's lock held. So the pause comes
 * either before or after this change. */
void dft_rings_assign(struct dft_thread *thread, uint32_t tid)
{
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        set_up(thread, thread->rings[i], tid);
    dft_spin_unlock(&thread->lock);
}

void dft_rings_add(struct dft_thread *thread, struct dft_ring *ring)
{
    set_up(thread, ring, ring->tid);
    thread->rings[thread->nrings++] = ring;
    thread->ring = ring;
    thread->drain_at = ring->capacity / 4 * 3;
}

void dft_rings_grow(struct dft_thread *thread)
{
    struct dft_ring *old = thread->ring, *ring = NULL;
    uint64_t head = atomic_load_explicit(&old->head, memory_order_relaxed);

    if (old->capacity >= DFT_RING_SLOTS_MAX || thread->nrings == DFT_THREAD_RINGS)
        return;
    thread->drains = 0;
    if (__atomic_load_n(&grown, __ATOMIC_RELAXED) >= GROWN_MAX)
        return;
    if (__atomic_fetch_add(&grown, 1, __ATOMIC_RELAXED) < GROWN_MAX)
        ring = dft_livefile_lasting_ring(DFT_RING_SLOTS_MAX, old->tid, (head | (DFT_RING_SLOTS_MAX - 1)) + 1);
    if (ring)
        dft_rings_add(thread, ring);
    else
        __atomic_fetch_sub(&grown, 1, __ATOMIC_RELAXED);
}

void dft_rings_renew(struct dft_thread *thread)
{
    struct dft_ring *old = thread->home, *ring = NULL;
    uint32_t depth = atomic_load_explicit(&old->depth, memory_order_relaxed), number = dft_livefile_number;

    if (thread->livefile == number || thread->nrings == DFT_THREAD_RINGS || dft_late ||
        atomic_load_explicit(&old->bursts_busy, memory_order_relaxed)) /* a handler's drain */
        return;
    ring = dft_livefile_ring(thread->ring->capacity, old->tid, 0);
    if (!ring)
        return;
    memcpy(ring->regions, old->regions, sizeof ring->regions);
    memcpy(ring->region_args, old->region_args, sizeof ring->region_args);
    memcpy(ring->args, old->args, sizeof ring->args);
    atomic_store_explicit(&ring->depth, depth, memory_order_release);
    if (dft_bursts_move(thread, ring))
        return;
    thread->livefile = number;
    dft_rings_add(thread, ring);
}

void dft_rings_forked(void)
{
    grown = 0;
}

/* --- without system calls --------------------------------------------------------------------- */

/* The spare rings follow the rings in use. */
void dft_rings_lay_in(struct dft_thread *self)
{
    dft_spin_lock(&dft_process_lock);
    while (self->spares < SPARE_RINGS && self->nrings < DFT_THREAD_RINGS) {
        struct dft_ring *ring = dft_livefile_ring(DFT_RING_SLOTS_MAX, self->home->tid, 0);

        if (!ring)
            break;
        atomic_store_explicit(&ring->paused, dft_thread_pause_of_ring(self), memory_order_relaxed);
        self->rings[self->nrings++] = ring;
        self->spares++;
    }
    dft_spin_unlock(&dft_process_lock);
}

int dft_rings_next_spare(struct dft_thread *self)
{
    if (!self->spares || !dft_is_sandboxed())
        return 0;
    self->ring = self->rings[self->nrings - self->spares--];
    self->drain_at = self->ring->capacity / 4 * 3;
    return 1;
}

/* --- counts ----------------------------------------------------------------------------------- */

static void add_ring(struct dft_end *end, const struct dft_ring *ring)
{
    for (int reason = 1; reason <= DFT_DROP_LAST; reason++)
        end->dropped[reason] += atomic_load(&ring->dropped[reason]);
    for (int what = 1; what <= DFT_MISUSE_LAST; what++)
        end->misuse[what] += atomic_load(&ring->misuse[what]);
    end->pauses += atomic_load(&ring->pauses);
    end->paused_ns += dft_ring_paused_ns(ring, dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset);
}

/* Sums the spans of all threads first: one thread may begin a span, and another may end it. */
void dft_rings_sum(struct dft_end *end)
{
    uint64_t begun = 0, ended = 0;

    for (struct dft_thread *t = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); t; t = t->next)
        for (uint32_t i = 0; i < t->nrings; i++) {
            begun += atomic_load(&t->rings[i]->spans_begun);
            ended += atomic_load(&t->rings[i]->spans_ended);
            add_ring(end, t->rings[i]);
        }
    if (begun > ended && (end->exit_kind == DFT_ENDING_EXIT || end->exit_kind == DFT_ENDING__EXIT))
        end->misuse[DFT_MISUSE_SPAN_OPEN] += begun - ended;
}
