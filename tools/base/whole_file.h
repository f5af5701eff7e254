/* SPDX-License-Identifier: MIT */
/* The one way to make or replace a file: it has a temporary name beside its own, and is renamed when it is whole. A
 * file that is replaced leaves its mode, owner and access list to the new one, which nobody can read before who could
 * not read the old one. */
#ifndef DFT_WHOLE_FILE_H
#define DFT_WHOLE_FILE_H

#include <sys/stat.h>

struct dft_whole_file {
    int fd; /* to write and to read; -1: somebody else has taken it */
    char *path;
    char *temporary; /* NULL: a pipe, a device or an open descriptor is written as it is */
};

/* is_named: the user named this path. It may then be a link, a pipe or a device; /dev/stdout, /dev/fd/N and the like
 * are the descriptor itself, whatever file it leads to. Else the path lies in a directory that somebody else may write
 * to: whatever has the name is replaced, and not followed. Returns 0 or -errno, which leaves nothing. */
int dft_whole_file_open(struct dft_whole_file *file, const char *path, int is_named);
/* Gives the file its name, or forgets it when there was an error. Returns the first error. */
int dft_whole_file_close(struct dft_whole_file *file, int error);
/* Gives a new file, which is open, the owner and mode of another one, and the access list of `path`. What cannot be
 * kept makes it less readable. Returns 0 or -errno. */
int dft_whole_file_like(int fd, const char *path, const struct stat *st);
/* The same with the access list of the other file, which is open, too: whoever may rename it gives us no other list. */
int dft_whole_file_like_open(int fd, int other, const struct stat *st);

#endif
