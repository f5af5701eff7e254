/* SPDX-License-Identifier: MIT */
/* Texts of the program that the real call may not have read: read without a fault, whatever is there. */
#ifndef DFT_READING_H
#define DFT_READING_H

#include "format/event.h"

#define DFT_PATH_MOST 4096u /* the kernel reads no more of a path */

/* Did a call on one path that failed with this error read the path? These errors come after the path was followed. */
int dft_reading_is_done(int err);

/* Finds the text's end by a look at each page before it is read: the NUL, or `most` bytes. Asks no file system. Returns
 * 0, or -1 where a page before the end cannot be read, or (sandboxed) nobody may ask; `text` is what stands before that
 * page. A page that another thread takes away at the same time is as good as one that it takes away during the
 * program's call. */
int dft_reading_find(struct dft_text *text, const char *at, uint32_t most);

/* The same of a path, which may be NULL; `done`: it was read. */
int dft_reading_path(struct dft_text *text, const char *path, int done);

#endif
