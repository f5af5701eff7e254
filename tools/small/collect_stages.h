/* SPDX-License-Identifier: MIT */
/* The stages of `dftmerge collect`, locked against other collectors. */
#ifndef DFT_COLLECT_STAGES_H
#define DFT_COLLECT_STAGES_H

#include <stddef.h>
#include <sys/types.h>

#include "judge/source.h"

struct dft_stage { /* a directory, locked */
    int fd;
    dev_t device;
    ino_t inode;
    char *path;
};

struct dft_stages {
    struct dft_stage *stages;
    size_t count, capacity;
};

/* Opens and locks the directories of these paths, each once, in one order: so no two collectors wait for
 * each other. Waits for a holder for a bounded time, and says so. Without locks on a file system, what
 * another collector has moved counts as moved. output: the directory that none of them may be. Returns 0,
 * -EBUSY, -EINVAL or -ENOMEM; the caller calls dft_stages_unlock in any case. */
int dft_stages_lock(struct dft_stages *stages, const struct dft_source_options *sources, const char *output);

void dft_stages_unlock(struct dft_stages *stages);

#endif
