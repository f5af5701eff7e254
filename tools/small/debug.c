/* SPDX-License-Identifier: MIT */
/* dftmerge debug: what those ask who work on dftrace itself, or on the size of traces. */
#include "command/verbs.h"

static const struct dft_command *const all[] = {&dft_command_stat, &dft_command_calls};

static int run(int argc, char **argv)
{
    const struct dft_verbs verbs = {&dft_command_debug, all, sizeof all / sizeof *all};

    return dft_verbs_run(&verbs, argc, argv);
}

const struct dft_command dft_command_debug = {
    .name = "debug",
    .arguments = "VERB [OPTION...]",
    .brief = "What traces are made of, and which calls are intercepted",
    .example = "dftmerge debug stat traces/",
    .takes = DFT_TAKES_NONE,
    .run = run,
};
