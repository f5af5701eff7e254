/* SPDX-License-Identifier: MIT */
/* Owns files and directories of dftrun's own in directories that others may write to. */
#ifndef DFT_DFTRUN_OWN_H
#define DFT_DFTRUN_OWN_H

#include "dftrun/dftrun.h"

/* Opens a file of dftrun's own, to read and to write; O_CREAT in `flags` makes it. -EPERM: what has the name
 * is another user's, or no plain file. Returns the descriptor or -errno. */
int dft_own_open(int directory, const char *name, int flags);
/* Removes the name, if it leads to this open file. */
void dft_own_remove(int directory, const char *name, int fd);
/* Opens a directory that this user alone can change. Returns the descriptor or -errno. */
int dft_own_directory(const char *path);
/* Does the path lead to this open directory? */
int dft_own_is_directory(const char *path, int fd);
/* Can this user and root alone replace what lies in the directory? */
int dft_own_is_trusted(const char *directory);
/* The mode of traces (DFTRACER_MODE); 0: the umask rules. */
mode_t dft_own_mode(void);

#endif
