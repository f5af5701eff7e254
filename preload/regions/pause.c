/* SPDX-License-Identifier: MIT */
/* Owns pauses: rings that are marked as paused go on as ever, so that descriptors, regions and
 * names stay known, but no event of theirs is kept. That costs nothing where there is no pause. */
#include "regions/annotate.h"
#include "probe/inlined.h"
#include "ring/bursts.h"
#include "ring/control.h"

/* The calling thread's state where files may be written, with signals blocked; else NULL. */
static struct dft_thread *begin(struct dft_signals *before)
{
    struct dft_thread *self = dft_in_vfork_child() || dft_is_sandboxed() ? NULL : dft_annotate_thread();

    if (!self)
        return NULL;
    dft_inlined_sync_all();
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
        dft_pauses_add(1);
    } else {
        self->pauses++;
        /* Drained by the rule of before: the rings do not know yet. */
        dft_pauses_apply(self);
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
    pauses = what == DFT_PAUSE_PROCESS ? dft_pauses_own() : self->pauses;
    if (!pauses) {
        dft_misuse(self, DFT_MISUSE_RESUME_ALONE, 1);
    } else if (what == DFT_PAUSE_PROCESS) {
        dft_pauses_add(-1);
    } else {
        self->pauses--;
        dft_pauses_apply(self);
    }
    dft_signals_restore(before);
}

void dft_flush(void)
{
    struct dft_signals before;

    if (!begin(&before))
        return;
    dft_flush_all();
    dft_signals_restore(before);
}
