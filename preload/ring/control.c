/* SPDX-License-Identifier: MIT */
/* Owns requests of `dftmerge control`: one thread takes a request, does it for all threads, and
 * answers in the live file. */
#include "ring/control.h"

#include "ring/drain.h"
#include "ring/mode.h"
#include "store/livefile.h"

static uint32_t is_paused; /* atomic: by a request; changed by who has taken one */

/* --- pauses ----------------------------------------------------------------------------------- */

void dft_pauses_apply(struct dft_thread *thread)
{
    dft_drain_all_of(thread);
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        atomic_store_explicit(&thread->rings[i]->paused, dft_thread_pause_of_ring(thread), memory_order_relaxed);
    /* in a pause all calls go to the ring, which then keeps none */
    __atomic_store_n(&thread->mode, dft_mode_of(thread), __ATOMIC_RELAXED);
    dft_spin_unlock(&thread->lock);
}

void dft_pauses_add(int more)
{
    struct dft_thread *threads;

    dft_spin_lock(&dft_process_lock);
    __atomic_add_fetch(&dft_process_pauses, (uint32_t)more, __ATOMIC_RELAXED);
    threads = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE);
    dft_spin_unlock(&dft_process_lock);
    for (; threads; threads = threads->next)
        dft_pauses_apply(threads);
}

uint32_t dft_pauses_own(void)
{
    return __atomic_load_n(&dft_process_pauses, __ATOMIC_RELAXED) - __atomic_load_n(&is_paused, __ATOMIC_RELAXED);
}

void dft_flush_all(void)
{
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        dft_drain_all_of(thread);
    dft_drain_all_rows();
}

/* --- requests --------------------------------------------------------------------------------- */

static enum dft_controlled pause_all(void)
{
    if (is_paused)
        return DFT_CONTROLLED_ALREADY;
    __atomic_store_n(&is_paused, 1, __ATOMIC_RELAXED);
    dft_pauses_add(1);
    return DFT_CONTROLLED_DONE;
}

static enum dft_controlled resume_all(void)
{
    if (!is_paused)
        return DFT_CONTROLLED_NOT_PAUSED;
    dft_pauses_add(-1);
    __atomic_store_n(&is_paused, 0, __ATOMIC_RELAXED);
    return DFT_CONTROLLED_DONE;
}

static enum dft_controlled do_request(enum dft_control what)
{
    switch (what) {
    case DFT_CONTROL_PAUSE:
        return pause_all();
    case DFT_CONTROL_RESUME:
        return resume_all();
    case DFT_CONTROL_EVENTS:
        return dft_mode_control(DFT_KEEP_EVENTS);
    case DFT_CONTROL_AGGREGATES:
        return dft_mode_control(DFT_KEEP_AGGREGATES);
    case DFT_CONTROL_FLUSH:
        dft_flush_all();
        return DFT_CONTROLLED_DONE;
    default:
        return DFT_CONTROLLED_UNKNOWN;
    }
}

void dft_control_look(void)
{
    uint64_t taken = atomic_load_explicit(&dft_live->taken, memory_order_relaxed), request;

    /* the tail was stored before: who asks marks it behind the request, so one of the two is seen */
    atomic_thread_fence(memory_order_seq_cst);
    request = atomic_load_explicit(&dft_live->request, memory_order_acquire);
    if (request >> DFT_CONTROL_SHIFT == taken >> DFT_CONTROL_SHIFT || dft_late || dft_in_vfork_child() ||
        dft_is_sandboxed() || !atomic_compare_exchange_strong(&dft_live->taken, &taken, request))
        return;
    atomic_store_explicit(&dft_live->answer,
                          (request & ~(uint64_t)UINT8_MAX) | do_request((enum dft_control)(request & UINT8_MAX)),
                          memory_order_release);
}

void dft_control_forked(void)
{
    dft_process_pauses -= is_paused;
    is_paused = 0;
}
