/* SPDX-License-Identifier: MIT */
/* Calls on names: made, linked, looked at, their attributes; by path, relative to a folder's
 * descriptor, and failing. */
#include "told_calls.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *buffer, size_t size, size_t room);
char *__realpath_chk(const char *path, char *buffer, size_t room);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int dirfd, const char *path, mode_t mode, dev_t *device);

static void made(int folder)
{
    dev_t none = 0;
    char name[] = "made-XXXXXX", wrong[] = "no/made-XXXXXX";

    DO(mkdir, ("sub", 0755), .file = "sub", .mode = 0755);
    DO(mknod, ("pipe", S_IFIFO | 0640, 0), .file = "pipe", .mode = S_IFIFO | 0640);
    DO(mknod, ("no/pipe", S_IFIFO | 0640, 0), .file = "no/pipe", .mode = S_IFIFO | 0640);
    TELL(mknod, __xmknod, (0, "sub/pipe", S_IFREG | 0600, &none), .file = "sub/pipe", .mode = S_IFREG | 0600);
    DO(mknodat, (folder, "pipe", S_IFIFO | 0600, 0), .file = "sub/pipe", .mode = S_IFIFO | 0600); /* EEXIST */
    DO(mknodat, (folder, "plain", S_IFREG | 0600, 0), .file = "sub/plain", .mode = S_IFREG | 0600);
    TELL(mknodat, __xmknodat, (0, folder, "other", S_IFREG | 0600, &none), .file = "sub/other", .mode = S_IFREG | 0600);
    DO(mkfifo, ("fifo", 0644), .file = "fifo", .mode = 0644);
    DO(mkfifo, ("fifo", 0644), .file = "fifo", .mode = 0644);
    DO(mkfifoat, (folder, "fifo", 0644), .file = "sub/fifo", .mode = 0644);
    DO(mkfifoat, (folder, "no/fifo", 0644), .file = "sub/no/fifo", .mode = 0644);
    GET(mkdtemp, (name), .file = name, .mode = 0700);
    DO(rmdir, (name), .file = name);
    GET(mkdtemp, (wrong), .file = wrong, .mode = 0700);
    DO(rmdir, ("sub"), .file = "sub"); /* ENOTEMPTY */
    DO(remove, ("./fifo"), .file = "fifo");
    DO(remove, ("sub/../fifo"), .file = "fifo");
    DO(unlink, ("pipe"), .file = "pipe");
}

static void linked(int folder, int fd)
{
    char buffer[PATH_MAX];

    DO(link, ("plain", "hard"), .file = "plain", .file2 = "hard");
    DO(link, ("plain", "hard"), .file = "plain", .file2 = "hard");
    DO(linkat, (AT_FDCWD, "plain", folder, "hard", 0), .file = "plain", .file2 = "sub/hard");
    DO(linkat, (folder, "no", AT_FDCWD, "hard2", AT_SYMLINK_FOLLOW), .file = "sub/no", .file2 = "hard2",
       .flags = AT_SYMLINK_FOLLOW);
    DO(linkat, (fd, "", folder, "hard3", AT_EMPTY_PATH), .file = "plain", .file2 = "sub/hard3", .flags = AT_EMPTY_PATH);
    DO(symlink, ("../plain", "sub/soft"), .file = "sub/soft", .file2 = "plain");
    DO(symlink, ("/no/where", "sub/soft"), .file = "sub/soft", .file2 = "/no/where");
    DO(symlinkat, ("hard", folder, "soft2"), .file = "sub/soft2", .file2 = "sub/hard");
    DO(symlinkat, ("hard", folder, "no/soft"), .file = "sub/no/soft", .file2 = "sub/no/hard");
    DO(readlink, ("sub/soft", buffer, sizeof buffer), .file = "sub/soft", .size = sizeof buffer);
    DO(readlink, ("plain", buffer, 3), .file = "plain", .size = 3);
    TELL(readlink, __readlink_chk, ("sub/soft", buffer, 4, sizeof buffer), .file = "sub/soft", .size = 4);
    DO(readlinkat, (folder, "soft2", buffer, 100), .file = "sub/soft2", .size = 100);
    DO(readlinkat, (folder, "hard", buffer, 100), .file = "sub/hard", .size = 100);
    TELL(readlinkat, __readlinkat_chk, (folder, "soft2", buffer, 10, sizeof buffer), .file = "sub/soft2", .size = 10);
    GET(realpath, ("sub/soft", buffer), .file = "sub/soft");
    GET(realpath, ("no/soft", buffer), .file = "no/soft");
    TELL_POINTER(realpath, __realpath_chk, ("sub", buffer, sizeof buffer), .file = "sub");
    free(GET(canonicalize_file_name, ("sub/soft2"), .file = "sub/soft2"));
    GET(canonicalize_file_name, ("no"), .file = "no");
}

