/* SPDX-License-Identifier: MIT */
/* The names of this process's files, without ending. */
#ifndef DFT_TRACENAME_H
#define DFT_TRACENAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DFT_TRACENAME_ROOM 4352u

/* In the constructor, and when dft_config.log_file has changed: remembers the absolute prefix (the working directory may change later) and the host. */
void dft_tracename_init(void);

/* Makes the name for the current program, pid and key. dft_process_lock is held. */
void dft_tracename_make(void);

/* Is this the name of a file of this process, of whichever of its images? *load_ns: when that image began. */
int dft_tracename_is_of_process(const char *name, uint64_t *load_ns);

/* What `made` is, which we have just made: a file or a directory. When the program's umask took the owner's rights, too, they are given back: we
 * open the files again, and whoever has them wants to read them. Returns 0 or -errno. */
long dft_tracename_look(const char *made, struct stat *st);

/* Makes the directories that a file lies in, as far as it can. `file` is as before when it returns. Returns 0, or
 * -errno of the first that could not be made. */
int dft_tracename_make_directories(char *file);

extern char dft_tracename_base[];
/* Length of its directory part, with the slash. */
extern size_t dft_tracename_directory;

#endif
