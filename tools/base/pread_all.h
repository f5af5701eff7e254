/* SPDX-License-Identifier: MIT */
/* Reads a range of a file whole. */
#ifndef DFT_PREAD_ALL_H
#define DFT_PREAD_ALL_H

#include <stddef.h>
#include <stdint.h>

/* Goes on after signals and short reads. Returns 0 or -errno; -ENODATA: the file ends before the
 * range does. */
int dft_pread_all(int fd, void *bytes, size_t length, uint64_t offset);

#endif
