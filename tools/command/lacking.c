/* SPDX-License-Identifier: MIT */
/* The commands that this build has not, because a library was missing: they say which. */
#include <stdio.h>

#include "command/command.h"

#ifndef DFT_HAVE_SQLITE
static int run_without_sqlite(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr,
            "dftmerge: %s: this dftmerge was built without SQLite; install it (libsqlite3-dev) and build again\n",
            argv[0]);
    return DFT_EXIT_USAGE;
}

#define LACKING(NAME)                                                                                                  \
    const struct dft_command dft_command_##NAME = {                                                                    \
        .name = #NAME, .brief = "not in this build: it needs SQLite", .run = run_without_sqlite};
LACKING(sql)
LACKING(spans)
#endif
