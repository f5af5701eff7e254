/* SPDX-License-Identifier: MIT */
/* Whether an exec is going to work. */
#ifndef DFT_EXECUTABLE_H
#define DFT_EXECUTABLE_H

/* For dirfd of a file that is looked for in PATH. */
#define DFT_SEARCH_PATH    (-1000)
#define DFT_EXECUTABLE_MAX 512u /* bytes of a file that a search finds */

/* Can this file be executed, as far as access rights tell? dirfd: DFT_SEARCH_PATH for a file
 * without a slash looks in PATH. `found`: the file that such a search finds, or empty. */
int dft_executable_can_run(int dirfd, const char *path, char found[DFT_EXECUTABLE_MAX]);

#endif