static void asked(int folder, int fd)
{
    struct statvfs vfs;
    struct statfs fs;
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } any;
    int mount;

    DO(access, ("plain", R_OK | W_OK), .file = "plain", .mode = R_OK | W_OK);
    DO(access, ("no", F_OK), .file = "no");
    DO(eaccess, ("plain", R_OK), .file = "plain", .mode = R_OK);
    TELL(eaccess, euidaccess, ("no", R_OK), .file = "no", .mode = R_OK);
    DO(faccessat, (folder, "plain", W_OK, AT_EACCESS), .file = "sub/plain", .mode = W_OK, .flags = AT_EACCESS);
    DO(faccessat, (folder, "../no", W_OK, 0), .file = "no", .mode = W_OK);
    DO(ftok, ("plain", 7), .file = "plain", .flags = 7);
    DO(ftok, ("no", 7), .file = "no", .flags = 7);
    DO(statfs, ("plain", &fs), .file = "plain");
    DO(statfs, ("plain/no", &fs), .file = "plain/no");
    DO(fstatfs, (fd, &fs), .file = "plain", .fd = fd);
    DO(statvfs, (".", &vfs), .file = ".");
    DO(statvfs, ("no", &vfs), .file = "no");
    DO(fstatvfs, (fd, &vfs), .file = "plain", .fd = fd);
    DO(pathconf, ("plain", _PC_NAME_MAX), .file = "plain", .flags = _PC_NAME_MAX, .errno_tells = 1);
    DO(pathconf, ("plain", _PC_SYMLINK_MAX), .file = "plain", .flags = _PC_SYMLINK_MAX,
       .errno_tells = 1); /* no limit */
    DO(pathconf, ("no", _PC_LINK_MAX), .file = "no", .flags = _PC_LINK_MAX, .errno_tells = 1);
    DO(fpathconf, (fd, _PC_PIPE_BUF), .file = "plain", .fd = fd, .flags = _PC_PIPE_BUF, .errno_tells = 1);
    DO(fpathconf, (fd, 999), .file = "plain", .fd = fd, .flags = 999, .errno_tells = 1); /* EINVAL */
    DO(isfdtype, (fd, S_IFREG), .file = "plain", .fd = fd, .flags = S_IFREG);
    any.handle.handle_bytes = MAX_HANDLE_SZ;
    DO(name_to_handle_at, (folder, "plain", &any.handle, &mount, 0), .file = "sub/plain");
    DO(name_to_handle_at, (folder, "no", &any.handle, &mount, AT_SYMLINK_FOLLOW), .file = "sub/no",
       .flags = AT_SYMLINK_FOLLOW);
}

static void attributes(int folder, int fd)
{
    const struct timeval times[2] = {{1000000, 1}, {2000000, 2}};
    const struct timespec exact[2] = {{1000000, 1}, {0, UTIME_OMIT}};
    const struct utimbuf both = {1000000, 2000000};

    DO(chmod, ("plain", 0640), .file = "plain", .mode = 0640);
    DO(chmod, ("no", 0640), .file = "no", .mode = 0640);
    DO(fchmod, (fd, 0600), .file = "plain", .fd = fd, .mode = 0600);
    DO(lchmod, ("plain", 0604), .file = "plain", .mode = 0604);
    DO(lchmod, ("no", 0604), .file = "no", .mode = 0604);
    DO(fchmodat, (folder, "plain", 0600, 0), .file = "sub/plain", .mode = 0600);
    DO(fchmodat, (folder, "no", 0600, AT_SYMLINK_NOFOLLOW), .file = "sub/no", .mode = 0600,
       .flags = AT_SYMLINK_NOFOLLOW);
    DO(chown, ("plain", geteuid(), getegid()), .file = "plain");
    DO(chown, ("no", geteuid(), getegid()), .file = "no");
    DO(fchown, (fd, geteuid(), (gid_t)-1), .file = "plain", .fd = fd);
    DO(lchown, ("sub/soft", geteuid(), getegid()), .file = "sub/soft");
    DO(lchown, ("no", geteuid(), getegid()), .file = "no");
    DO(fchownat, (folder, "soft", geteuid(), getegid(), AT_SYMLINK_NOFOLLOW), .file = "sub/soft",
       .flags = AT_SYMLINK_NOFOLLOW);
    DO(fchownat, (fd, "", geteuid(), getegid(), AT_EMPTY_PATH), .file = "plain", .flags = AT_EMPTY_PATH);
    DO(fchownat, (folder, "no", geteuid(), getegid(), 0), .file = "sub/no");
    DO(utime, ("plain", &both), .file = "plain");
    DO(utime, ("no", &both), .file = "no");
    DO(utimes, ("plain", times), .file = "plain");
    DO(utimes, ("no", NULL), .file = "no");
    DO(lutimes, ("sub/soft", times), .file = "sub/soft");
    DO(lutimes, ("no", times), .file = "no");
    DO(futimes, (fd, times), .file = "plain", .fd = fd);
    DO(futimens, (fd, exact), .file = "plain", .fd = fd);
    DO(futimesat, (folder, "plain", times), .file = "sub/plain");
    DO(futimesat, (fd, NULL, times), .file = "plain");
    DO(futimesat, (folder, "no", times), .file = "sub/no");
    DO(utimensat, (folder, "soft", exact, AT_SYMLINK_NOFOLLOW), .file = "sub/soft", .flags = AT_SYMLINK_NOFOLLOW);
    DO(utimensat, (folder, "no", NULL, 0), .file = "sub/no");
}

