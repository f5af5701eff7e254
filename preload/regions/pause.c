/* SPDX-License-Identifier: MIT */
/* Owns pauses: rings that are marked as paused go on as ever, so that descriptors, regions and
 * names stay known, but no event of theirs is kept. That costs nothing where there is no pause. */
#include "regions/annotate.h"
#include "ring/drain.h"
#include "ring/bursts.h"

/* What was recorded so far goes by the old rule. Signals blocked. */
static void apply(struct dft_thread *thread)
{
    dft_drain_all_of(thread);
    dft_spin_lock(&thread->lock);
    for (uint32_t i = 0; i < thread->nrings; i++)
        atomic_store_explicit(&thread->rings[i]->paused, dft_thread_pause_of_ring(thread), memory_order_relaxed);
    dft_spin_unlock(&thread->lock);
}

/* Signals blocked. */
static void apply_to_process(int more)
{
    struct dft_thread *threads;

    dft_spin_lock(&dft_process_lock);
    __atomic_add_fetch(&dft_process_pauses, (uint32_t)more, __ATOMIC_RELAXED);
    threads = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE);
    dft_spin_unlock(&dft_process_lock);
    for (; threads; threads = threads->next)
        apply(threads);
}

/* The calling thread's state where files may be written, with signals blocked; else NULL. */
static struct dft_thread *begin(struct dft_signals *before)
{
    struct dft_thread *self = dft_in_vfork_child() || dft_is_sandboxed() ? NULL : dft_annotate_thread();

    if (!self)
        return NULL;
    dft_bursts_end(self);
    *before = dft_signals_block();
    return self;
}

void dft_pause(int what)
{
    struct dft_signals before;
    struct dft_thread *self = begin(&before);

    if (!self)
        return;
    if (what == DFT_PAUSE_PROCESS) {
        apply_to_process(1);
    } else {
        self->pauses++;
        /* Drained by the rule of before: the rings do not know yet. */
        apply(self);
    }
    dft_signals_restore(before);
}

void dft_resume(int what)
{
    struct dft_signals before;
    struct dft_thread *self = begin(&before);
    uint32_t pauses;

    if (!self)
        return;
    pauses = what == DFT_PAUSE_PROCESS ? __atomic_load_n(&dft_process_pauses, __ATOMIC_RELAXED) : self->pauses;
    if (!pauses) {
        dft_misuse(self, DFT_MISUSE_RESUME_ALONE, 1);
    } else if (what == DFT_PAUSE_PROCESS) {
        apply_to_process(-1);
    } else {
        self->pauses--;
        apply(self);
    }
    dft_signals_restore(before);
}

void dft_flush(void)
{
    struct dft_signals before;

    if (!begin(&before))
        return;
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        dft_drain_all_of(thread);
    dft_drain_all_rows();
    dft_signals_restore(before);
}
