/* SPDX-License-Identifier: MIT */
/* The bytes of a live file. Anybody may have made it, cut it or given it holes, so its size is checked first. */
#ifndef DFT_LIVE_FILE_H
#define DFT_LIVE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* How many bytes of the file are in use, by its head. Returns 0, -errno, or -EFBIG: more than any process makes. *cut:
 * how many of them the file has lost; NULL: not requested. */
int dft_live_length(int fd, const struct stat *st, size_t *length, uint64_t *cut);
/* Reads so many bytes, from malloc. Holes take no memory, nor room in their file system. *unread: bytes that cannot be
 * read, and are zeros. NULL: no memory. */
char *dft_live_bytes(int fd, size_t length, uint64_t *unread);

#endif
