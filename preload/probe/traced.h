/* SPDX-License-Identifier: MIT */
/* What is traced: the rules of DFTRACER_DATA_DIR. Read in the constructor; a program that was not
 * preloaded may replace them before it begins (app_init.c). */
#ifndef DFT_TRACED_H
#define DFT_TRACED_H

#include <stddef.h>
#include <stdint.h>

#include "format/text.h"

void dft_traced_init(void);

/* Is a file with this absolute path to be traced, as far as the path tells? The most specific entry decides. */
int dft_traced_path(const char *text, size_t length);
/* The same of a file that (dirfd, name) is, or would be, and that is recorded with this path. Any entry that it
 * lies below by any name counts, and an exclusion before all others. errno is kept. */
int dft_traced_name(struct dft_text text, int dirfd, struct dft_text name);

/* The directory of files whose names nobody tells: without /proc, the descriptors that were open before. An
 * entry for a directory may mean any file there, so such a list leaves them out. It may name them itself. */
#define DFT_UNNAMED "/(unnamed)"

/* A call has opened or named this path, or met a descriptor that was open on it, and it is not
 * traced. What `all` would trace, so that DFTRACER_DATA_DIR alone has left it out, is counted. Any
 * time. */
void dft_traced_leave_out(const char *text, size_t length);
/* The count, and in a forked child: nothing was left out so far. */
uint64_t dft_traced_left_out(void);
void dft_traced_forked(void);

/* What the kernel calls a pipe or a socket: "pipe:[12]". */
int dft_traced_link(const char *text, size_t length);

/* Are all of a kind traced: pipes, sockets? enum dft_fd_kind. */
int dft_traced_kind(int kind);

#endif
