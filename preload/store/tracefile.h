/* SPDX-License-Identifier: MIT */
/* The trace file of this process: its name, its hidden descriptor, and writing to it. */
#ifndef DFT_TRACEFILE_H
#define DFT_TRACEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "format/ops.h"

/* Creates the file of the current key, and missing directories. Signals blocked. Returns 0 or -errno. */
int dft_tracefile_create(void);
/* After dft_config.log_file has changed: from now on, and if the file is there already, it is moved. Signals blocked. Returns 0 or -errno: it stays
 * where it is. */
int dft_tracefile_move(void);
/* The path that was tried last. */
const char *dft_tracefile_path(void);

/* Removes it: nothing could be written to it. */
void dft_tracefile_remove(void);

/* Gives up the descriptor (in a forked child: it is the parent's file). */
void dft_tracefile_forget(void);
/* The process that this thread is making shares the descriptors: what it forgets stays open. */
extern __thread int dft_tracefile_shared __attribute__((tls_model("initial-exec")));

/* Appends whole blocks. Any thread, signals blocked; reserves its range first. Returns 0, or -errno (ENOSPC ...): then nothing of
 * it is in the file. */
int dft_tracefile_write(const void *bytes, size_t length);

/* Did the last write? */
int dft_tracefile_fails(void);

/* The program must not see the descriptor: */
/* Is this number ours? Then the program's call answers EBADF without being made. */
int dft_tracefile_is(int fd);
/* Is this entry of a directory (a DIR *) our descriptor, in a list of those that are open? */
int dft_tracefile_is_entry(void *dir, const char *name);
/* The same, with errno set as the kernel would if it were not open. */
int dft_tracefile_hides(int fd);
/* Calls that must be kept from it before anything else happens; for all others it is a descriptor of which nothing is known. */
static inline __attribute__((always_inline)) int dft_tracefile_hides_first(enum dft_op op, int fd)
{
    return (op == DFT_OP_CLOSE || op == DFT_OP_DUP) && fd >= 0 && dft_tracefile_hides(fd);
}
/* The program wants the number for itself (dup2): ours moves away first. */
void dft_tracefile_step_aside(int fd);
/* The number, or -1. */
int dft_tracefile_number(void);

#endif
