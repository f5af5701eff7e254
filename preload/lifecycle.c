/* Owns all ordering: load, first event, fork, exec, end. */
#include "lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#include "annotate.h"
#include "at_exit.h"
#include "clock.h"
#include "codec.h"
#include "config.h"
#include "context.h"
#include "drain.h"
#include "end.h"
#include "fatal.h"
#include "fdtable.h"
#include "inlined.h"
#include "follow.h"
#include "livefile.h"
#include "paths.h"
#include "probe_process.h"
#include "process.h"
#include "request.h"
#include "resolve.h"
#include "run.h"
#include "sandbox.h"
#include "traced.h"
#include "tracefile.h"
#include "unsent.h"
#include "weave.h"

#define WAIT_FOR_BUSY_NS 10000000u
#define NEW_LIVEFILES    8 /* after failed execs: each costs a thread one of its DFT_THREAD_RINGS */
#define TRY_AGAIN_NS     100000000u

int dft_on;
int dft_late;
uint64_t dft_key, dft_parent_key;
uint32_t dft_pid;
struct dft_spin dft_process_lock;

static uint32_t no_generation;
volatile uint32_t *dft_generation = &no_generation;

enum started { STARTED_NOT, STARTED, STARTED_FAILED };
static enum started started;
static uint64_t try_again_ns;       /* atomic: the trace could not be created, and is tried again then */
static _Atomic uint64_t unrecorded; /* events until then */
static int ended;                   /* atomic */
static int renewed;                 /* live files that were made after failed execs */
static int barrier;                 /* membarrier can be used */

/* --- load --------------------------------------------------------------------------------------------------------- */

static uint64_t draw_key(void)
{
    uint64_t key = 0;

    if (DFT_SYS(getrandom, &key, sizeof key, 1 /* GRND_NONBLOCK */, 0, 0, 0) != sizeof key)
        key = dft_name_id(&(uint64_t[]){dft_ticks(), dft_clock_start_ns, dft_pid}, 3 * sizeof(uint64_t));
    return key ? key : 1;
}

/* The page whose word a fork wipes. */
static int make_generation(void)
{
    uint32_t *page = dft_sys_map(DFT_LIVE_PAGE);

    if (!page)
        return -ENOMEM;
    if (DFT_SYS(madvise, page, DFT_LIVE_PAGE, MADV_WIPEONFORK, 0, 0, 0) < 0)
        dft_message(DFT_LOG_WARN, "this kernel cannot wipe memory on fork: children of raw clone are not told apart",
                    NULL);
    *page = 1;
    dft_generation = page;
    return 0;
}

static int wanted(void)
{
    int on = DFT_ON_REGIONS;

    if (dft_config.disable_io)
        return on;
    if (!dft_config.disable_posix)
        on |= DFT_ON_POSIX | DFT_ON_PROCESS;
    if (!dft_config.disable_stdio)
        on |= DFT_ON_STDIO;
    return on;
}

