/* Does the same calls by the C library's functions or through syscall(), and prints every result.
 *
 * usage: both_ways function|syscall    in an empty directory */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

static void old_ones(void)
{
#ifdef SYS_open
    struct stat st;
    int fd = (int)DO(open, SYS_open, "data", O_RDWR), pair[2];

    DO(open, SYS_open, "no such file", O_RDONLY);
    DO(dup2, SYS_dup2, fd, 100);
    DO(close, SYS_close, 100);
    DO(close, SYS_close, (int)DO(creat, SYS_creat, "created", 0600));
    DO(stat, SYS_stat, "created", &st);
    DO(lstat, SYS_lstat, "created", &st);
    DO(rename, SYS_rename, "created", "renamed");
    DO(unlink, SYS_unlink, "renamed");
    DO(mkdir, SYS_mkdir, "folder", 0700);
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
    old_ones();
    descriptors();
    return 0;
}
