/* SPDX-License-Identifier: MIT */
/* `dftmerge ps`: the processes of a job as a tree, how each of them ended, and what it was doing
 * then. */
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "small/ps_inside.h"
#include "stacks/ps_stacks_find.h"
#include "stacks/ps_stacks_show.h"

/* Before the source is opened. */
static int find_processes(const struct dft_options *options)
{
#ifdef DFT_HAVE_UNWIND
    return dft_ps_stacks_paths((char **)(uintptr_t)options->source.paths, options->source.npaths);
#else
    (void)options;
    fputs("dftmerge: ps --stacks: this dftmerge was built without libunwind. Install libunwind-dev, and rebuild it\n",
          stderr);
    return -1;
#endif
}

static int take_stacks(struct ps *ps)
{
#ifdef DFT_HAVE_UNWIND
    if (ps->with_stacks)
        return dft_ps_stacks_take(&ps->stacks, ps->source, &ps->tree, &ps->flights);
#endif
    (void)ps;
    return 0;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct ps ps = {.flights.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct dft_option own[] = {
        {.name = "stacks",
         .flag = &ps.with_stacks,
         .help = "Where each thread is now that has a call or region in flight; PATH may be a process id"},
        {.name = "all", .flag = &ps.with_all, .help = "Each killed process by itself, also where several are alike"},
        {0}};
    int code;

    if (dft_options_parse(&options, &dft_command_ps, own, argc, argv, &code))
        return code;
    if (ps.with_stacks && find_processes(&options)) {
        dft_options_fini(&options);
        return DFT_EXIT_BAD;
    }
    if (dft_command_begin(&options, &ps.source, &code))
        return code;
    code = DFT_EXIT_BAD;
    ps.filter = &options.filter;
    if (dft_ps_tree_make(&ps.tree, ps.source, &options.filter) == 0 && dft_ps_io_count(&ps, &options.filter) == 0 &&
        dft_flights_fetch(&ps.flights, ps.source) == 0 && take_stacks(&ps) == 0 &&
        dft_fates_find(&ps.fates, ps.source, ps.filter) == 0) {
        if (!ps.tree.shown)
            dft_command_nothing(&options, ps.source);
        dft_locks_read(&ps.locks, ps.flights.list, ps.flights.count);
        if (options.json)
            dft_ps_json(&ps);
        if (options.json || dft_ps_text(&ps) == 0)
            code = DFT_EXIT_OK;
    }
    free(ps.io);
    dft_ps_tree_free(&ps.tree);
    dft_flights_free(&ps.flights);
    dft_locks_free(&ps.locks);
    dft_fates_free(&ps.fates);
    dft_ps_stacks_free(&ps.stacks);
    return dft_command_end(&options, ps.source, code);
}

const struct dft_command dft_command_ps = {
    .name = "ps",
    .arguments = "PATH...",
    .brief = "Processes: how they ended, and what they were doing",
    .details =
        "There is one line for each process image (a process that execs has several), children under their "
        "parents. Time, bytes and share of I/O are of the calls that pass the filter. Killed processes that are "
        "alike, and ended alike, are one line; who died first has its own. Below a process stand the calls and regions "
        "that were in flight when it was killed, or that are in flight now. With --stacks, the stack of each of their "
        "threads follows: what is a hung process doing? A thread is stopped for some 0.2 ms, and goes on as before.",
    .example = "dftmerge ps --stacks traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_FILTER | DFT_TAKES_RANKS,
    .run = run,
};
