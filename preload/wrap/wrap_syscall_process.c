/* SPDX-License-Identifier: MIT */
/* The rows of syscalls.def that make, replace, await and end processes, or forbid them system
 * calls. */
#include "os/own_files.h"
#include "loader/resolve.h"
#include "life/sandbox.h"
#include "os/shared_tls.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/stat.h>

#include "life/lifecycle.h"
#include "probe/probe_process.h"
#include "ring/threads.h"
#include "store/tracefile.h"
#include "wrap/wrap_prctl.h"
#include "wrap/wrap_special.h"
#include "wrap/wrap_syscall.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Where a system call's arguments are handed on as they are. */
#define ALL                                                                                                            \
    {                                                                                                                  \
        number, a0, a1, a2, a3, a4, a5                                                                                 \
    }

static pid_t make_process(const long *a)
{
    return (pid_t)REAL(a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/* Where the child begins on another stack, or on its parent's, it must find there what the program
 * put on it. Nobody sees it begin then: one with thread-local memory of its own is taken for a
 * thread, any other for a borrower. */
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
    dft_tracefile_shared = !(flags & CLONE_VM) && flags & CLONE_FILES;
    if (!(flags & CLONE_VM) && !stack)
        return 0;
    if (!(flags & CLONE_FILES))
        dft_lifecycle_forking(DFT_CHILD_STAYS);
    if (flags & CLONE_THREAD && !(flags & CLONE_FILES))
        dft_own_files_expect();
    if (flags & CLONE_VM && !(flags & CLONE_SETTLS) && !dft_in_vfork_child())
        dft_shared_tls_begin(flags);
    return 1;
}

#ifdef SYS_fork
CUSTOM(SYS_fork)
{
    return dft_fork(DFT_CALL_fork, make_process, (const long[])ALL);
}
#endif

CUSTOM(SYS_clone)
{
    return dft_fork(DFT_CALL_clone, make_process, (const long[])ALL);
}

CUSTOM(SYS_clone3)
{
    return dft_fork(DFT_CALL_clone3, make_process, (const long[])ALL);
}

static int make_execve(const long *a, char *const envp[])
{
    return (int)REAL(a[0], a[1], a[2], envp, a[4], a[5], a[6]);
}

CUSTOM(SYS_execve)
{
    return dft_exec(DFT_CALL_execve, AT_FDCWD, (const char *)a0, (char *const *)a2, make_execve, (const long[])ALL);
}

static int make_execveat(const long *a, char *const envp[])
{
    return (int)REAL(a[0], a[1], a[2], a[3], envp, a[5], a[6]);
}

CUSTOM(SYS_execveat)
{
    return dft_exec(DFT_CALL_execveat, (int)a0, (const char *)a1, (char *const *)a3, make_execveat, (const long[])ALL);
}

CUSTOM(SYS_exit_group)
{
    dft_exiting((int)a0);
    return REAL(ARGUMENTS);
}

/* Is the caller the process's first thread, and the last one left? Then its end is that of the
 * process. */
static int is_all_there_is(void)
{
    struct stat tasks;

    if (dft_sys_gettid() != dft_sys_getpid())
        return 0;
    if (DFT_SYS(newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0, 0, 0) < 0)
        return dft_is_single();
    return tasks.st_nlink == 2 + 1;
}

CUSTOM(SYS_exit)
{
    if (is_all_there_is())
        dft_exiting((int)a0);
    else
        dft_thread_end();
    return REAL(ARGUMENTS);
}

CUSTOM(SYS_wait4)
{
    struct dft_probe probe;
    long result;

    if (!dft_process_begin(&probe, DFT_CALL_wait4))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    dft_end_wait(&probe, DFT_CALL_wait4, (int)a2, (pid_t)result, (const int *)a1);
    return result;
}

CUSTOM(SYS_waitid)
{
    struct dft_probe probe;
    long result;

    if (!dft_process_begin(&probe, DFT_CALL_waitid))
        return REAL(ARGUMENTS);
    result = REAL(ARGUMENTS);
    dft_end_waitid(&probe, (int)a3, (int)result, (const siginfo_t *)a2);
    return result;
}

/* Filters: libseccomp sets them so. With TSYNC a positive result is a thread that could not follow,
 * unless a listener was requested. */
CUSTOM(SYS_seccomp)
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

CUSTOM(SYS_prctl)
{
    const unsigned long a[4] = {(unsigned long)a1, (unsigned long)a2, (unsigned long)a3, (unsigned long)a4};

    return dft_prctl((int)a0, a, make_prctl);
}
