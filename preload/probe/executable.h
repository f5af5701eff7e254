/* SPDX-License-Identifier: MIT */
/* Whether an exec is going to work. */
#ifndef DFT_EXECUTABLE_H
#define DFT_EXECUTABLE_H

/* For dirfd of a file that is looked for in PATH. */
#define DFT_SEARCH_PATH (-1000)

/* Can this file be executed, as far as access rights tell? dirfd: DFT_SEARCH_PATH for a file
 * without a slash looks in PATH. */
int dft_executable_can_run(int dirfd, const char *path);

#endif
