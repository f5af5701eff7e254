/* SPDX-License-Identifier: MIT */
/* Owns what a program says of its own tracing (DFTRACER_C_INIT and its relatives): where the trace
 * goes and what is traced, where the environment has not settled that by preloading. */
#include <string.h>

#include "regions/annotate.h"
#include "probe/call.h"
#include "settings/config.h"
#include "settings/message.h"
#include "probe/traced.h"
#include "store/tracefile.h"

/* DFTRACER_INIT says so, else how the library came here. */
static int is_settled(void)
{
    return dft_config.init == DFT_INIT_PRELOAD || (dft_config.init == DFT_INIT_AUTO && dft_config_preloaded);
}

/* Signals blocked, dft_process_lock held. */
static void apply(const char *log_file, const char *data_dirs, int bind)
{
    if (log_file && *log_file && strcmp(log_file, dft_config.log_file) != 0) {
        dft_config.log_file = dft_config_keep(log_file);
        if (dft_tracefile_move() < 0)
            dft_message(DFT_LOG_WARN, "the trace was begun already and cannot be moved to ", dft_config.log_file, NULL);
    }
    if (data_dirs && *data_dirs) {
        dft_config.data_dir = dft_config_keep(data_dirs);
        dft_traced_init();
    }
    if (!bind)
        dft_on &= DFT_ON_REGIONS;
}

void dft_app_init(const char *log_file, const char *data_dirs, const int *process_id, int bind)
{
    struct dft_signals before;
    struct dftrace_arg arg;

    if (!dft_on || dft_in_vfork_child() || dft_is_sandboxed())
        return;
    if (!is_settled()) {
        before = dft_signals_block();
        dft_spin_lock(&dft_process_lock);
        apply(log_file, data_dirs, bind);
        dft_spin_unlock(&dft_process_lock);
        dft_signals_restore(before);
    }
    if (!process_id || *process_id < 0)
        return;
    arg = dftrace_int("process_id", *process_id);
    dft_annotate_put_metadata("dftracer", &arg);
}
