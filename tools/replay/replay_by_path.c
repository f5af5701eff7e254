/* SPDX-License-Identifier: MIT */
/* Repeats calls on paths. The paths are below the root, and lead through no link. */
#include "replay/replay_perform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MODE_OF_FOLDERS 0700u /* always set */

static int64_t find_path(const char *path)
{
    char *found = realpath(path, NULL);
    int64_t result = found ? 0 : -1;

    free(found);
    return result;
}

static int64_t look(const struct dft_replay_call_at *call, int *is_one)
{
    const char *path = call->path;
    union {
        struct stat st;
        struct statx stx;
        struct statfs fs;
        struct statvfs vfs;
    } status;

    switch (call->call) {
    case DFT_REPLAY_stat:
        return stat(path, &status.st);
    case DFT_REPLAY_lstat:
        return lstat(path, &status.st);
    case DFT_REPLAY_fstatat:
        return fstatat(AT_FDCWD, path, &status.st, (int)call->flags & AT_SYMLINK_NOFOLLOW);
    case DFT_REPLAY_statx:
        return statx(AT_FDCWD, path, (int)call->flags & AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status.stx);
    case DFT_REPLAY_statfs:
        return statfs(path, &status.fs);
    case DFT_REPLAY_statvfs:
        return statvfs(path, &status.vfs);
    case DFT_REPLAY_access:
        return access(path, (int)call->mode & (R_OK | W_OK | X_OK));
    case DFT_REPLAY_eaccess:
        return eaccess(path, (int)call->mode & (R_OK | W_OK | X_OK));
    case DFT_REPLAY_realpath:
        return find_path(path);
    case DFT_REPLAY_faccessat:
        return faccessat(AT_FDCWD, path, (int)call->mode & (R_OK | W_OK | X_OK), 0);
    default:
        *is_one = 0;
        return 0;
    }
}

static int64_t change(const struct dft_replay_call_at *call, int *is_one)
{
    const char *path = call->path, *path2 = call->path2 ? call->path2 : "";

    switch (call->call) {
    case DFT_REPLAY_truncate:
        return truncate(path, call->offset > 0 ? (off_t)call->offset : 0);
    case DFT_REPLAY_chmod:
        return chmod(path, (call->mode & 0755u) | MODE_OF_FOLDERS);
    case DFT_REPLAY_fchmodat:
        return fchmodat(AT_FDCWD, path, (call->mode & 0755u) | MODE_OF_FOLDERS, 0);
    case DFT_REPLAY_utimensat:
        return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    case DFT_REPLAY_unlink:
        return unlink(path);
    case DFT_REPLAY_unlinkat:
        return unlinkat(AT_FDCWD, path, (int)call->flags & AT_REMOVEDIR);
    case DFT_REPLAY_remove:
        return remove(path);
    case DFT_REPLAY_rmdir:
        return rmdir(path);
    case DFT_REPLAY_mkdir:
        return mkdir(path, (call->mode & 0755u) | MODE_OF_FOLDERS);
    case DFT_REPLAY_mkdirat:
        return mkdirat(AT_FDCWD, path, (call->mode & 0755u) | MODE_OF_FOLDERS);
    case DFT_REPLAY_rename:
        return rename(path, path2);
    case DFT_REPLAY_renameat:
        return renameat(AT_FDCWD, path, AT_FDCWD, path2);
    case DFT_REPLAY_renameat2:
        return renameat2(AT_FDCWD, path, AT_FDCWD, path2, call->flags);
    default:
        *is_one = 0;
        return 0;
    }
}

int dft_replay_by_path(const struct dft_replay_call_at *call, int64_t *result)
{
    int is_one = call->path != NULL;

    if (is_one)
        *result = look(call, &is_one);
    if (is_one || !call->path)
        return is_one;
    is_one = 1;
    *result = change(call, &is_one);
    return is_one;
}
