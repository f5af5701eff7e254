/* SPDX-License-Identifier: MIT */
/* The variables that the program and the library in it begin with. */
#include "dftrun/dftrun_environment.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_gpu.h"
#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int dft_run_set_id(const struct dft_launch *launch)
{
    char host[65] = "", id[256];
    struct timespec now;

    if (dft_run_variable("DFTRACER_RUN_ID"))
        return 0;
    if (launch->rank >= 0) {
        snprintf(id, sizeof(id), "%s", launch->id);
    } else {
        gethostname(host, sizeof(host) - 1);
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(id, sizeof(id), "%s-%d-%lld.%06ld", host, (int)getpid(), (long long)now.tv_sec, now.tv_nsec / 1000);
    }
    return *id ? setenv("DFTRACER_RUN_ID", id, 1) : 0;
}

/* Does this rank keep aggregates alone, where others keep events? */
static int is_left_out(const struct dft_run *run)
{
    return run->every && run->launch.rank % run->every;
}

/* Rules and limits are about events. */
static int set_left_out(void)
{
    static const char *const of_events[] = {"DFTRACER_AGGREGATION_FILE", "DFTRACER_MAX_OVERHEAD_PERCENT",
                                            "DFTRACER_MAX_TRACE_BYTES", "DFTRACER_STACK"};

    for (size_t i = 0; i < sizeof of_events / sizeof *of_events; i++)
        unsetenv(of_events[i]);
    return setenv("DFTRACER_AGGREGATION_TYPE", "FULL", 1);
}

/* The program may go to another directory before a program that is traced begins. */
static int set_data_dirs(const struct dft_run *run)
{
    const char *given = run->data_dir ? run->data_dir : dft_run_variable("DFTRACER_DATA_DIR");
    char *absolute = given ? dft_folder_data_dirs(given) : NULL;
    int failed = given && (!absolute || setenv("DFTRACER_DATA_DIR", absolute, 1));

    free(absolute);
    return failed;
}

int dft_run_environment(const void *context)
{
    const struct dft_run *run = context;
    const int aggregates = run->aggregate || is_left_out(run);
    int failed =
        setenv("DFTRACER_ENABLE", "1", 1) | setenv("DFTRACER_LOG_FILE", run->prefix, 1) | dft_run_set_id(&run->launch);

    if (run->aggregate || run->every || run->stack) /* call stacks belong to events */
        failed |= setenv("DFTRACER_ENABLE_AGGREGATION", aggregates ? "1" : "0", 1);
    failed |= set_data_dirs(run);
    if (*run->stage_place)
        failed |= setenv("DFTRACER_STAGE_DIR", run->stage_place, 1);
    if (is_left_out(run))
        failed |= set_left_out();
    else if (run->stack)
        failed |= setenv("DFTRACER_STACK", run->stack, 1);
    if (run->gpu)
        failed |= dft_gpu_set(run);
    return failed ? -ENOMEM : dft_preload_set(run);
}
