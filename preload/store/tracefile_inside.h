/* SPDX-License-Identifier: MIT */
/* What the files of the trace file (tracefile*.c) share. */
#ifndef DFT_TRACEFILE_INSIDE_H
#define DFT_TRACEFILE_INSIDE_H

#include "os/ourfile.h"
#include "store/tracename.h"

#define DFT_TRACEFILE_ROOM (DFT_TRACENAME_ROOM + 16)

/* The path of the file. Changes only between the two functions below, or before the file exists. */
extern char dft_tracefile_name[];

/* No thread writes in between. Writer threads find the file by its path when its descriptor is gone,
 * so they wait while the path changes. Signals blocked. */
void dft_tracefile_begin_move(void);
void dft_tracefile_end_move(void);

/* The file was created; its descriptor may be closed all the same. */
extern int dft_tracefile_exists;
/* Returns our descriptor, if the number still shows our file. Otherwise the function opens the file
 * again. *own: the caller closes the descriptor after use. */
int dft_tracefile_get_fd(int *own);
/* The trace is another file from now on. fd: its descriptor, or -1. Within a move. */
void dft_tracefile_replace(const struct dft_ourfile *file, int fd);

/* Creates the file where dft_tracefile_is_staged() says. Returns 0 or -errno. */
int dft_tracefile_create_file(void);

#endif
