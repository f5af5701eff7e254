/* SPDX-License-Identifier: MIT */
/* Does the process of a live file still run? */
#ifndef DFT_SOURCE_LIFE_H
#define DFT_SOURCE_LIFE_H

#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

/* The files that the visible processes have mapped. They are looked for once, on first use. All
 * zero at first. */
struct dft_mapping {
    uint64_t device, inode;
    uint64_t pid; /* pid as the process itself sees it; 0: not known */
};
struct dft_mapped {
    struct dft_mapping *list; /* from malloc */
    size_t count;
    int looked;
};
struct dft_live;

/* Does the process of a live file still run? `fd`: the live file, open for reading alone. */
enum dft_life dft_life_of_live(struct dft_mapped *mapped, const struct dft_live *live, int fd);
/* Does the pid of the process mean the same here? */
int dft_life_has_pid(const struct dft_live *live);
/* Can what is recorded of the process answer where its life cannot be seen? */
enum dft_life dft_life_known(enum dft_life life, const struct dft_process *process);
/* Does its pid belong to this machine, and to this PID namespace, since the machine's last
 * start? */
int dft_life_is_here(const struct dft_source_process *process);
/* Does the process with this PROCESS still exist, though its trace may have an END? */
enum dft_life dft_life_of_process(const struct dft_source_process *process);
/* Does the process still run? A process that has ended does not. */
enum dft_life dft_process_life(const struct dft_source_process *process);

/* The time now (Unix ns) by the clock of the process of a live file: whatever was done to the clock of the machine
 * since, its times go on evenly. */
uint64_t dft_life_now_ns(const struct dft_live *live);

/* How long ago dftmerge was started: what a user waits for began there, however busy the machine is. 0: not known. */
uint64_t dft_life_age_ns(void);

#endif
