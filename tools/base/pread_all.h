/* SPDX-License-Identifier: MIT */
/* A range of a file, read whole. */
#ifndef DFT_PREAD_ALL_H
#define DFT_PREAD_ALL_H

#include <stddef.h>
#include <stdint.h>

/* Goes on after signals and short reads. Returns 0 or -errno; -ENODATA: the file ends before. */
int dft_pread_all(int fd, void *bytes, size_t length, uint64_t offset);

#endif
