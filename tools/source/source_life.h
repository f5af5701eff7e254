/* SPDX-License-Identifier: MIT */
/* Does the process of a live file still run? */
#ifndef DFT_SOURCE_LIFE_H
#define DFT_SOURCE_LIFE_H

#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

/* What the processes that are visible here have mapped: looked for once, when it is needed first. All zero at first. */
struct dft_mapping {
    uint64_t device, inode;
    uint64_t pid; /* as the process sees it; 0: not known */
};
struct dft_mapped {
    struct dft_mapping *list; /* from malloc */
    size_t count;
    int looked;
};
struct dft_live;

/* Does the process of a live file, open for reading alone, still run? */
enum dft_life dft_life_of_live(struct dft_mapped *mapped, const struct dft_live *live, int fd);
/* Where that cannot be seen: is it known all the same, by what is told of the process? */
enum dft_life dft_life_known(enum dft_life life, const struct dft_process *process);
/* Is its pid one of those of this machine, and of this PID namespace, since the machine's last start? */
int dft_life_is_here(const struct dft_source_process *process);
/* Does it still run? One that has ended does not. */
enum dft_life dft_process_life(const struct dft_source_process *process);

#endif
