/* SPDX-License-Identifier: MIT */
/* dftmerge spans: performance data of workflows in a database of SQLite. The command and its verbs. */
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "spans/verbs.h"

static int run(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], dft_spans_import.name))
        return dft_spans_import.run(argc - 1, argv + 1);
    fprintf(stderr, "dftmerge spans: which verb? For example: %s\n", dft_command_spans.example);
    return DFT_EXIT_USAGE;
}

const struct dft_command dft_command_spans = {
    .name = "spans",
    .arguments = "VERB FILE.db [OPTION...]",
    .brief = "workflows: tasks and their events in SQL, orderings, times between, states",
    .example = "dftmerge spans import run.db runinfo/ traces/",
    .takes = DFT_TAKES_NONE,
    .run = run,
};