static void set_up(void)
{
    dft_clock_init();
    dft_pid = (uint32_t)dft_sys_getpid();
    dft_key = draw_key();
    dft_tracefile_init();
    dft_traced_init();
    if (dft_fdtable_init() || make_generation() || dft_thread_init()) {
        dft_message(DFT_LOG_ERROR, "no memory for tracing; nothing is recorded", NULL);
        return;
    }
    barrier = DFT_SYS(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
    dft_at_exit_init();
    dft_fatal_init();
    dft_annotate_enable();
    dft_on = wanted();
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    dft_resolve();
    dft_resolve_own_calls();
    dft_config_init(environment);
    dft_follow_init(environment);
    if (dft_config.enable)
        set_up();
}

/* --- first event -------------------------------------------------------------------------------------------------- */

int dft_process_waits(void)
{
    uint64_t then = __atomic_load_n(&try_again_ns, __ATOMIC_RELAXED);

    return then && dft_clock_monotonic_ns() < then;
}

void dft_process_drop(void)
{
    if (started == STARTED)
        atomic_fetch_add_explicit(&dft_live->dropped[DFT_DROP_NO_MEMORY], 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&unrecorded, 1, memory_order_relaxed);
}

/* Others close descriptors and delete files. */
static int may_pass(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOSPC || error == -EDQUOT || error == -ENOMEM ||
           error == -EIO;
}

static int create_trace(void)
{
    int result = dft_tracefile_create(), passes = may_pass(result);

    if (!result)
        return 0;
    if (!passes)
        dft_message(DFT_LOG_ERROR, "cannot create ", dft_tracefile_path(),
                    "; nothing is recorded. Set DFTRACER_LOG_FILE", NULL);
    else if (!try_again_ns)
        dft_message(DFT_LOG_WARN, "cannot create ", dft_tracefile_path(), " yet; it is tried again", NULL);
    if (passes)
        __atomic_store_n(&try_again_ns, dft_clock_monotonic_ns() + TRY_AGAIN_NS, __ATOMIC_RELAXED);
    return passes ? -EAGAIN : result;
}

int dft_process_start(void)
{
    int result;

    if (__builtin_expect(started == STARTED, 1))
        return 0;
    if (started == STARTED_FAILED)
        return -EIO;
    result = create_trace();
    if (result == -EAGAIN)
        return result;
    if (!result && (dft_livefile_create() || dft_process_write_start() == -ENOMEM)) {
        dft_message(DFT_LOG_ERROR, "no memory for tracing; nothing is recorded", NULL);
        dft_livefile_remove();
        dft_tracefile_remove();
        result = -ENOMEM;
    }
    if (result) {
        started = STARTED_FAILED;
        dft_on = 0;
        return result;
    }
    __atomic_store_n(&try_again_ns, 0, __ATOMIC_RELAXED);
    atomic_fetch_add(&dft_live->dropped[DFT_DROP_NO_FILE], atomic_exchange(&unrecorded, 0));
    started = STARTED;
    return 0;
}

/* --- fork --------------------------------------------------------------------------------------------------------- */

void dft_process_forking(enum dft_child child)
{
    if (!dft_in_vfork_child())
        dft_fdtable_forking(child == DFT_CHILD_EXECS);
}

void dft_process_forked(void)
{
    struct dft_signals before;

    if (!dft_on || dft_sandbox_forked())
        return;
    before = dft_signals_block();
    *dft_generation = 1;
    dft_parent_key = dft_key;
    dft_pid = (uint32_t)dft_sys_getpid();
    dft_clock_start_ns = dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset;
    dft_key = draw_key();
    dft_vfork_mark = DFT_MARK_NONE;
    dft_late = 0;
    started = STARTED_NOT;
    try_again_ns = 0;
    atomic_store(&unrecorded, 0);
    ended = 0;
    renewed = 0;
    dft_drain_kept = 0;
    dft_process_lock.held = 0;
    dft_clock_forked();
    dft_thread_forget_all();
    dft_livefile_forget();
    dft_tracefile_forget();
    dft_process_untold();
    dft_context_forked();
    dft_fdtable_forked();
    dft_outstanding_forget();
    dft_unsent_forked();
    dft_weave_forked();
    dft_signals_restore(before);
}

void dft_process_forked_once(void)
{
    struct dft_signals before;

    if (!dft_on)
        return;
    before = dft_signals_block(); /* a handler's calls would be the first in the child */
    if (!*dft_generation || (uint32_t)dft_sys_getpid() != dft_pid)
        dft_process_forked();
    dft_signals_restore(before);
}

/* --- exec --------------------------------------------------------------------------------------------------------- */

static int is_kept(void)
{
    return __atomic_load_n(&dft_drain_kept, __ATOMIC_RELAXED);
}

/* All rings to the file. Returns the number of slots that other threads are still filling. */
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
        busy += (thread == dft_self ? 0 : left) + open;
    }
    return busy;
}

/* Not in a child that shares our memory, whatever made it. */
static int is_ours_to_end(void)
{
    return dft_on && *dft_generation && started == STARTED && (uint32_t)dft_sys_getpid() == dft_pid;
}

