/* SPDX-License-Identifier: MIT */
/* dftrun: runs a program under the tracer and prints where its I/O time went.
 *
 * The program's standard output stays its own. All messages of dftrun go to standard error. Each run has a prefix of
 * its own for its trace files. The summary is therefore of this run alone, and a directory can hold many runs. The last
 * rank of a job to end prints the page of all. The exit code is that of the program. It is 2 for wrong usage, and 125
 * when dftrun itself fails or cannot write a trace. The program does not run after 2 or 125. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/bus_error.h"
#include "base/guard.h"
#include "dftrun/dftrun.h"
#include "dftrun/dftrun_child.h"
#include "dftrun/dftrun_container.h"
#include "dftrun/dftrun_doctor.h"
#include "dftrun/dftrun_ended.h"
#include "dftrun/dftrun_environment.h"
#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_gpu.h"
#include "dftrun/dftrun_launch.h"
#include "dftrun/dftrun_node.h"
#include "dftrun/dftrun_options.h"
#include "dftrun/dftrun_page.h"
#include "dftrun/dftrun_preload.h"
#include "dftrun/dftrun_ranks.h"
#include "dftrun/dftrun_stage.h"

#ifndef DFT_LIBDIR
#define DFT_LIBDIR "/usr/local/lib"
#endif

static int fits(int n, size_t capacity)
{
    return n > 0 && (size_t)n < capacity;
}

/* Finds the directory of this binary, also where there is no /proc. The library and dftmerge are
 * looked for around that directory. */
static void find_home(struct dft_run *run)
{
    ssize_t n = readlink("/proc/self/exe", run->home, sizeof(run->home) - 1);
    const char *name = (const char *)getauxval(AT_EXECFN);
    char *slash;

    if (n > 0)
        run->home[n] = '\0';
    else if (!name || !realpath(name, run->home))
        run->home[0] = '\0';
    slash = strrchr(run->home, '/');
    if (slash)
        *slash = '\0';
}

/* Returns 0, or -errno: -EINVAL where LD_PRELOAD cannot name the path, because it has no quotes. */
static int find_library(struct dft_run *run)
{
    static const char *const places[] = {"../lib", "../lib64", "."};
    char path[PATH_MAX];
    int found = 0;

    for (size_t i = 0; !found && i < sizeof(places) / sizeof(places[0]); i++)
        found = fits(snprintf(path, sizeof(path), "%s/%s/%s", run->home, places[i], DFTRUN_LIBRARY), sizeof(path)) &&
                realpath(path, run->library);
    if (!found && !realpath(DFT_LIBDIR "/" DFTRUN_LIBRARY, run->library)) {
        *run->library = '\0';
        return -ENOENT;
    }
    return strpbrk(run->library, " :\t\n") ? -EINVAL : 0;
}

static void say_library(const struct dft_run *run, int error)
{
    if (error == -ENOENT)
        fprintf(stderr, "dftrun: %s is neither in %s/../lib nor in %s: build or install dftrace first\n",
                DFTRUN_LIBRARY, run->home, DFT_LIBDIR);
    else
        fprintf(stderr, "dftrun: the loader cannot preload '%s' (a space or colon in the path): move it\n",
                run->library);
}

/* A run's files begin with the time and our pid. A '-' separates the rest, which the library
 * adds. */
static int make_prefix(struct dft_run *run)
{
    int error = dft_folder_absolute(run->place, run->directory), n;
    struct timespec now;
    struct tm tm;

    if (error)
        return error;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    n = snprintf(run->prefix, sizeof(run->prefix), "%s/run-%04d%02d%02d-%02d%02d%02d-%d", run->place, tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)getpid());
    return fits(n, sizeof(run->prefix)) ? 0 : -ENAMETOOLONG;
}

