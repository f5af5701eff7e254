/* SPDX-License-Identifier: MIT */
/* Owns all ordering, together with shutdown.c: load and fork. */
#include "life/lifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <dftrace/dftrace.h>

#include "ring/control.h"
#include "rows/mode.h"
#include "ring/names.h"
#include "regions/annotate.h"
#include "life/at_exit.h"
#include "life/beside.h"
#include "os/clock.h"
#include "format/hash.h"
#include "settings/config.h"
#include "settings/config_init.h"
#include "settings/message.h"
#include "settings/config_place.h"
#include "store/context.h"
#include "life/shutdown.h"
#include "life/fatal.h"
#include "tables/fdtable.h"
#include "life/env_propagation.h"
#include "regions/function.h"
#include "os/line.h"
#include "os/memory.h"
#include "store/livefile.h"
#include "tables/fd_progress.h"
#include "probe/inlined.h"
#include "probe/paths.h"
#include "regions/perfflow.h"
#include "probe/probe_process.h"
#include "store/counters.h"
#include "store/first.h"
#include "store/place.h"
#include "store/process.h"
#include "store/process_start.h"
#include "store/stage.h"
#include "store/strays.h"
#include "os/self.h"
#include "probe/request.h"
#include "loader/own_calls.h"
#include "os/own_files.h"
#include "os/secure.h"
#include "loader/resolve.h"
#include "settings/settings.h"
#include "probe/traced.h"
#include "store/tracefile.h"
#include "store/tracename.h"
#include "ring/pending_names.h"
#include "weave/weave.h"

/* --- load ------------------------------------------------------------------------------------- */

static uint64_t draw_key(void)
{
    uint64_t key = 0;

    if (DFT_SYS(getrandom, &key, sizeof key, GRND_NONBLOCK, 0, 0, 0) != sizeof key)
        key = dft_name_id(&(uint64_t[]){dft_ticks(), dft_clock_start_ns, dft_pid}, 3 * sizeof(uint64_t));
    return key ? key : 1;
}

/* Makes the page whose word a fork wipes. */
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

static void end_regions(struct dft_thread *self)
{
    dft_annotate_end_all(self, "thread", 1);
}

static const struct dft_thread_orders orders = {.ends = end_regions, .forked = dft_lifecycle_forked};

static void set_up(char *const *environment)
{
    dft_clock_init();
    dft_pid = (uint32_t)dft_sys_getpid();
    dft_key = draw_key();
    dft_tracename_init();
    dft_place_init(environment);
    dft_stage_init(environment);
    dft_traced_init();
    dft_mode_begin();
    if (make_generation() || dft_thread_init(&orders)) {
        dft_message(DFT_LOG_ERROR, "no memory for tracing; nothing is recorded", NULL);
        return;
    }
    dft_shutdown_init();
    dft_at_exit_init();
    dft_fatal_init();
    dft_function_init();
    dft_annotate_enable();
    dft_on = wanted();
    dft_counters_load();
    dft_tracefile_number_prepare();
    dft_memory_begin((const void *)(uintptr_t)dft_generation);
}

/* Streams and threads of another C library are not what we know. The wrappers pass each call on. musl
 * gives constructors no arguments. */
static void refuse(void)
{
    dft_config_init(dft_secure_environment(environ));
    if (dft_config.enable && dft_first_tells_musl())
        dft_message(DFT_LOG_ERROR,
                    "the C library of this program is musl; libdftrace.so needs glibc, and nothing is traced", NULL);
    dft_config.enable = 0;
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
    char *const *settings;

    (void)argc;
    (void)argv;
    dft_resolve();
    dft_own_init();
    if (!dft_own_has_glibc()) {
        refuse();
        return;
    }
    settings = dft_secure_environment(environment);
    dft_config_init(settings);
    if (dft_config.enable && settings == environment) /* root's settings for others' programs name no place of theirs */
        dft_config_place(environment);
    dft_env_propagation_init(environment);
    dft_perfflow_find_next();
    if (dft_config.enable && dft_beside_steps_back())
        dft_config.enable = 0;
    if (dft_config.enable) {
        dft_perfflow_init(settings);
        set_up(settings);
        dft_beside_note_taken();
    }
    dft_settings_tell(dft_first_tells);
}

/* --- fork ------------------------------------------------------------------------------------- */

void dft_lifecycle_forking(enum dft_child child)
{
    if (dft_in_vfork_child())
        return;
    dft_inlined_sync_all();
    dft_fdtable_forking(child == DFT_CHILD_EXECS);
    if (child == DFT_CHILD_STAYS)
        dft_strays_forking();
}

void dft_lifecycle_forked(void)
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
    dft_process_start_forked();
    dft_shutdown_forked();
    dft_process_lock.held = 0;
    dft_fd_progress_forked();
    dft_strays_forked();
    dft_clock_forked();
    dft_thread_forget_all();
    dft_livefile_forget();
    if (dft_tracefile_number() < 0) /* else the parent's table is large, and so is the child's */
        dft_tracefile_number_prepare();
    dft_tracefile_forget();
    dft_process_untold(dft_pauses_own() != 0);
    dft_counters_forked();
    dft_context_forked();
    if (dft_own_files_forked())
        dft_fdtable_forget();
    dft_fdtable_forked();
    dft_requests_forked();
    dft_pending_names_forked();
    dft_names_forget_code();
    dft_traced_forked();
    dft_weave_forked();
    dft_signals_restore(before);
}

void dft_lifecycle_forked_once(void)
{
    struct dft_signals before;

    if (!dft_on)
        return;
    before = dft_signals_block(); /* a signal handler's calls would be the first in the child */
    if (!*dft_generation || (uint32_t)dft_sys_getpid() != dft_pid)
        dft_lifecycle_forked();
    dft_signals_restore(before);
}
