/* SPDX-License-Identifier: MIT */
/* Who a vfork child is, or the like: a process of its own, with its own key, that runs in its parent's memory while the
 * parent waits. Its records lie in the ring of its parent's thread. The parent describes it (PROCESS, CLOCK and END)
 * when it goes on. */
#ifndef DFT_VFORK_CHILD_H
#define DFT_VFORK_CHILD_H

#include <stdint.h>

#include "store/process.h"

struct dft_vfork_child {
    struct dft_vfork_child *before; /* what was there when a signal handler came in between */
    uint32_t mark;                  /* dft_vfork_mark before it */
    struct dft_process_child process;
};

/* What the items of its records begin with: whose they are. */
struct dft_vfork_item {
    uint8_t tag;
    uint64_t key;
    uint32_t pid;
} __attribute__((packed));

/* In the parent, around the call that makes the child; `child` is the parent's, and lasts as long. Afterwards, pid:
 * what the call returned. */
void dft_vfork_child_begin(struct dft_vfork_child *child);
void dft_vfork_child_end(struct dft_vfork_child *child, int64_t pid);

/* Fills in the item of a record of the calling child. Returns the child, NULL: the caller is none. */
struct dft_vfork_child *dft_vfork_child_sign(struct dft_vfork_item *item);

/* Makes sure that its pid is known: later nobody may ask. */
void dft_vfork_child_know(void);

/* The calling child is about to end, or to be replaced; DFT_ENDING_UNKNOWN: it was not. Returns 0: the caller is no
 * such child. */
int dft_vfork_child_ends(enum dft_ending how, int status);

#endif
