/* SPDX-License-Identifier: MIT */
/* The identity of a vfork child or a similar child. Such a child is a process with its own key. It
 * runs in its parent's memory while the parent waits. Its records lie in the ring of its parent's
 * thread. The parent describes the child (PROCESS, CLOCK and END) when the parent goes on. */
#ifndef DFT_VFORK_CHILD_H
#define DFT_VFORK_CHILD_H

#include <stdint.h>

#include "store/process.h"

struct dft_vfork_child {
    struct dft_vfork_child *before; /* the child of the code that a signal handler interrupted */
    uint32_t mark;                  /* dft_vfork_mark before this child */
    struct dft_process_child process;
};

/* The items of the child's records begin with this struct, which names their process. */
struct dft_vfork_item {
    uint8_t tag;
    uint64_t key;
    uint32_t pid;
} __attribute__((packed));

/* In the parent, around the call that makes the child. `child` belongs to the parent and lasts
 * until the end call. dft_thread_make_room() comes before. pid: the result of the call. */
void dft_vfork_child_begin(struct dft_vfork_child *child);
void dft_vfork_child_end(struct dft_vfork_child *child, int64_t pid);

/* Fills in the item of a record of the calling child. Returns the child. NULL: the caller is no
 * such child. */
struct dft_vfork_child *dft_vfork_child_sign(struct dft_vfork_item *item);

/* Makes sure that the child's pid is known. Later no system call may ask for it. */
void dft_vfork_child_know(void);

/* The calling child is about to end or to be replaced. DFT_ENDING_UNKNOWN: this did not happen.
 * Returns 0 when the caller is no such child. */
int dft_vfork_child_ends(enum dft_ending exit_kind, int status);

#endif
