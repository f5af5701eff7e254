/* SPDX-License-Identifier: MIT */
/* Calls that can be made through syscall() alone, and attempts on a descriptor that it should not
 * find.
 *
 * usage: only_syscall    in an empty directory */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#define DO(what, ...) say(what, syscall(__VA_ARGS__))

static void open_how(void)
{
    struct open_how how = {.flags = O_CREAT | O_RDWR, .mode = 0600, .resolve = RESOLVE_NO_SYMLINKS},
                    bad = {.flags = 1ull << 40};
    long fd = DO("openat2", SYS_openat2, AT_FDCWD, "how", &how, sizeof how);

    DO("write", SYS_write, fd, "text", 4);
    DO("openat2, bad flags", SYS_openat2, AT_FDCWD, "how", &bad, sizeof bad);
    DO("openat2, bad address", SYS_openat2, AT_FDCWD, "how", (void *)8, sizeof how);
    DO("openat2, bad path", SYS_openat2, AT_FDCWD, (void *)8, &how, sizeof how);
    DO("close", SYS_close, fd);
}

/* Where the kernel has none, or forbids it, there are failures to be recorded. */
static void ring(void)
{
    struct io_uring_params parameters = {0};
    long fd = syscall(SYS_io_uring_setup, 4, &parameters);

    syscall(SYS_io_uring_register, fd, 0x7fff, NULL, 0);
    syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
}

/* All numbers that a tracer might use: none is open, and none can be closed, read or copied. */
static void numbers(void)
{
    struct stat st;
    char byte;

    for (long fd = 200; fd < 1100; fd++) {
        if (!syscall(SYS_fstat, fd, &st) || errno != EBADF)
            say("fstat", fd);
        if (!syscall(SYS_fcntl, fd, F_GETFD, 0) || errno != EBADF)
            say("fcntl", fd);
        if (syscall(SYS_read, fd, &byte, 1) != -1 || errno != EBADF)
            say("read", fd);
        if (syscall(SYS_pwrite64, fd, "x", 1, 0L) != -1 || errno != EBADF)
            say("pwrite", fd);
        if (syscall(SYS_dup, fd) != -1 || errno != EBADF)
            say("dup", fd);
        if (syscall(SYS_dup3, fd, 5, 0) != -1 || errno != EBADF)
            say("dup3", fd);
        if (syscall(SYS_close, fd) != -1 || errno != EBADF)
            say("close", fd);
    }
    DO("close_range", SYS_close_range, 200, ~0u, 0);
    for (long fd = 200; fd < 1024; fd++)
        if (syscall(SYS_dup3, 0, fd, 0) != fd)
            say("dup3 to", fd);
    DO("close_range", SYS_close_range, 200, ~0u, 0);
    DO("close_range", SYS_close_range, 200, ~0u, 4);
}

int main(void)
{
    open_how();
    ring();
    numbers();
    open_how();
    return 0;
}
