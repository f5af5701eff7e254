/* Owns all ordering, with ending.c: load, first event, fork. */
#include "life/lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#include "regions/annotate.h"
#include "life/at_exit.h"
#include "os/clock.h"
#include "format/codec.h"
#include "os/config.h"
#include "store/context.h"
#include "ring/drain.h"
#include "life/ending.h"
#include "life/fatal.h"
#include "tables/fdtable.h"
#include "life/follow.h"
#include "regions/function.h"
#include "store/igzip_mapped.h"
#include "os/line.h"
#include "store/livefile.h"
#include "tables/opening.h"
#include "probe/paths.h"
#include "regions/perfflow.h"
#include "probe/probe_process.h"
#include "store/process.h"
#include "probe/request.h"
#include "os/resolve.h"
#include "life/sandbox.h"
#include "os/settings.h"
#include "probe/traced.h"
#include "store/tracefile.h"
#include "store/tracename.h"
#include "ring/unsent.h"
#include "weave/weave.h"

#define TRY_AGAIN_NS 100000000u

int dft_on;
int dft_late;
uint64_t dft_key, dft_parent_key;
uint32_t dft_pid;
struct dft_spin dft_process_lock;

static uint32_t no_generation;
volatile uint32_t *dft_generation = &no_generation;

enum started { STARTED_NOT, STARTED, STARTED_FAILED };
static enum started started;        /* atomic; dft_process_lock to change it */
static uint64_t try_again_ns;       /* atomic: the trace could not be created, and is tried again then */
static _Atomic uint64_t unrecorded; /* events until then */

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
    dft_tracename_init();
    dft_traced_init();
    if (dft_fdtable_init() || make_generation() || dft_thread_init()) {
        dft_message(DFT_LOG_ERROR, "no memory for tracing; nothing is recorded", NULL);
        return;
    }
    dft_ending_init();
    dft_at_exit_init();
    dft_fatal_init();
    dft_function_init();
    dft_igzip_init();
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
    dft_perfflow_find_next();
    if (dft_config.enable) {
        dft_perfflow_init(environment);
        set_up();
    }
    dft_settings_tell();
}

/* --- first event -------------------------------------------------------------------------------------------------- */

int dft_process_waits(void)
{
    uint64_t then = __atomic_load_n(&try_again_ns, __ATOMIC_RELAXED);

    return then && dft_clock_monotonic_ns() < then;
}

int dft_process_is_started(void)
{
    return __atomic_load_n(&started, __ATOMIC_ACQUIRE) == STARTED;
}

void dft_process_drop(void)
{
    if (dft_process_is_started())
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

static int is_last_try; /* the process ends */

static int create_trace(void)
{
    int result = dft_tracefile_create(), passes = may_pass(result);
    char room[DFT_ERROR_ROOM];
    const char *why;

    if (!result)
        return 0;
    why = dft_line_error(-result, room);
    if (!passes || is_last_try) /* the path last: a long one is cut */
        dft_message(DFT_LOG_ERROR, "cannot create a trace, nothing is recorded (set DFTRACER_LOG_FILE): ", why, ": ",
                    dft_tracefile_path(), NULL);
    else if (!try_again_ns)
        dft_message(DFT_LOG_WARN, "cannot create a trace yet, it is tried again: ", why, ": ", dft_tracefile_path(),
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
    if (atomic_load(&unrecorded)) /* what was opened meanwhile has no name in the trace */
        dft_fdtable_unname();
    atomic_fetch_add(&dft_live->dropped[DFT_DROP_NO_FILE], atomic_exchange(&unrecorded, 0));
    __atomic_store_n(&started, STARTED, __ATOMIC_RELEASE);
    return 0;
}

/* The process ends before it was time to try again, or without an event: if the trace can be created now, it says at
 * least how much is missing, or was left out. */
void dft_process_start_at_last(void)
{
    struct dft_signals before;

    if (!dft_on || !*dft_generation || started != STARTED_NOT || !(atomic_load(&unrecorded) || dft_traced_left_out()) ||
        (uint32_t)dft_sys_getpid() != dft_pid)
        return;
    before = dft_signals_block();
    dft_spin_lock(&dft_process_lock);
    is_last_try = 1;
    dft_process_start();
    is_last_try = 0;
    dft_spin_unlock(&dft_process_lock);
    dft_signals_restore(before);
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
    dft_ending_forked();
    dft_process_lock.held = 0;
    dft_opening_forked();
    dft_clock_forked();
    dft_thread_forget_all();
    dft_livefile_forget();
    dft_tracefile_forget();
    dft_process_untold();
    dft_context_forked();
    dft_igzip_forked();
    dft_fdtable_forked();
    dft_requests_forked();
    dft_unsent_forked();
    dft_function_forget();
    dft_traced_forked();
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