/* Can the traces and the files of the page be written? If not, says why. */
static int can_write(const struct dft_run *run)
{
    const char *which = NULL;
    int error = dft_folder_try(run->prefix);

    if (error) {
        fprintf(stderr,
                "dftrun: no trace can be written to '%s': %s; the command was not run (-o names another directory)\n",
                run->directory, strerror(-error));
        return 0;
    }
    error = dft_page_try_files(run, &which);
    if (error)
        fprintf(stderr, "dftrun: %s %s cannot be written: %s; the command was not run\n",
                which == run->json ? "--json" : "--report", which, strerror(-error));
    return !error;
}

/* Without samples of the node the command runs all the same. */
static pid_t start_node(const struct dft_run *run)
{
    pid_t node;

    dft_run_set_id(&run->launch); /* the program gets the same */
    node = dft_node_start(run->place);
    if (node < 0)
        fprintf(stderr, "dftrun: this node cannot be sampled: %s\n", strerror((int)-node));
    return node;
}

static int run_command(struct dft_run *run, struct dft_outcome *outcome)
{
    pid_t node = run->node ? start_node(run) : 0;
    int error;

    dft_ranks_begin(&run->ranks, &run->launch);
    error = dft_child_run(run->command, dft_run_environment, run, outcome);
    dft_node_stop(node);
    return error;
}

static void speak(struct dft_run *run, const struct dft_outcome *outcome)
{
    enum dft_ends ends = dft_ranks_end(&run->ranks, &run->launch, run->place);

    if (ends == DFT_ENDS_LAST)
        dft_page_print(run, outcome);
    else if (ends == DFT_ENDS_UNKNOWN)
        dft_page_point(run);
}

static int check_every(const struct dft_run *run)
{
    if (!run->every || run->launch.rank >= 0)
        return 0;
    fputs("dftrun: --every has no effect without ranks, and no launcher (mpirun, srun ...) has set one; the command\n"
          "dftrun: was not run. Put the launcher before dftrun, or set DFTRACER_RANK and DFTRACER_WORLD_SIZE\n",
          stderr);
    return DFTRUN_USAGE;
}

/* Does what prints something in place of a page. `no_library`: why there is none, or 0. */
static int run_without_page(struct dft_run *run, int no_library)
{
    int error = make_prefix(run);

    if (error) {
        fprintf(stderr, "dftrun: -o %.100s: %s\n", run->directory, strerror(-error));
        return DFTRUN_OWN;
    }
    if (run->doctor)
        return dft_doctor(run, no_library);
    if (no_library) {
        say_library(run, no_library);
        return DFTRUN_OWN;
    }
    return dft_container_print(run);
}

int main(int argc, char **argv)
{
    static struct dft_run run;
    struct dft_outcome outcome = {.status = DFTRUN_OWN};
    int error;

    dft_bus_catch();
    dft_guard_messages();
    error = dft_run_parse(&run, argc, argv);
    if (error)
        return error;
    find_home(&run);
    error = find_library(&run);
    dft_launch_find(&run.launch);
    if (run.doctor || run.container)
        return run_without_page(&run, error);
    if (error) {
        say_library(&run, error);
        return DFTRUN_OWN;
    }
    error = dft_gpu_check(&run);
    if (!error)
        error = dft_page_check(&run, run.launch.rank <= 0);
    if (!error)
        error = check_every(&run);
    if (error)
        return error;
    dft_program_inspect(&run.program, run.command[0]);
    if (run.program.untraceable && !run.quiet)
        fprintf(stderr, "dftrun: '%s' will run untraced: %s\n", run.command[0], run.program.untraceable);
    if (!run.quiet && run.launch.rank <= 0)
        dft_preload_say(&run);
    error = make_prefix(&run);
    if (!error)
        error = dft_stage_find(&run);
    if (!error && !can_write(&run))
        return DFTRUN_OWN;
    if (!error)
        error = run_command(&run, &outcome);
    if (error) {
        fprintf(stderr, "dftrun: %s\n", strerror(-error));
        return DFTRUN_OWN;
    }
    dft_stage_collect(&run);
    dft_ended_write(&run, &outcome);
    speak(&run, &outcome);
    dft_child_follow(&outcome);
}
