/* SPDX-License-Identifier: MIT */
/* Paths of two sides, with "--" between them: `compare A1 A2 -- B1 B2`. */
#ifndef DFT_SIDES_H
#define DFT_SIDES_H

#include "command/command.h"

/* Makes of the first "--" of argv a path, so that options may stand behind it, too. For commands
 * with two sides, before dft_options_parse. */
void dft_sides_mark(int argc, char **argv);
/* How many paths stand before the "--"; -1: there is none. */
int dft_sides_divide(const struct dft_options *options);

#endif
