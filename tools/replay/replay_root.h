/* SPDX-License-Identifier: MIT */
/* The folder below which replay writes, and the check that no path leads out of it.
 *
 * Calls are repeated by the functions that the program called, on paths, so that a trace of the replay has the same
 * names. A path could lead through a link. The folder is empty at the start, and replay makes no links: only others
 * can put them there. So each path is checked right before its call (openat2 with RESOLVE_BENEATH and
 * RESOLVE_NO_SYMLINKS, or a walk with O_NOFOLLOW), and opens have O_NOFOLLOW as well. A path with a link is refused and
 * counted. Between check and call lies the blink in which another user with access to the folder could exchange a
 * folder for a link. So a folder that everybody may write into is refused (but for the sticky bit), and folders that
 * replay makes are its user's alone to change. */
#ifndef DFT_REPLAY_ROOT_H
#define DFT_REPLAY_ROOT_H

#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

struct dft_replay_root {
    char *path; /* absolute, without links */
    size_t length;
    int fd;    /* -1: not open */
    int walks; /* this kernel has no openat2 */
    uint64_t bytes_free, inodes_free;
};

/* Opens an empty folder, and refuses what is dangerous: says on stderr why, and what to do. Returns 0 or -EINVAL. The
 * caller closes in either case. */
int dft_replay_root_open(struct dft_replay_root *root, const char *path, struct dft_source *source);
void dft_replay_root_close(struct dft_replay_root *root);
/* Does the path (normal, absolute below the root) lead through no link? Returns 0, -ELOOP, or why that is unknown
 * (-EMFILE). What is not there, or may not be searched, is no link. */
int dft_replay_root_check(const struct dft_replay_root *root, const char *path);

#endif
