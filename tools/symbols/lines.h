/* SPDX-License-Identifier: MIT */
/* Source lines of addresses, from debug information on this machine (elfutils' libdw). */
#ifndef DFT_LINES_H
#define DFT_LINES_H

#include <stdint.h>

/* "/path/of/source.c:123" of an address as the file's symbols have addresses; build_id as in symbols.h. Returns a text that lives as long as the
 * program, or NULL: not known, or built without libdw. Any thread. */
const char *dft_lines_find(const char *path, uint64_t build_id, uint64_t address);

#endif
