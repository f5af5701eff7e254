/* SPDX-License-Identifier: MIT */
/* Does the same calls by the C library's functions or through syscall(), and prints every result.
 *
 * usage: both_ways function|syscall    in an empty directory */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

static int by_syscall;

static long say(const char *what, long result)
{
    int error = errno;

    if (result == -1)
        printf("%s: -1 (%s)\n", what, strerrorname_np(error));
    else
        printf("%s: %ld\n", what, result);
    errno = 0;
    return result;
}

/* The two have the same arguments ... */
#define DO(function, number, ...)                                                                                      \
    (errno = 0, say(#function, by_syscall ? syscall(number, __VA_ARGS__) : (long)function(__VA_ARGS__)))
/* ... or not. */
#define EITHER(function, number, arguments, ...)                                                                       \
    (errno = 0, say(#function, by_syscall ? syscall(number, __VA_ARGS__) : (long)function arguments))

static char buffer[8192];

static void data(void)
{
    struct iovec iov[2] = {{buffer, 10}, {buffer + 100, 20}};
    int fd = (int)DO(openat, SYS_openat, AT_FDCWD, "data", O_RDWR | O_CREAT | O_EXCL, 0640), copy;

    memset(buffer, 'x', sizeof buffer);
    DO(write, SYS_write, fd, buffer, 1000);
    DO(pwrite, SYS_pwrite64, fd, buffer, 500, 4096L);
    DO(writev, SYS_writev, fd, iov, 2);
    EITHER(pwritev, SYS_pwritev, (fd, iov, 2, 5000L), fd, iov, 2, 5000L, 0L);
    EITHER(pwritev2, SYS_pwritev2, (fd, iov, 2, 6000L, 0), fd, iov, 2, 6000L, 0L, 0);
    EITHER(pwritev2, SYS_pwritev2, (fd, iov, 1, -1L, 0), fd, iov, 1, -1L, -1L, 0);
    DO(lseek, SYS_lseek, fd, 100L, SEEK_SET);
    DO(read, SYS_read, fd, buffer, 300);
    DO(readv, SYS_readv, fd, iov, 2);
    DO(pread, SYS_pread64, fd, buffer, 100, 50L);
    EITHER(preadv, SYS_preadv, (fd, iov, 2, 4096L), fd, iov, 2, 4096L, 0L);
    EITHER(preadv2, SYS_preadv2, (fd, iov, 2, 4000L, RWF_HIPRI), fd, iov, 2, 4000L, 0L, RWF_HIPRI);
    EITHER(preadv2, SYS_preadv2, (fd, iov, 2, -1L, 0), fd, iov, 2, -1L, -1L, 0);
    DO(read, SYS_read, fd, buffer, sizeof buffer);
    DO(read, SYS_read, fd, buffer, 1);
    DO(lseek, SYS_lseek, fd, -5L, SEEK_SET);
    DO(read, SYS_read, fd, NULL, 10);
    copy = (int)DO(dup, SYS_dup, fd);
    DO(lseek, SYS_lseek, copy, 7L, SEEK_SET);
    DO(read, SYS_read, fd, buffer, 11);
    DO(fsync, SYS_fsync, fd);
    DO(fdatasync, SYS_fdatasync, fd);
    DO(ftruncate, SYS_ftruncate, fd, 3000L);
    DO(close, SYS_close, copy);
    DO(close, SYS_close, fd);
    DO(close, SYS_close, fd);
    DO(read, SYS_read, fd, buffer, 10);
}

static void metadata(void)
{
    int here = (int)DO(openat, SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY), there;
    struct statx sx;
    struct stat st;

    DO(mkdirat, SYS_mkdirat, here, "below", 0750);
    DO(mkdirat, SYS_mkdirat, here, "below", 0750);
    there = (int)DO(openat, SYS_openat, here, "below", O_RDONLY | O_DIRECTORY);
    DO(fstatat, SYS_newfstatat, here, "data", &st, 0);
    DO(fstatat, SYS_newfstatat, there, "", &st, AT_EMPTY_PATH);
    DO(fstatat, SYS_newfstatat, AT_FDCWD, "no such file", &st, AT_SYMLINK_NOFOLLOW);
    DO(statx, SYS_statx, here, "data", AT_STATX_SYNC_AS_STAT, STATX_SIZE, &sx);
    DO(fstat, SYS_fstat, there, &st);
    DO(fstat, SYS_fstat, 999, &st);
    EITHER(renameat, SYS_renameat2, (here, "data", there, "moved"), here, "data", there, "moved", 0);
    DO(renameat2, SYS_renameat2, there, "moved", here, "data", RENAME_NOREPLACE);
    DO(renameat2, SYS_renameat2, AT_FDCWD, (char *)8, here, "data", 0);
    DO(fchdir, SYS_fchdir, there);
    DO(openat, SYS_openat, AT_FDCWD, "new", O_WRONLY | O_CREAT | O_APPEND, 0600);
    DO(chdir, SYS_chdir, "..");
    DO(chdir, SYS_chdir, "data");
    DO(unlinkat, SYS_unlinkat, there, "new", 0);
    DO(unlinkat, SYS_unlinkat, here, "below", AT_REMOVEDIR);
    DO(close, SYS_close, there);
    DO(close, SYS_close, here);
}

static void names(void)
{
    int here = (int)DO(openat, SYS_openat, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY),
        fd = (int)DO(openat, SYS_openat, here, "data", O_RDWR);
    struct timespec times[2] = {{1000, 1}, {2000, 2}};
    struct statfs fs;

    EITHER(faccessat, SYS_faccessat, (here, "data", R_OK | W_OK, 0), here, "data", R_OK | W_OK);
    EITHER(faccessat, SYS_faccessat, (here, "nothing", F_OK, 0), here, "nothing", F_OK);
    DO(linkat, SYS_linkat, here, "data", AT_FDCWD, "hard", 0);
    DO(linkat, SYS_linkat, here, "nothing", AT_FDCWD, "hard2", 0);
    DO(symlinkat, SYS_symlinkat, "data", here, "soft");
    DO(readlinkat, SYS_readlinkat, here, "soft", buffer, 100);
    DO(readlinkat, SYS_readlinkat, here, "data", buffer, 100);
    DO(mknodat, SYS_mknodat, here, "fifo", S_IFIFO | 0600, 0);
    DO(fchmod, SYS_fchmod, fd, 0600);
    EITHER(fchmodat, SYS_fchmodat, (here, "data", 0644, 0), here, "data", 0644);
    DO(fchown, SYS_fchown, fd, -1, -1);
    DO(fchownat, SYS_fchownat, here, "soft", -1, -1, AT_SYMLINK_NOFOLLOW);
    DO(utimensat, SYS_utimensat, here, "data", times, 0);
    DO(setxattr, SYS_setxattr, "data", "user.a", "value", 5, 0);
    DO(getxattr, SYS_getxattr, "data", "user.a", buffer, 100);
    DO(listxattr, SYS_listxattr, "data", buffer, 100);
    DO(lgetxattr, SYS_lgetxattr, "data", "user.b", buffer, 100);
    DO(llistxattr, SYS_llistxattr, "data", buffer, 100);
    DO(fsetxattr, SYS_fsetxattr, fd, "user.c", "value", 5, XATTR_REPLACE);
    DO(fgetxattr, SYS_fgetxattr, fd, "user.a", buffer, 100);
    DO(flistxattr, SYS_flistxattr, fd, buffer, 100);
    DO(removexattr, SYS_removexattr, "data", "user.a");
    DO(fremovexattr, SYS_fremovexattr, fd, "user.a");
    DO(lremovexattr, SYS_lremovexattr, "data", "user.a");
    DO(lsetxattr, SYS_lsetxattr, "soft", "user.a", "value", 5, 0);
    DO(truncate, SYS_truncate, "data", 5000L);
    DO(fallocate, SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, 0L, 8192L);
    DO(readahead, SYS_readahead, fd, 0L, 4096);
    DO(sync_file_range, SYS_sync_file_range, fd, 0L, 4096L, SYNC_FILE_RANGE_WRITE);
    DO(syncfs, SYS_syncfs, fd);
    DO(flock, SYS_flock, fd, LOCK_EX | LOCK_NB);
    DO(flock, SYS_flock, fd, 77);
    DO(statfs, SYS_statfs, "data", &fs);
    DO(fstatfs, SYS_fstatfs, fd, &fs);
    say("getdents64", (by_syscall ? syscall(SYS_getdents64, here, buffer, sizeof buffer)
                                  : (long)getdents64(here, buffer, sizeof buffer)) > 0);
    DO(getdents64, SYS_getdents64, here, buffer, sizeof buffer);
    DO(getdents64, SYS_getdents64, fd, buffer, sizeof buffer);
    DO(ioctl, SYS_ioctl, fd, FIONREAD, buffer);
    DO(ioctl, SYS_ioctl, fd, 0x7777, buffer);
    DO(inotify_add_watch, SYS_inotify_add_watch, (int)DO(inotify_init1, SYS_inotify_init1, 0), "data", IN_MODIFY);
    DO(close, SYS_close, fd);
    DO(close, SYS_close, here);
}

static void transfers(void)
{
    int in = (int)DO(openat, SYS_openat, AT_FDCWD, "data", O_RDWR), pair[2],
        out = (int)DO(openat, SYS_openat, AT_FDCWD, "copy", O_RDWR | O_CREAT, 0600);
    struct iovec iov = {buffer, 20};
    off_t from = 100, to = 200;

    DO(sendfile, SYS_sendfile, out, in, NULL, 500);
    DO(sendfile, SYS_sendfile, out, in, &from, 500);
    DO(copy_file_range, SYS_copy_file_range, in, &from, out, &to, 300, 0);
    DO(copy_file_range, SYS_copy_file_range, in, NULL, out, NULL, 300, 0);
    DO(copy_file_range, SYS_copy_file_range, in, &from, out, &to, 300, 77);
    DO(pipe2, SYS_pipe2, pair, 0);
    DO(splice, SYS_splice, in, &from, pair[1], NULL, 100, 0);
    DO(splice, SYS_splice, pair[0], NULL, out, &to, 60, SPLICE_F_MOVE);
    DO(vmsplice, SYS_vmsplice, pair[1], &iov, 1, 0);
    DO(splice, SYS_splice, pair[0], NULL, out, NULL, 60, 0);
    DO(read, SYS_read, out, buffer, 10);
    DO(lseek, SYS_lseek, in, 0L, SEEK_CUR);
    DO(close, SYS_close, in);
    DO(close, SYS_close, out);
}

static void old_ones(void)
{
#ifdef SYS_open
    struct stat st;
    int fd = (int)DO(open, SYS_open, "data", O_RDWR), pair[2];
    struct utimbuf times = {1000, 2000};
    struct timeval more[2] = {{1000, 1}, {2000, 2}};

    DO(open, SYS_open, "no such file", O_RDONLY);
    DO(dup2, SYS_dup2, fd, 100);
    DO(close, SYS_close, 100);
    DO(close, SYS_close, (int)DO(creat, SYS_creat, "created", 0600));
    DO(stat, SYS_stat, "created", &st);
    DO(lstat, SYS_lstat, "created", &st);
    DO(rename, SYS_rename, "created", "renamed");
    DO(unlink, SYS_unlink, "renamed");
    DO(mkdir, SYS_mkdir, "folder", 0700);
    DO(access, SYS_access, "folder", X_OK);
    DO(rmdir, SYS_rmdir, "folder");
    DO(rmdir, SYS_rmdir, "folder");
    DO(link, SYS_link, "data", "hard3");
    DO(symlink, SYS_symlink, "data", "soft2");
    DO(readlink, SYS_readlink, "soft2", buffer, 3);
    DO(mknod, SYS_mknod, "fifo2", S_IFIFO | 0600, 0);
    DO(chmod, SYS_chmod, "data", 0600);
    DO(chown, SYS_chown, "data", -1, -1);
    DO(lchown, SYS_lchown, "soft2", -1, -1);
    DO(utime, SYS_utime, "data", &times);
    DO(utimes, SYS_utimes, "data", more);
    DO(futimesat, SYS_futimesat, AT_FDCWD, "data", more);
    DO(pipe, SYS_pipe, pair);
    DO(write, SYS_write, pair[1], "x", 1);
    DO(close, SYS_close, pair[0]);
    DO(close, SYS_close, pair[1]);
    EITHER(eventfd, SYS_eventfd, (0, 0), 0);
    DO(epoll_create, SYS_epoll_create, 1);
    DO(close, SYS_close, fd);
#endif
}

static void descriptors(void)
{
    int fd = (int)DO(openat, SYS_openat, AT_FDCWD, "data", O_RDWR), pair[2];

    DO(dup3, SYS_dup3, fd, 110, O_CLOEXEC);
    DO(dup3, SYS_dup3, fd, 111, 0x1234);
    DO(dup3, SYS_dup3, 999, 110, 0);
    DO(write, SYS_write, 110, buffer, 10);
    DO(fcntl, SYS_fcntl, fd, F_DUPFD_CLOEXEC, 120L);
    DO(fcntl, SYS_fcntl, fd, F_GETFL, 0L);
    DO(fcntl, SYS_fcntl, fd, F_SETLKW, (long)&(struct flock){.l_type = F_WRLCK});
    DO(fcntl, SYS_fcntl, fd, F_SETLK, (long)&(struct flock){.l_type = F_UNLCK});
    DO(fcntl, SYS_fcntl, fd, F_OFD_SETLKW, (long)&(struct flock){.l_type = F_RDLCK});
    DO(fcntl, SYS_fcntl, fd, F_SETFL, (long)O_APPEND);
    DO(write, SYS_write, fd, buffer, 10);
    DO(close_range, SYS_close_range, 100, 119, 0);
    DO(close_range, SYS_close_range, 5, 4, 0);
    DO(read, SYS_read, 110, buffer, 10);
    DO(read, SYS_read, 120, buffer, 10);
    DO(pipe2, SYS_pipe2, pair, O_CLOEXEC);
    DO(write, SYS_write, pair[1], "x", 1);
    DO(read, SYS_read, pair[0], buffer, 10);
    DO(socketpair, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
    DO(write, SYS_write, pair[1], "x", 1);
    DO(socket, SYS_socket, AF_UNIX, SOCK_DGRAM, 0);
    DO(eventfd, SYS_eventfd2, 1, 0);
    DO(epoll_create1, SYS_epoll_create1, 0);
    DO(memfd_create, SYS_memfd_create, "memory", 0);
    DO(close, SYS_close, fd);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    by_syscall = !strcmp(argv[1], "syscall");
    data();
    metadata();
    names();
    transfers();
    old_ones();
    descriptors();
    return 0;
}
