/* SPDX-License-Identifier: MIT */
/* Owns the moment at which the process's files are made: at its first event, or later where the
 * files cannot be had yet. */
#include "store/process_start.h"

#include <errno.h>

#include "format/format.h"
#include "os/clock.h"
#include "settings/message.h"
#include "os/line.h"
#include "os/self.h"
#include "os/sys.h"
#include "store/counters.h"
#include "store/first.h"
#include "store/livefile.h"
#include "store/notes.h"
#include "store/process.h"
#include "store/tracefile.h"
#include "tables/fdtable.h"

#define TRY_AGAIN_NS 100000000u

enum started { STARTED_NOT, STARTED, STARTED_FAILED };
static enum started started; /* atomic; changed with dft_process_lock held */
/* atomic: the trace could not be created; the time of the next attempt */
static uint64_t try_again_ns;
static _Atomic uint64_t unrecorded; /* events before the start */

int dft_process_start_waits(void)
{
    uint64_t then = __atomic_load_n(&try_again_ns, __ATOMIC_RELAXED);

    return then && dft_clock_monotonic_ns() < then;
}

int dft_process_start_is_done(void)
{
    return __atomic_load_n(&started, __ATOMIC_ACQUIRE) == STARTED;
}

void dft_process_start_drop(void)
{
    if (dft_process_start_is_done())
        atomic_fetch_add_explicit(&dft_live->dropped[DFT_DROP_NO_MEMORY], 1, memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&unrecorded, 1, memory_order_relaxed);
}

/* May the error pass? Other programs close descriptors and delete files. */
static int may_pass(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOSPC || error == -EDQUOT || error == -ENOMEM ||
           error == -EIO;
}

static int is_last_try; /* the process is ending */

static int create_trace(void)
{
    int result = dft_tracefile_create(), passes = may_pass(result);
    char text[DFT_ERROR_ROOM];
    const char *reason;

    if (!result)
        return 0;
    reason = dft_line_error(-result, text);
    if ((!passes || is_last_try) && dft_first_tells_place(0)) /* the path stands last, because a long path is cut */
        dft_message(DFT_LOG_ERROR, "cannot create a trace, nothing is recorded (set DFTRACER_LOG_FILE): ", reason, ": ",
                    dft_tracefile_path(), NULL);
    else if (passes && !is_last_try && !try_again_ns)
        dft_message(DFT_LOG_WARN, "cannot create a trace yet, it is tried again: ", reason, ": ", dft_tracefile_path(),
                    NULL);
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
    if (atomic_load(&unrecorded)) /* descriptors opened meanwhile have no name in the trace */
        dft_fdtable_unname();
    atomic_fetch_add(&dft_live->dropped[DFT_DROP_NO_FILE], atomic_exchange(&unrecorded, 0));
    dft_counters_start();
    __atomic_store_n(&started, STARTED, __ATOMIC_RELEASE);
    return 0;
}

/* The process ends before the time of the next attempt, or without an event. If the trace can be
 * created now, the trace tells the number of missing or left-out events. */
void dft_process_start_at_last(uint64_t left_out)
{
    struct dft_signals before;

    if (!dft_on || !*dft_generation || started != STARTED_NOT ||
        !(atomic_load(&unrecorded) || left_out || dft_process_has_unseen()) || (uint32_t)dft_sys_getpid() != dft_pid)
        return;
    before = dft_signals_block();
    dft_spin_lock(&dft_process_lock);
    is_last_try = 1;
    dft_process_start();
    is_last_try = 0;
    dft_spin_unlock(&dft_process_lock);
    dft_signals_restore(before);
}

void dft_process_start_forked(void)
{
    started = STARTED_NOT;
    try_again_ns = 0;
    atomic_store(&unrecorded, 0);
}
