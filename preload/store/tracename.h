/* SPDX-License-Identifier: MIT */
/* The names of this process's files, without a suffix. */
#ifndef DFT_TRACENAME_H
#define DFT_TRACENAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DFT_TRACENAME_ROOM 4352u

/* In the constructor, and when dft_config.log_file has changed. Remembers the absolute prefix,
 * because the working directory may change later. */
void dft_tracename_init(void);

/* Makes the name for the current program, pid and key. dft_process_lock is held. */
void dft_tracename_make(void);

/* Does this name belong to a file of this process, from any of its images? *load_ns: when that
 * image began. */
int dft_tracename_is_of_process(const char *name, uint64_t *load_ns);

/* Examines `made`, a file or a directory that we have just made. Gives back the owner's rights
 * where the program's umask took them, too. We open the files again, and their owner wants to read
 * them. Returns 0 or -errno. */
long dft_tracename_look(const char *made, struct stat *st);

/* Makes the directories that lead to a file, as far as possible. `file` is unchanged on return.
 * Returns 0, or -errno of the first directory that could not be made. */
int dft_tracename_make_directories(char *file);

extern char dft_tracename_base[];
/* Length of the directory part of the name, with the slash. */
extern size_t dft_tracename_directory;

#endif
