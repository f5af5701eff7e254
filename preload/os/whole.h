/* SPDX-License-Identifier: MIT */
/* Reads the files that settings name. Constructor only. */
#ifndef DFT_WHOLE_H
#define DFT_WHOLE_H

#include <stddef.h>

/* Reads a regular file. *bytes: a mapping of `most` + 1 bytes, zeros behind the text, or NULL. Returns the
 * length, or -errno: -EFBIG for more than `most` bytes, -EISDIR, -ENODEV for a pipe or a device. */
long dft_whole_read(const char *path, size_t most, char **bytes);

#endif