static void extended(int fd)
{
    char text[64];

    DO(setxattr, ("plain", "user.one", "value", 5, XATTR_CREATE), .file = "plain", .size = 5, .flags = XATTR_CREATE);
    DO(setxattr, ("no", "user.one", "value", 5, 0), .file = "no", .size = 5);
    DO(lsetxattr, ("plain", "user.two", "values", 6, 0), .file = "plain", .size = 6);
    DO(lsetxattr, ("no", "user.two", "values", 6, 0), .file = "no", .size = 6);
    DO(fsetxattr, (fd, "user.three", "v", 1, 0), .file = "plain", .fd = fd, .size = 1);
    DO(fsetxattr, (fd, "wrong", "v", 1, 0), .file = "plain", .fd = fd, .size = 1);
    DO(getxattr, ("plain", "user.one", text, sizeof text), .file = "plain", .size = sizeof text);
    DO(getxattr, ("plain", "user.no", text, sizeof text), .file = "plain", .size = sizeof text);
    DO(lgetxattr, ("plain", "user.two", NULL, 0), .file = "plain");
    DO(lgetxattr, ("no", "user.two", NULL, 0), .file = "no");
    DO(fgetxattr, (fd, "user.two", text, 2), .file = "plain", .fd = fd, .size = 2); /* ERANGE */
    DO(fgetxattr, (fd, "user.two", text, 32), .file = "plain", .fd = fd, .size = 32);
    DO(listxattr, ("plain", text, sizeof text), .file = "plain", .size = sizeof text);
    DO(listxattr, ("no", text, sizeof text), .file = "no", .size = sizeof text);
    DO(llistxattr, ("sub/soft", text, sizeof text), .file = "sub/soft", .size = sizeof text);
    DO(llistxattr, ("no", text, sizeof text), .file = "no", .size = sizeof text);
    DO(flistxattr, (fd, text, 1), .file = "plain", .fd = fd, .size = 1); /* ERANGE */
    DO(flistxattr, (fd, NULL, 0), .file = "plain", .fd = fd);
    DO(removexattr, ("plain", "user.one"), .file = "plain");
    DO(removexattr, ("plain", "user.one"), .file = "plain");
    DO(lremovexattr, ("plain", "user.two"), .file = "plain");
    DO(lremovexattr, ("plain", "user.two"), .file = "plain");
    DO(fremovexattr, (fd, "user.three"), .file = "plain", .fd = fd);
    DO(fremovexattr, (fd, "user.three"), .file = "plain", .fd = fd);
}

static void watched(int folder)
{
    int watch = inotify_init1(IN_CLOEXEC), guard = fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);

    DO(inotify_add_watch, (watch, "sub", IN_CREATE), .file = "sub", .flags = IN_CREATE);
    DO(inotify_add_watch, (watch, "no", IN_CREATE), .file = "no", .flags = IN_CREATE);
    DO(fanotify_mark, (guard, FAN_MARK_ADD, FAN_OPEN, folder, "plain"), .file = "sub/plain", .flags = FAN_MARK_ADD);
    DO(fanotify_mark, (guard, FAN_MARK_ADD, FAN_OPEN, folder, "no"), .file = "sub/no", .flags = FAN_MARK_ADD);
    close(watch);
    close(guard);
}

/* In a process of its own: there is no way back. */
static void rooted(void)
{
    int status;
    pid_t child;

    DO(chroot, ("no"), .file = "no");
    child = DO(fork, (), .fd = -1);
    if (!child) {
        if (DO(chroot, ("sub"), .file = "sub") == 0) {
            DO(chdir, ("/"), .file = "/");
            DO(access, ("plain", F_OK), .file = "/plain");
        }
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status)
        abort();
}

void names(void)
{
    int fd = (int)DO(open, ("plain", O_RDWR | O_CREAT, 0600), .file = "plain", .flags = O_RDWR | O_CREAT, .mode = 0600);
    int folder;

    DO(mkdir, ("sub", 0700), .file = "sub", .mode = 0700);
    folder = (int)DO(open, ("sub", O_RDONLY | O_DIRECTORY), .file = "sub", .flags = O_RDONLY | O_DIRECTORY);
    made(folder);
    linked(folder, fd);
    asked(folder, fd);
    attributes(folder, fd);
    extended(fd);
    watched(folder);
    rooted();
    DO(close, (folder), .file = "sub", .fd = folder);
    DO(close, (fd), .file = "plain", .fd = fd);
}
