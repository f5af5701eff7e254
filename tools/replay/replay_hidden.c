/* SPDX-License-Identifier: MIT */
/* Calls that no trace of replay shows. */
#include "replay/replay_hidden.h"

#include <dftrace/dftrace.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

void dft_replay_hide(void)
{
    DFTRACE_PAUSE_THREAD();
}

void dft_replay_show(void)
{
    DFTRACE_RESUME_THREAD();
}

void dft_replay_hidden_close(int fd, FILE *stream, DIR *dir)
{
    dft_replay_hide();
    if (stream)
        fclose(stream);
    else if (dir)
        closedir(dir);
    else
        close(fd);
    dft_replay_show();
}

int dft_replay_hidden_dup(int fd)
{
    int copy;

    dft_replay_hide();
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    copy = copy < 0 ? -errno : copy;
    dft_replay_show();
    return copy;
}

/* Straight to the kernel, as a pause for each check would cost more than the check. Returns the result or -errno. */
static long raw_call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__) && defined(__LP64__)
    register long fourth __asm__("r10") = d;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    long result;

    dft_replay_hide();
    result = syscall(number, a, b, c, d);
    result = result < 0 ? -errno : result;
    dft_replay_show();
    return result;
#endif
}

int dft_replay_hidden_number(int fd)
{
    return (int)raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0);
}

int64_t dft_replay_hidden_seek(int fd, int64_t offset, int whence)
{
    return raw_call(SYS_lseek, fd, offset, whence, 0);
}

int dft_replay_hidden_open2(int at, const char *path, int flags, int beneath)
{
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = beneath ? RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS : 0};

    return (int)raw_call(SYS_openat2, at, (long)(uintptr_t)path, (long)(uintptr_t)&how, sizeof how);
}

int dft_replay_hidden_open(int at, const char *path, int flags)
{
    return (int)raw_call(SYS_openat, at, (long)(uintptr_t)path, flags, 0);
}

void dft_replay_hidden_close_raw(int fd)
{
    raw_call(SYS_close, fd, 0, 0, 0);
}
