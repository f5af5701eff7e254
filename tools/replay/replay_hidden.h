/* SPDX-License-Identifier: MIT */
/* What replay does for itself while it repeats calls. When replay itself is traced, these calls are not recorded: its
 * trace then has the calls of the recorded program alone. */
#ifndef DFT_REPLAY_HIDDEN_H
#define DFT_REPLAY_HIDDEN_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

/* From here on, nothing that this thread calls is recorded, until shown again. They nest. */
void dft_replay_hide(void);
void dft_replay_show(void);

/* Closes a descriptor; or the stream or the folder over it, where that is not NULL. */
void dft_replay_hidden_close(int fd, FILE *stream, DIR *dir);
/* Returns the copy of a descriptor, or -errno. */
int dft_replay_hidden_dup(int fd);
/* Takes a number for a descriptor, to be replaced by dup2. Returns it, or -errno. */
int dft_replay_hidden_number(int fd);
/* Moves the place of a descriptor. Returns it, or -errno. */
int64_t dft_replay_hidden_seek(int fd, int64_t offset, int whence);

/* Opens for the sake of a check: no wrapper of the C library is called. NULL for `beneath`: any path; else no
 * component may be a link, and none leads above the folder `at`. Returns the descriptor or -errno. */
int dft_replay_hidden_open2(int at, const char *path, int flags, int beneath);
int dft_replay_hidden_open(int at, const char *path, int flags);
void dft_replay_hidden_close_raw(int fd);

#endif
