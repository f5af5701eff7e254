/* SPDX-License-Identifier: MIT */
/* Arrays of which most processes touch the first bytes, or none. */
#ifndef DFT_BULK_H
#define DFT_BULK_H

/* The linker sorts variables by alignment (CMakeLists.txt). So these arrays lie apart from the small
 * variables, which then share three pages. Each page that a process touches costs 2 us. */
#define DFT_BULK __attribute__((aligned(4096)))

#endif
