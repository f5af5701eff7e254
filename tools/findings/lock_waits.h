/* SPDX-License-Identifier: MIT */
/* Waits for locks: on which file, how long, and who held the lock. */
#ifndef DFT_LOCK_WAITS_H
#define DFT_LOCK_WAITS_H

#include <stdint.h>

struct dft_facts;
struct dft_source_process;

/* Lock waits on the file that has most of the time; all 0 where files are not known, or where locks cost little. */
struct dft_lock_waits {
    uint64_t file, calls, time_ns, longest_ns;
    uint64_t files; /* that have some */
    uint32_t processes;
    /* The longest wait, from events alone: whose it was, and who had the lock until it ended. NULL: not known. */
    const struct dft_source_process *waiter, *holder;
    uint64_t start_ns, end_ns;
    uint64_t held_ns;
};

/* Returns 0 or -ENOMEM. Collective; the waits are on rank 0. */
int dft_lock_waits_collect(struct dft_facts *facts);

#endif
