/* SPDX-License-Identifier: MIT */
/* The mounts that the process has met. */
#ifndef DFT_MOUNTS_MET_H
#define DFT_MOUNTS_MET_H

#include "format/text.h"

/* Reads the mounts once: a forked child may be where there is no /proc. Takes 30 us, so of the ranks of a host
 * the first one does it for all. dft_process_lock is held. */
void dft_mounts_begin(void);
/* The lines of dft_mounts_read, as far as it is known by now; then lines "directory, space, mount point, space,
 * type" of directories that lead there by a link. dft_process_lock is held. */
struct dft_text dft_mounts_now(void);
/* A file with this path is used. Mounts that were made since, and directories that lead elsewhere by a link, come
 * to be known by that: two system calls for each directory that is met first. Without dft_process_lock. */
void dft_mounts_meet(const char *path, uint32_t length);

#endif
