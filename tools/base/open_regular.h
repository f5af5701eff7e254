/* SPDX-License-Identifier: MIT */
/* Opens what the user did not name: a file that was found in a directory, that a trace tells of, or that lies beside
 * another. Somebody may have put anything there. So it must be a regular file, and opening it waits for nobody. */
#ifndef DFT_OPEN_REGULAR_H
#define DFT_OPEN_REGULAR_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* flags: O_RDONLY, O_WRONLY or O_RDWR, and O_NOFOLLOW where a link is not meant. *st: what was opened; NULL: not
 * requested. Returns the descriptor or -errno; -EMEDIUMTYPE: it is no regular file. */
int dft_open_regular(const char *path, int flags, struct stat *st);
/* The same for reading, as a stream. NULL: errno says why. */
FILE *dft_fopen_regular(const char *path);
/* Opens a directory, and not one that a link of this name leads to. NULL: errno says why. */
DIR *dft_opendir_itself(const char *path);
/* Why a file was not opened, for people. `error` is an errno, positive. */
const char *dft_open_reason(int error);

/* The first byte at or behind `from` that is no part of a hole. `end`: there is none before it. A file system that
 * cannot tell has no holes. */
uint64_t dft_data_from(int fd, uint64_t from, uint64_t end);
/* Is `path`, or the link of that name itself, still the file of `st`? */
int dft_is_still(const char *path, const struct stat *st);

#endif
