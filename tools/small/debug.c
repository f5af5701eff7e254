/* SPDX-License-Identifier: MIT */
/* dftmerge debug: what those ask who work on dftrace itself, or on the size of traces. */
#include "command/verbs.h"

static const struct dft_command *const verbs[] = {&dft_command_stat, &dft_command_calls, NULL};

static int run(int argc, char **argv)
{
    return dft_verbs_run(&dft_command_debug, argc, argv);
}

const struct dft_command dft_command_debug = {
    .name = "debug",
    .arguments = "VERB [OPTION...]",
    .brief = "What traces are made of, and which calls are intercepted",
    .example = "dftmerge debug stat traces/",
    .takes = DFT_TAKES_NONE,
    .verbs = verbs,
    .run = run,
};
