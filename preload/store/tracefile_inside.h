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
/* Makes a copy of a descriptor of this file on a number of ours. -1: there is none. */
int dft_tracefile_move_up(const struct dft_ourfile *file, int fd);
/* In a forked child. */
void dft_tracefile_number_forked(void);
/* The trace is another file from now on. fd: its descriptor, or -1. Within a move. */
void dft_tracefile_replace(const struct dft_ourfile *file, int fd);
/* Gives up the descriptor of a copy that the parent makes, as dft_tracefile_forget. */
void dft_tracefile_forget_copy(void);

/* Makes the name, in the stage or not. */
void dft_tracefile_make_path(void);
/* Creates the file where dft_tracefile_is_staged() says. Returns 0 or -errno. */
int dft_tracefile_create_file(void);
/* The stage is full. Leaves it, once: after a failure each write would copy the file. Returns whether
 * the file lies elsewhere now. */
int dft_tracefile_leave_stage(void);

#endif
