/* The rows of syscalls.def that are written by hand: what needs more than a table can say, with the same functions as the wrappers of
 * the C library's functions have (wrap_special.h). */
#include "resolve.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

#include "convert.h"
#include "lifecycle.h"
#include "probe_process.h"
#include "wrap_maps.h"
#include "wrap_prctl.h"
#include "wrap_special.h"
#include "wrap_syscall.h"

#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

#define HAND(name) long dft_hand_##name(PARAMETERS)

/* Flags and mode lie in the program's memory, which the kernel has read when the call succeeds; else that is to be asked. */
HAND(SYS_openat2)
{
    struct dft_call_args args = DFT_ARGS(.dirfd = a0, .path = (char *)a1);
    const struct open_how *how = (const struct open_how *)a2;
    struct dft_probe probe;
    long result;

    if (!dft_probe_begin(&probe, DFT_CALL_openat2, DFT_OP_OPEN, &args, DFT_ON_POSIX))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    if (result >= 0 || (dft_sys_can_read(&how->flags) && dft_sys_can_read(&how->mode))) {
        args.flags = (int)how->flags;
        args.mode = (mode_t)how->mode;
    }
    dft_finish(&probe, DFT_CALL_openat2, DFT_OP_OPEN, &args, result, 0);
    return result;
}

static int make_close_range(unsigned first, unsigned last, int flags)
{
    return (int)REAL(SYS_close_range, first, last, flags);
}

HAND(SYS_close_range)
{
    return dft_close_many((unsigned)a0, (unsigned)a1, (int)a2, make_close_range);
}

#ifdef SYS_dup2
static int make_dup2(int fd, int fd2, int flags)
{
    (void)flags;
    return (int)REAL(SYS_dup2, fd, fd2);
}

HAND(SYS_dup2)
{
    return dft_duplicate(DFT_CALL_dup2, (int)a0, (int)a1, 0, make_dup2);
}
#endif

static int make_dup3(int fd, int fd2, int flags)
{
    return (int)REAL(SYS_dup3, fd, fd2, flags);
}

HAND(SYS_dup3)
{
    return dft_duplicate(DFT_CALL_dup3, (int)a0, (int)a1, (int)a2, make_dup3);
}

static int make_fcntl(int fd, int command, long argument)
{
    return (int)REAL(SYS_fcntl, fd, command, argument);
}

HAND(SYS_fcntl)
{
    return dft_control((int)a0, (int)a1, a2, make_fcntl);
}

static void *make_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
    return (void *)REAL(SYS_mmap, address, length, prot, flags, fd, offset);
}

HAND(SYS_mmap)
{
    return (long)dft_map((void *)a0, (size_t)a1, (int)a2, (int)a3, (int)a4, a5, make_mmap);
}

static int make_munmap(void *address, size_t length)
{
    return (int)REAL(SYS_munmap, address, length);
}

HAND(SYS_munmap)
{
    return dft_unmap((void *)a0, (size_t)a1, make_munmap);
}

static void *make_mremap(void *old, size_t old_size, size_t size, int flags, void *address)
{
    return (void *)REAL(SYS_mremap, old, old_size, size, flags, address);
}

HAND(SYS_mremap)
{
    return (long)dft_remap((void *)a0, (size_t)a1, (size_t)a2, (int)a3, (void *)a4, make_mremap);
}

static int make_remap_file_pages(void *address, size_t size, int prot, size_t page, int flags)
{
    return (int)REAL(SYS_remap_file_pages, address, size, prot, page, flags);
}

HAND(SYS_remap_file_pages)
{
    return dft_remap_pages((void *)a0, (size_t)a1, (int)a2, (size_t)a3, (int)a4, make_remap_file_pages);
}