/* From now on whoever appends drains at once, and no run goes on. Returns 0 when no thread can have missed that. */
static int announce_late(void)
{
    if (dft_self)
        dft_run_break_all(dft_self);
    __atomic_store_n(&dft_late, 1, __ATOMIC_SEQ_CST);
    return barrier && DFT_SYS(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0 ? 0 : -EPERM;
}

/* In the live file, for whoever reads it if it stays. Returns the same. */
static struct dft_ended note_end(enum dft_ending how, int status)
{
    const struct dft_ended end = {dft_clock_monotonic_ns() + (uint64_t)dft_clock_offset, (uint8_t)how};

    atomic_store(&dft_live->how, (uint32_t)how);
    atomic_store(&dft_live->status, (uint32_t)status);
    atomic_store(&dft_live->ended_ns, end.time_ns);
    return end;
}

static int any_region_is_open(void)
{
    for (struct dft_thread *thread = __atomic_load_n(&dft_threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
        if (atomic_load_explicit(&thread->home->depth, memory_order_acquire))
            return 1;
    return 0;
}

/* Regions go on if the exec fails, so they are not ended here: the live file stays, which says what was open and when. It also stays, with
 * nothing in it, when many have failed before. */
void dft_process_exec(void)
{
    const struct dft_ended not_yet = {0};
    struct dft_signals before;
    int unsure;

    if (dft_sandbox_ends(DFT_ENDING_EXEC, 0) || !is_ours_to_end())
        return;
    before = dft_signals_block();
    dft_requests_end();
    note_end(DFT_ENDING_EXEC, 0);
    atomic_store(&dft_live->state, DFT_LIVE_EXEC);
    unsure = announce_late();
    if (!unsure && !drain_everything(&not_yet) && !dft_process_write_end(DFT_ENDING_EXEC, 0) && !any_region_is_open() &&
        !is_kept() && renewed < NEW_LIVEFILES)
        dft_livefile_remove();
    dft_signals_restore(before);
}

void dft_process_end_failed(void)
{
    __atomic_store_n(&ended, 0, __ATOMIC_SEQ_CST);
    dft_process_exec_failed();
}

/* Goes on as before. If the live file has gone, there is a new one; each thread moves to it at its next drain. */
void dft_process_exec_failed(void)
{
    struct dft_signals before;
    int gone;

    if (dft_is_sandboxed()) {
        if (*dft_generation && dft_live && !dft_in_vfork_child()) {
            atomic_store(&dft_live->ended_ns, 0);
            atomic_store(&dft_live->state, DFT_LIVE_RUNNING);
        }
        return;
    }
    if (!is_ours_to_end() || __atomic_load_n(&ended, __ATOMIC_SEQ_CST)) /* by another thread, meanwhile */
        return;
    before = dft_signals_block();
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
    if (gone && dft_self)
        dft_drain_own(dft_self);
    dft_signals_restore(before);
}

/* --- end ---------------------------------------------------------------------------------------------------------- */

void dft_process_end(enum dft_ending how, int status)
{
    const struct dft_ended not_known = {0};
    struct dft_signals before;
    struct dft_ended end;
    int unsure;

    if (dft_sandbox_ends(how, status) || !is_ours_to_end())
        return;
    before = dft_signals_block(); /* a handler that ends the process now would leave it without an end */
    if (__atomic_exchange_n(&ended, 1, __ATOMIC_SEQ_CST))
        return dft_signals_restore(before);
    dft_inlined_end_all();
    dft_requests_end();
    if (dft_self)
        dft_annotate_end_all(dft_self, dft_ending_text(how), how == DFT_ENDING_EXIT || how == DFT_ENDING__EXIT);
    unsure = announce_late();
    end = note_end(how, status & 0xff /* all that the parent sees */);
    atomic_store(&dft_live->state, how == DFT_ENDING_SIGNAL
                                       ? DFT_LIVE_FATAL
                                       : DFT_LIVE_CLEAN); /* should it stay, or not be there to be removed (chroot) */
    /* Without the barrier other threads may end their regions themselves: then the live file says what is left. */
    if (drain_everything(unsure ? &not_known : &end))
        unsure = 1;
    if (is_kept() && dft_self)
        dft_unsent_leave(dft_self);
    /* When END cannot be written, the live file alone knows what was lost. */
    if (!dft_process_write_end(how, status & 0xff) && !unsure && !is_kept())
        dft_livefile_remove();
    dft_signals_restore(before);
}
