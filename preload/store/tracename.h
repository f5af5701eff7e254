/* SPDX-License-Identifier: MIT */
/* The names of this process's files, without a suffix. */
#ifndef DFT_TRACENAME_H
#define DFT_TRACENAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "os/ourfile.h"

#define DFT_TRACENAME_ROOM 4352u

/* In the constructor, and when dft_config.log_file has changed. Remembers the absolute prefix,
 * because the working directory may change later. */
void dft_tracename_init(void);

/* Makes the name for the current program, pid and key. dft_process_lock is held. */
void dft_tracename_make(void);

/* Does this name belong to a file of this process, from any of its images? *load_ns: when that
 * image began. */
int dft_tracename_is_of_process(const char *name, uint64_t *load_ns);

/* Others may write to the directory that a file lies in, and put anything in the place of the file at any
 * time. So every file of ours is made, opened again, renamed and removed by these functions. They follow
 * no symbolic link, and look whether the name still leads to our file. */

/* Makes a file that is not there yet, and learns which one it is. `mode` is exact, whatever the umask. The
 * default, 0, is 0666 less the umask, but the owner may always read and write: we open the file again.
 * Returns the descriptor or -errno. */
long dft_tracename_create(const char *name, int flags, mode_t mode, struct dft_ourfile *ours);
/* Opens our file again. Returns the descriptor or -errno: -ESTALE where the name leads to another file. */
long dft_tracename_open(const char *name, int flags, const struct dft_ourfile *ours);
/* Removes the name of our file. A name that leads to another file stays. */
void dft_tracename_remove(const char *name, const struct dft_ourfile *ours);
/* Renames our file. Returns 0 or -errno: -EEXIST where another file has the new name. */
int dft_tracename_rename(const char *from, const char *to, const struct dft_ourfile *ours);

/* Makes the directories that lead to a file, as far as possible. Gives back the owner's rights where the
 * program's umask took them. `file` is unchanged on return. Returns 0, or -errno of the first directory
 * that could not be made. */
int dft_tracename_make_directories(char *file, mode_t mode);

extern char dft_tracename_base[];
/* Length of the directory part of the name, with the slash. */
extern size_t dft_tracename_directory;

#endif
