/* SPDX-License-Identifier: MIT */
/* Owns requests of `dftmerge control`: one thread takes a request, does it for all threads, and
 * answers in the live file. */
#include "ring/control.h"

#include "os/clock.h"
#include "ring/drain.h"
#include "rows/mode.h"
#include "store/kept.h"
#include "store/livefile.h"
#include "store/process.h"

static uint32_t is_paused; /* atomic: by a request; changed by who has taken one */

/* --- pauses ----------------------------------------------------------------------------------- */

/* Counts what PROCESS does not tell. The thread's lock is held. */
static void count_pause(struct dft_thread *thread)
{
    struct dft_ring *home = thread->home;
    uint64_t since_ns = atomic_load_explicit(&home->paused_since, memory_order_relaxed), now_ns;
    int counts = dft_thread_pause_of_ring(thread) && !dft_kept_has_pause();

    if (counts == (since_ns != 0))
        return;
    now_ns = dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
    atomic_fetch_add_explicit(&home->pauses, (uint64_t)counts, memory_order_relaxed);
    atomic_fetch_add_explicit(&home->paused_ns, !counts && now_ns > since_ns ? now_ns - since_ns : 0,
                              memory_order_relaxed);
    atomic_store_explicit(&home->paused_since, counts ? now_ns : 0, memory_order_relaxed);
}

void dft_pauses_apply(struct dft_thread *thread)
{
    dft_drain_all_of(thread);
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        atomic_store_explicit(&thread->rings[i]->paused, dft_thread_pause_of_ring(thread), memory_order_relaxed);
    /* in a pause all calls go to the ring, which then keeps none */
    __atomic_store_n(&thread->mode, dft_mode_of(thread), __ATOMIC_RELAXED);
    count_pause(thread);
    dft_spin_unlock(&thread->lock);
}

/* The process has one pause more, or one less: of the program, or by a request. */
static void add(int more, int by_control)
{
    struct dft_thread *threads;

    dft_spin_lock(&dft_process_lock);
    __atomic_add_fetch(&dft_process_pauses, (uint32_t)more, __ATOMIC_RELAXED);
    if (by_control)
        __atomic_store_n(&is_paused, more > 0, __ATOMIC_RELAXED);
    dft_kept_pause(is_paused            ? DFT_KEEP_WHY_CONTROL
                   : dft_process_pauses ? DFT_KEEP_WHY_PROGRAM
                                        : DFT_KEEP_WHY_SETTINGS);
    threads = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE);
    dft_spin_unlock(&dft_process_lock);
    for (; threads; threads = threads->next)
        dft_pauses_apply(threads);
    dft_process_describe();
}

void dft_pauses_add(int more)
{
    add(more, 0);
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
    add(1, 1);
    return DFT_CONTROLLED_DONE;
}

static enum dft_controlled resume_all(void)
{
    if (!is_paused)
        return DFT_CONTROLLED_NOT_PAUSED;
    add(-1, 1);
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
