/* SPDX-License-Identifier: MIT */
/* Owns the stand-ins: functions that came to the C library after 2.17 and are hardly more than a
 * system call. The kernel answers ENOSYS where it has no such call either. */
#include "loader/substitute.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "loader/own_calls.h"
#include "loader/resolve.h"

/* The program's system call: it sets errno. */
#define CALL(...) DFT_REAL(syscall)(__VA_ARGS__)

/* Arguments that the call does not have are of no interest to the kernel. */
#define DIRECT(name)                                                                                                   \
    static long direct_##name(long a, long b, long c, long d, long e, long f)                                          \
    {                                                                                                                  \
        return CALL(SYS_##name, a, b, c, d, e, f);                                                                     \
    }
DIRECT(close_range)
DIRECT(copy_file_range)
DIRECT(execveat)
DIRECT(fsmount)
DIRECT(fsopen)
DIRECT(fspick)
DIRECT(fstat)
DIRECT(getdents64)
DIRECT(memfd_create)
DIRECT(mknodat)
DIRECT(mlock2)
DIRECT(newfstatat)
DIRECT(open_tree)
DIRECT(pidfd_getfd)
DIRECT(pidfd_open)
DIRECT(renameat2)
DIRECT(statx)

static long direct_stat(const char *path, struct stat *status)
{
    return CALL(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

static long direct_lstat(const char *path, struct stat *status)
{
    return CALL(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

static long direct_mknod(const char *path, mode_t mode, dev_t device)
{
    return CALL(SYS_mknodat, AT_FDCWD, path, mode, device);
}

/* The kernel takes an offset in two words. The second one counts on machines of 32 bits only. */
static long direct_preadv2(int fd, const struct iovec *iov, int iovcnt, off_t offset, int flags)
{
    return CALL(SYS_preadv2, fd, iov, iovcnt, offset, 0, flags);
}

static long direct_pwritev2(int fd, const struct iovec *iov, int iovcnt, off_t offset, int flags)
{
    return CALL(SYS_pwritev2, fd, iov, iovcnt, offset, 0, flags);
}

/* Kernels before 5.9 close one descriptor at a time. */
static void direct_closefrom(int first)
{
    struct rlimit limit = {0};

    if (first < 0)
        first = 0;
    if (CALL(SYS_close_range, first, ~0u, 0) == 0 || CALL(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) < 0)
        return;
    for (rlim_t fd = (rlim_t)first; fd < limit.rlim_cur && fd <= INT32_MAX; fd++)
        CALL(SYS_close, fd);
}

/* Before glibc 2.34 the library of these functions may come after the program's start. The loader looks at who calls
 * it: the compiler makes jumps of these calls. */
#define DIRECT_LOADER(name, prototype, arguments)                                                                      \
    static void *direct_##name prototype                                                                               \
    {                                                                                                                  \
        void *(*real)prototype;                                                                                        \
                                                                                                                       \
        *(void **)&real = dft_own_find_loader(#name);                                                                  \
        return real ? real arguments : NULL;                                                                           \
    }
DIRECT_LOADER(dlopen, (const char *path, int flags), (path, flags))
DIRECT_LOADER(dlsym, (void *handle, const char *name), (handle, name))
DIRECT_LOADER(dlvsym, (void *handle, const char *name, const char *version), (handle, name, version))

static const struct {
    char name[16];
    void *function;
} substitutes[] = {
#define NAMED(name, function) {#name, (void *)direct_##function},
#define SAME(name)            NAMED(name, name)
    SAME(close_range) SAME(closefrom) SAME(copy_file_range) SAME(dlopen) SAME(dlsym) SAME(dlvsym) SAME(execveat)
        SAME(fsmount) SAME(fsopen) SAME(fspick) SAME(fstat) NAMED(fstatat, newfstatat) SAME(getdents64) SAME(lstat)
            SAME(memfd_create) SAME(mknod) SAME(mknodat) SAME(mlock2) SAME(open_tree) SAME(pidfd_getfd) SAME(pidfd_open)
                SAME(preadv2) SAME(pwritev2) SAME(renameat2) SAME(stat) SAME(statx)};

void *dft_substitute(const char *name)
{
    for (size_t i = 0; i < sizeof substitutes / sizeof *substitutes; i++)
        if (!strcmp(substitutes[i].name, name))
            return substitutes[i].function;
    return NULL;
}
