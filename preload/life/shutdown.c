/* SPDX-License-Identifier: MIT */
/* Owns the end of a process and its replacement. All records go to the file, also when several
 * threads end the process at once. */
#include "life/shutdown.h"

#include <errno.h>
#include <linux/membarrier.h>

#include "os/bulk.h"
#include "regions/annotate.h"
#include "os/clock.h"
#include "ring/drain.h"
#include "format/end.h"
#include "probe/inlined.h"
#include "store/livefile.h"
#include "store/drain_events.h"
#include "store/process.h"
#include "store/sampler.h"
#include "probe/request.h"
#include "ring/bursts.h"
#include "ring/rings.h"
#include "rows/rows.h"
#include "os/self.h"
#include "store/process_start.h"
#include "store/stage.h"
#include "store/tracefile.h"
#include "probe/traced.h"
#include "weave/weave.h"
#include "life/sandbox.h"
#include "ring/pending_names.h"
#include "ring/vfork_child.h"

#define WAIT_FOR_BUSY_NS 10000000u
#define WAIT_FOR_END_NS  5000000000u
#define NEW_LIVEFILES    8 /* after failed execs; each costs a thread one of its DFT_THREAD_RINGS */

/* Several threads may end or replace the process at the same time. The process is late from the
 * first attempt until the last attempt has failed. Once a thread ends the process, the process
 * stays late. */
static int ended;
static uint32_t done;                 /* atomic: the trace is complete */
static uint32_t waiting;              /* atomic: number of threads that wait for `done` */
static uint32_t trying;               /* execs under way */
static struct dft_spin shutdown_lock; /* guards the variables above */
static int renewed;                   /* live files made after failed execs */
static int barrier;                   /* membarrier is available */

void dft_shutdown_init(void)
{
    barrier = DFT_SYS(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

void dft_shutdown_forked(void)
{
    ended = 0;
    done = 0;
    waiting = 0;
    trying = 0;
    shutdown_lock.held = 0;
    renewed = 0;
    dft_drain_kept = 0;
}

/* --- exec ------------------------------------------------------------------------------------- */

static int is_kept(void)
{
    return __atomic_load_n(&dft_drain_kept, __ATOMIC_RELAXED);
}

/* Drains all rings to the file. Returns the number of slots that other threads are still
 * filling. */
static uint32_t drain_everything(const struct dft_ended *process)
{
    uint64_t wait_until_ns = dft_clock_monotonic_ns() + WAIT_FOR_BUSY_NS;
    uint32_t busy = 0;

    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next) {
        uint32_t left = dft_drain_all_of(thread), open = dft_drain_open(thread, process);

        for (uint32_t times = 0;
             left + open && thread != dft_self && !is_kept() && dft_clock_monotonic_ns() < wait_until_ns; times++) {
            dft_sys_wait(times);
            left = left ? dft_drain_all_of(thread) : 0;
            open = open ? dft_drain_open(thread, process) : 0;
        }
        /* what a handler has interrupted here goes on no more, and its table stays in the live file */
        busy += (thread == dft_self ? (uint32_t)dft_rows_is_busy(thread) : left) + open;
    }
    dft_drain_all_rows();
    return busy;
}

/* Returns 0 in every child that shares our memory. */
static int is_ours_to_end(void)
{
    return dft_on && *dft_generation && dft_process_start_is_done() && (uint32_t)dft_sys_getpid() == dft_pid;
}

/* From now on each append drains at once, and no burst goes on. Returns 0 when no thread can have
 * missed this change. */
static int announce_late(void)
{
    if (dft_self)
        dft_bursts_end(dft_self);
    __atomic_store_n(&dft_late, 1, __ATOMIC_SEQ_CST);
    return barrier && DFT_SYS(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0 ? 0 : -EPERM;
}

/* Notes the end in the live file, for readers of a live file that stays. Returns the same end. */
static struct dft_ended note_end(enum dft_ending exit_kind, int status)
{
    const struct dft_ended end = {dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset, (uint8_t)exit_kind};

    atomic_store(&dft_live->exit_kind, (uint32_t)exit_kind);
    atomic_store(&dft_live->status, (uint32_t)status);
    atomic_store(&dft_live->ended_ns, end.time_ns);
    return end;
}

/* Writes the END block. Returns 0, or -errno when the block could not be written. */
static int write_end(enum dft_ending exit_kind, int status)
{
    static char unmet[1024] DFT_BULK; /* static, because the end comes once */
    struct dft_end end = {.exit_kind = (uint8_t)exit_kind, .status = status, .outside = dft_traced_left_out()};

    dft_tracefile_restore();
    end.unmet = (struct dft_text){unmet, (uint32_t)dft_weave_unmet(unmet, sizeof unmet)};
    dft_rings_sum(&end);
    return dft_process_write_end(&end);
}

static int any_region_is_open(void)
{
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        if (atomic_load_explicit(&thread->home->depth, memory_order_acquire))
            return 1;
    return 0;
}

/* Waits until another thread has written all records. The process would otherwise be gone before
 * that. A trace that leaves its stage for a slow file system may take longer. */
static void wait_for_the_end(void)
{
    uint64_t until_ns = dft_clock_monotonic_ns() + WAIT_FOR_END_NS;

    __atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST) &&
           (dft_clock_monotonic_ns() < until_ns || dft_tracefile_is_moving()))
        dft_futex_wait(&done, 0);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
}