#define ON_MAPPED(name, how)                                                                                           \
    static int make_##name(void *address, size_t length, int flags)                                                    \
    {                                                                                                                  \
        return (int)REAL(SYS_##name, address, length, flags);                                                          \
    }                                                                                                                  \
    HAND(SYS_##name)                                                                                                   \
    {                                                                                                                  \
        return dft_on_mapped(DFT_CALL_##name, (void *)a0, (size_t)a1, (int)(how), make_##name);                        \
    }

ON_MAPPED(msync, a2)
ON_MAPPED(madvise, a2)
ON_MAPPED(mlock, 0)
ON_MAPPED(mlock2, a2)
ON_MAPPED(munlock, 0)

#define ASYNCHRONOUS(name)                                                                                             \
    HAND(SYS_##name)                                                                                                   \
    {                                                                                                                  \
        const long arguments[6] = {a0, a1, a2, a3, a4, a5};                                                            \
                                                                                                                       \
        return dft_libaio_syscall(number, arguments);                                                                  \
    }

ASYNCHRONOUS(io_setup)
ASYNCHRONOUS(io_destroy)
ASYNCHRONOUS(io_submit)
ASYNCHRONOUS(io_cancel)
ASYNCHRONOUS(io_getevents)
ASYNCHRONOUS(io_pgetevents)

/* A call that has an event, and makes a descriptor that is not followed. */
HAND(SYS_io_uring_setup)
{
    const struct dft_call_args args = DFT_ARGS(.system = 1);
    struct dft_probe probe;
    long result;

    if (!dft_probe_begin(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, DFT_ON_POSIX))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    if (result >= 0 && !dft_in_vfork_child())
        dft_fd_bind_untraced((int)result);
    dft_finish(&probe, DFT_CALL_io_uring_setup, DFT_OP_OTHER, &args, result, 0);
    return result;
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* Where a system call's arguments are handed on as they are. */
#define ALL                                                                                                            \
    {                                                                                                                  \
        number, a0, a1, a2, a3, a4, a5                                                                                 \
    }

static pid_t make_process(const long *a)
{
    return (pid_t)REAL(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* Where the child begins on another stack, or on its parent's, it must find there what the program put on it. */
int dft_syscall_is_plain(long number, long a0, long a1)
{
    const struct clone_args *arguments = (const struct clone_args *)a0;
    uint64_t flags = (uint64_t)a0, stack = (uint64_t)a1;

    if (number == SYS_clone3) {
        if (!dft_sys_can_read(&arguments->flags) || !dft_sys_can_read(&arguments->stack))
            return 1;
        flags = arguments->flags;
        stack = arguments->stack;
    }
    if (flags & CLONE_VM)
        return 1;
    if (stack)
        dft_process_forking(DFT_CHILD_STAYS);
    return stack != 0;
}

#ifdef SYS_fork
HAND(SYS_fork)
{
    return dft_fork(DFT_CALL_fork, make_process, (const long[])ALL);
}
#endif

HAND(SYS_clone)
{
    return dft_fork(DFT_CALL_clone, make_process, (const long[])ALL);
}

HAND(SYS_clone3)
{
    return dft_fork(DFT_CALL_clone3, make_process, (const long[])ALL);
}

static int make_execve(const long *a, char *const envp[])
{
    return (int)REAL(a[0], a[1], a[2], envp, a[4], a[5], a[6]);
}

HAND(SYS_execve)
{
    return dft_exec(DFT_CALL_execve, AT_FDCWD, (const char *)a0, (char *const *)a2, make_execve, (const long[])ALL);
}

static int make_execveat(const long *a, char *const envp[])
{
    return (int)REAL(a[0], a[1], a[2], a[3], envp, a[5], a[6]);
}

HAND(SYS_execveat)
{
    return dft_exec(DFT_CALL_execveat, (int)a0, (const char *)a1, (char *const *)a3, make_execveat, (const long[])ALL);
}

HAND(SYS_exit_group)
{
    dft_exiting((int)a0);
    return REAL(ARGUMENTS);
}

/* Is the caller the process's first thread, and the last one left? Then its end is that of the process. */
static int is_all_there_is(void)
{
    struct stat tasks;

    if (dft_sys_gettid() != dft_sys_getpid())
        return 0;
    if (DFT_SYS(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0, 0, 0) < 0)
        return dft_is_single();
    return tasks.st_nlink == 2 + 1;
}

HAND(SYS_exit)
{
    if (is_all_there_is())
        dft_exiting((int)a0);
    else
        dft_thread_end();
    return REAL(ARGUMENTS);
}

HAND(SYS_wait4)
{
    struct dft_probe probe;
    long result;

    if (!dft_process_begin(&probe, DFT_CALL_wait4))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    dft_end_wait(&probe, DFT_CALL_wait4, (int)a2, (pid_t)result, (const int *)a1);
    return result;
}

HAND(SYS_waitid)
{
    struct dft_probe probe;
    long result;

    if (!dft_process_begin(&probe, DFT_CALL_waitid))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    dft_end_waitid(&probe, (int)a3, (int)result, (const siginfo_t *)a2);
    return result;
}

/* Filters: libseccomp sets them so. With TSYNC a positive result is a thread that could not follow, unless a listener was asked for. */
HAND(SYS_seccomp)
{
    int all = a0 == SECCOMP_SET_MODE_FILTER && a1 & SECCOMP_FILTER_FLAG_TSYNC, listens = (a1 & (1 << 3)) != 0;
    enum dft_sandbox_kind kind = a0 == SECCOMP_SET_MODE_STRICT ? DFT_SANDBOX_STRICT
                                 : all                         ? DFT_SANDBOX_FILTER_ALL
                                                               : DFT_SANDBOX_FILTER;
    struct dft_probe probe;
    long result;

    if (a0 != SECCOMP_SET_MODE_STRICT && a0 != SECCOMP_SET_MODE_FILTER)
        return REAL(ARGUMENTS);
    dft_forbid_begin(&probe, kind);
    result = REAL(ARGUMENTS);
    dft_forbid_end(&probe, DFT_CALL_seccomp, kind, (int)a0, result, result < 0 || (all && result > 0 && !listens));
    return result;
}

static int make_prctl(int option, const unsigned long a[4])
{
    return (int)REAL(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

HAND(SYS_prctl)
{
    const unsigned long a[4] = {(unsigned long)a1, (unsigned long)a2, (unsigned long)a3, (unsigned long)a4};

    return dft_prctl((int)a0, a, make_prctl);
}
