/* SPDX-License-Identifier: MIT */
/* Owns the mode without system calls (seccomp): the preparations before a thread forbids system
 * calls to itself, and the end of a process in the mode.
 *
 * In this mode records still go into the rings, which dftmerge reads from the live file. Each
 * system call of ours answers -EPERM at its one entrance (sys.h). So offsets that other processes
 * may move are null. A relative path is known as long as the working directory stays. Unknown
 * descriptors are not queried. Events that cannot be recorded for this reason are counted. */
#include "life/sandbox.h"

#include <string.h>
#include <sys/mman.h>

#include "os/clock.h"
#include "ring/drain.h"
#include "ring/rings.h"
#include "life/fatal.h"
#include "tables/fdtable.h"
#include "tables/maps.h"
#include "tables/fd_list.h"
#include "probe/directories.h"
#include "probe/probe.h"
#include "probe/request.h"
#include "store/sampler.h"
#include "ring/vfork_child.h"

/* --- making ready ----------------------------------------------------------------------------- */

/* Later no system call may look up a descriptor that no call has named yet. */
static int meet_descriptor(int list, const char *name, int number)
{
    (void)list;
    (void)name;
    if (!dft_fd_word(number))
        dft_probe_resolve(number, 0);
    dft_probe_know_offset(number);
    return 1;
}

/* --- in and out ------------------------------------------------------------------------------- */

static void count_in(struct dft_thread *thread, int more)
{
    __atomic_fetch_add(&thread->task.sandboxed, (uint32_t)more, __ATOMIC_SEQ_CST);
}

/* Counts all threads but this one as in the mode. Signals are blocked where the threads are to be
 * drained. No thread enters the mode before its own current drain has ended. Otherwise the block of
 * that drain would be lost. */
static void count_others_in(int more, int drain)
{
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next) {
        if (thread == dft_self)
            continue;
        if (drain)
            dft_spin_lock(&thread->lock);
        count_in(thread, more);
        if (drain) {
            dft_spin_unlock(&thread->lock);
            dft_drain_all_of(thread);
        }
    }
}

static void make_ready(struct dft_thread *self, enum dft_sandbox_kind kind)
{
    struct dft_signals before;

    dft_fd_list(meet_descriptor);
    dft_maps_reserve();
    before = dft_signals_block();
    dft_sampler_stop();
    dft_directory_of_work_know(self);
    dft_drain_all_of(self);
    dft_rings_lay_in(self);
    if (kind == DFT_SANDBOX_FILTER_ALL) {
        __atomic_fetch_or(&dft_sandbox, DFT_SANDBOX_THREAD, __ATOMIC_SEQ_CST);
        count_others_in(1, 1);
    }
    dft_drain_all_rows();
    dft_signals_restore(before);
    if (kind == DFT_SANDBOX_STRICT)
        dft_clock_disable_counter(&self->task);
}

void dft_sandbox_enter(enum dft_sandbox_kind kind)
{
    struct dft_thread *self;

    if (!dft_on)
        return;
    if (dft_in_vfork_child()) {
        dft_vfork_child_know();
        dft_vfork_mark = DFT_MARK_SANDBOXED;
        __atomic_fetch_or(&dft_sandbox, DFT_SANDBOX_CHILD, __ATOMIC_SEQ_CST);
        return;
    }
    dft_fatal_give_up();
    self = dft_thread_get();
    if (self && !dft_is_sandboxed())
        make_ready(self, kind);
    else if (kind == DFT_SANDBOX_FILTER_ALL)
        count_others_in(1, 0);
    if (self)
        count_in(self, 1);
    __atomic_fetch_or(&dft_sandbox, DFT_SANDBOX_THREAD, __ATOMIC_SEQ_CST);
}

void dft_sandbox_enter_failed(enum dft_sandbox_kind kind)
{
    uint32_t left = 0;

    if (!dft_on)
        return;
    if (dft_vfork_mark == DFT_MARK_SANDBOXED) {
        dft_vfork_mark = DFT_MARK_VFORK;
        return;
    }
    if (kind == DFT_SANDBOX_FILTER_ALL)
        count_others_in(-1, 0);
    if (dft_self)
        count_in(dft_self, -1);
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        left += __atomic_load_n(&thread->task.sandboxed, __ATOMIC_SEQ_CST);
    if (!left) {
        __atomic_fetch_and(&dft_sandbox, ~DFT_SANDBOX_THREAD, __ATOMIC_SEQ_CST);
        dft_fatal_regain();
    }
    if (kind == DFT_SANDBOX_STRICT && dft_self)
        dft_clock_enable_counter(&dft_self->task);
}

/* --- end of the process ----------------------------------------------------------------------- */

int dft_sandbox_end(enum dft_ending exit_kind, int status)
{
    if (!dft_is_sandboxed())
        return 0;
    if (*dft_generation && dft_live && !dft_vfork_mark) {
        dft_requests_end();
        atomic_store(&dft_live->exit_kind, (uint32_t)exit_kind);
        atomic_store(&dft_live->status, (uint32_t)status);
        atomic_store(&dft_live->ended_ns, dft_clock_ns(&dft_live->clock, dft_ticks()));
        atomic_store(&dft_live->state, exit_kind == DFT_ENDING_EXEC ? DFT_LIVE_EXEC : DFT_LIVE_CLEAN);
    }
    return 1;
}
