/* SPDX-License-Identifier: MIT */
/* The root of a replay: an empty folder, and paths that stay in it. */
#include "replay/replay_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "replay/replay_hidden.h"

#define ROOT_MAX 512u /* bytes of the root's path: the paths below it need room */

static int refuse(const char *path, const char *why)
{
    fprintf(stderr, "dftmerge replay: --root %s: %s\n", path, why);
    return -EINVAL;
}

/* Is there nothing in the folder? Returns 1, 0 or -errno. */
static int is_empty(int fd)
{
    int copy = dup(fd), some = 0;
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!dir)
        return -errno;
    while ((entry = readdir(dir)))
        some += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return !some;
}

/* Does a trace lie below the root? */
static int holds_trace(const struct dft_replay_root *root, struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_file *files = dft_source_files(source, &count);
    int found = 0;

    for (uint32_t i = 0; i < count && !found; i++) {
        char *path = realpath(files[i].path, NULL);

        found = path && !strncmp(path, root->path, root->length) && path[root->length] == '/';
        free(path);
    }
    return found;
}

static int check_folder(const struct dft_replay_root *root, const char *path, struct dft_source *source)
{
    struct stat st;
    int empty;

    if (root->length == 1)
        return refuse(path, "this is the root of the whole machine. Name an empty folder");
    if (root->length > ROOT_MAX)
        return refuse(path, "the path of the folder is too long. Name a shorter one");
    if (holds_trace(root, source))
        return refuse(path, "a trace to be repeated is in this folder. Name an empty folder");
    empty = is_empty(root->fd);
    if (empty < 0)
        return refuse(path, strerror(-empty));
    if (!empty)
        return refuse(path, "the folder is not empty. Name an empty one: what lies there is never overwritten");
    if (fstat(root->fd, &st))
        return refuse(path, strerror(errno));
    if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        return refuse(path, "everybody may write into this folder, and could lead writes elsewhere by links. Take that "
                            "away: chmod o-w");
    return 0;
}

int dft_replay_root_open(struct dft_replay_root *root, const char *path, struct dft_source *source)
{
    struct statvfs space;
    int fd, rc;

    memset(root, 0, sizeof *root);
    root->fd = -1;
    root->path = realpath(path, NULL);
    if (!root->path && errno == ENOENT)
        return refuse(path, "there is no such folder. Make it with mkdir -p");
    if (!root->path)
        return refuse(path, strerror(errno));
    root->length = strlen(root->path);
    root->fd = open(root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->fd < 0)
        return refuse(path, errno == ENOTDIR ? "this is no folder. Name an empty folder" : strerror(errno));
    rc = check_folder(root, path, source);
    if (rc)
        return rc;
    if (faccessat(root->fd, ".", W_OK | X_OK, AT_EACCESS))
        return refuse(path, "you may not write there. Name a folder of yours");
    if (fstatvfs(root->fd, &space))
        return refuse(path, strerror(errno));
    root->bytes_free = (uint64_t)space.f_bavail * space.f_frsize;
    root->inodes_free = space.f_files ? space.f_favail : UINT64_MAX; /* some file systems count none */
    fd = dft_replay_hidden_open2(root->fd, ".", O_PATH | O_CLOEXEC, 1);
    root->walks = fd == -ENOSYS || fd == -EPERM || fd == -EINVAL;
    if (fd >= 0)
        dft_replay_hidden_close_raw(fd);
    return 0;
}

void dft_replay_root_close(struct dft_replay_root *root)
{
    if (root->fd >= 0)
        close(root->fd);
    free(root->path);
    memset(root, 0, sizeof *root);
    root->fd = -1;
}

/* One component after the other, none of which is followed when it is a link. */
static int walk(int root, const char *path)
{
    int at = root, rc = 0;

    while (!rc && *path) {
        size_t length = strcspn(path, "/");
        char name[NAME_MAX + 1];
        struct stat st;
        int next;

        memcpy(name, path, length);
        name[length] = 0;
        path += length + (path[length] == '/');
        next = dft_replay_hidden_open(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (at != root)
            dft_replay_hidden_close_raw(at);
        at = next;
        if (next < 0)
            return next;
        dft_replay_hide();
        rc = fstat(next, &st) ? -errno : S_ISLNK(st.st_mode) ? -ELOOP : 0;
        dft_replay_show();
    }
    if (at != root)
        dft_replay_hidden_close_raw(at);
    return rc;
}

int dft_replay_root_check(const struct dft_replay_root *root, const char *path)
{
    int rc;

    if (!path[1])
        return 0;
    rc = root->walks ? walk(root->fd, path + 1) : dft_replay_hidden_open2(root->fd, path + 1, O_PATH | O_CLOEXEC, 1);
    if (rc >= 0 && !root->walks)
        dft_replay_hidden_close_raw(rc);
    if (rc >= 0 || rc == -ENOENT || rc == -ENOTDIR || rc == -EACCES)
        return 0;
    return rc == -EXDEV ? -ELOOP : rc;
}