/* Returns 0 when the process is ending. */
static int try_exec(int is_lost)
{
    int may;

    dft_spin_lock(&shutdown_lock);
    may = !ended;
    trying++;
    if (may) {
        note_end(DFT_ENDING_EXEC, is_lost);
        atomic_store(&dft_live->state, DFT_LIVE_EXEC);
    }
    dft_spin_unlock(&shutdown_lock);
    return may;
}

/* Regions go on if the exec fails, so they are not ended here. The live file then stays, and tells
 * which regions were open and since when. An empty live file also stays when many execs have failed
 * before. */
int dft_shutdown_exec(int is_lost)
{
    const struct dft_ended not_yet = {0};
    struct dft_signals before;
    int unsure;

    dft_inlined_sync_all();
    if (dft_vfork_child_ends(DFT_ENDING_EXEC, is_lost) || dft_sandbox_end(DFT_ENDING_EXEC, is_lost))
        return 1;
    dft_process_start_at_last(dft_traced_left_out());
    if (!is_ours_to_end())
        return 0;
    before = dft_signals_block();
    dft_requests_end();
    if (try_exec(is_lost)) {
        unsure = announce_late();
        if (!unsure && !drain_everything(&not_yet) && !write_end(DFT_ENDING_EXEC, is_lost) && !any_region_is_open() &&
            !is_kept() && renewed < NEW_LIVEFILES) {
            dft_livefile_remove();
            dft_stage_end();
        }
    } else {
        wait_for_the_end();
    }
    dft_signals_restore(before);
    return 1;
}

/* Tracing goes on as before, unless other threads still end or replace the process. If the live
 * file was removed, a new one is made. Each thread moves to the new file at its next drain.
 * shutdown_lock held. Returns 1 when there is a new file. */
static int go_on(void)
{
    int gone;

    if (trying || ended)
        return 0;
    __atomic_store_n(&dft_late, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&dft_drain_kept, 0, __ATOMIC_RELAXED);
    dft_spin_lock(&dft_process_lock);
    gone = !dft_livefile_path[0];
    if (gone) {
        dft_livefile_create();
        renewed++;
    }
    atomic_store(&dft_live->ended_ns, 0);
    atomic_store(&dft_live->state, DFT_LIVE_RUNNING);
    dft_spin_unlock(&dft_process_lock);
    return gone;
}

static void end_has_failed(int was_exec)
{
    struct dft_signals before;
    int moves;

    if (dft_vfork_child_ends(DFT_ENDING_UNKNOWN, 0))
        return;
    if (dft_is_sandboxed()) {
        if (*dft_generation && dft_live && !dft_in_vfork_child()) {
            atomic_store(&dft_live->ended_ns, 0);
            atomic_store(&dft_live->state, DFT_LIVE_RUNNING);
        }
        return;
    }
    if (!is_ours_to_end())
        return;
    before = dft_signals_block();
    dft_spin_lock(&shutdown_lock);
    if (was_exec)
        trying--;
    else
        ended = done = 0;
    moves = go_on();
    dft_spin_unlock(&shutdown_lock);
    if (moves && dft_self)
        dft_drain_own(dft_self);
    dft_signals_restore(before);
}

void dft_shutdown_end_failed(void)
{
    end_has_failed(0);
}

void dft_shutdown_exec_failed(void)
{
    end_has_failed(1);
}

/* Returns 0 when another thread is already ending the process. */
static int try_end(void)
{
    int was;

    dft_spin_lock(&shutdown_lock);
    was = ended;
    ended = 1;
    dft_spin_unlock(&shutdown_lock);
    return !was;
}

/* --- end -------------------------------------------------------------------------------------- */

static void end_trace(enum dft_ending exit_kind, int status)
{
    const struct dft_ended not_known = {0};
    struct dft_ended end;
    int unsure;

    dft_sampler_stop();
    dft_requests_end();
    if (dft_self)
        dft_annotate_end_all(dft_self, dft_ending_text(exit_kind),
                             exit_kind == DFT_ENDING_EXIT || exit_kind == DFT_ENDING__EXIT);
    unsure = announce_late();
    end = note_end(exit_kind, status & 0xff /* all that the parent sees */);
    /* The file may stay, or its path may lead nowhere (chroot). */
    atomic_store(&dft_live->state, exit_kind == DFT_ENDING_SIGNAL ? DFT_LIVE_FATAL : DFT_LIVE_CLEAN);
    /* Without the barrier other threads may still end their regions themselves. The live file then
     * tells which regions are left. */
    if (drain_everything(unsure ? &not_known : &end))
        unsure = 1;
    if (is_kept() && dft_self)
        dft_pending_names_leave(dft_self);
    /* When END cannot be written, only the live file knows what was lost. */
    if (!write_end(exit_kind, status & 0xff) && !unsure && !is_kept())
        dft_livefile_remove();
    dft_stage_end();
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
        dft_futex_wake(&done, INT32_MAX);
}

void dft_shutdown_end(enum dft_ending exit_kind, int status)
{
    struct dft_signals before;

    dft_inlined_sync_all();
    if (dft_vfork_child_ends(exit_kind, status) || dft_sandbox_end(exit_kind, status))
        return;
    dft_process_start_at_last(dft_traced_left_out());
    if (!is_ours_to_end())
        return;
    /* a handler that ends the process now would leave it without an end */
    before = dft_signals_block();
    if (try_end())
        end_trace(exit_kind, status);
    else
        wait_for_the_end();
    /* A signal that came meanwhile would have found no process: with it now, _exit would end as killed. */
    if (exit_kind != DFT_ENDING__EXIT)
        dft_signals_restore(before);
}
