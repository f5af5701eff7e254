/* SPDX-License-Identifier: MIT */
/* Reads texts of the program that the real call may not have read. Such a read causes no fault,
 * whatever the memory holds. */
#ifndef DFT_READING_H
#define DFT_READING_H

#include "format/text.h"

#define DFT_PATH_MAX 4096u /* the kernel reads no more of a path */

/* Did a call on one path that failed with this error read the path? These errors arise after the
 * kernel has followed the path. */
int dft_reading_is_done(int err);

/* Finds the end of the text: the NUL, or `most` bytes. Tests each page before reading the page.
 * Asks no file system. Returns 0, or -1 where a page before the end cannot be read. Also returns -1
 * where the caller may make no system calls. `text` is then the part before that page. Another
 * thread may unmap a page meanwhile. The same might happen during the program's call. */
int dft_reading_find(struct dft_text *text, const char *at, uint32_t most);

/* The same for a path, which may be NULL. `done`: the real call has read the path. */
int dft_reading_path(struct dft_text *text, const char *path, int done);

#endif
