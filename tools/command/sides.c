/* SPDX-License-Identifier: MIT */
/* Two sides of paths; see sides.h. */
#include "command/sides.h"

#include <string.h>

/* Stands for the first "--" while options are parsed. getopt_long leaves the order of paths as it
 * is. */
static char divider[] = "\001--";

void dft_sides_mark(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--")) {
            argv[i] = divider;
            return;
        }
}

int dft_sides_divide(const struct dft_options *options)
{
    for (int i = 0; i < options->source.npaths; i++)
        if (!strcmp(options->source.paths[i], divider))
            return i;
    return -1;
}
