/* SPDX-License-Identifier: MIT */
/* Mount points: which file systems are remote, and on which one a path lies. */
#ifndef DFT_FINDING_MOUNTS_H
#define DFT_FINDING_MOUNTS_H

#include "views/file_groups.h"

struct dft_facts;

enum dft_mount_kind { DFT_MOUNT_LOCAL, DFT_MOUNT_NETWORK, DFT_MOUNT_FUSE };

/* By the type of the file system, as the kernel names it. */
enum dft_mount_kind dft_mount_kind(struct dft_text type);
/* Did a process see a remote file system? Collects the mounts for dft_mounts_of. Returns 0 or
 * -ENOMEM. Collective. */
int dft_mounts_collect(struct dft_facts *facts);
/* The id of the mount point that a path lies below. */
uint64_t dft_mounts_of(const struct dft_facts *facts, struct dft_text path);

#endif
