/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that make, replace and end processes; vfork is in vfork.S. */
#include "life/shutdown.h"
#include "wrap/wrapper.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "probe/convert.h"
#include "life/env_propagation.h"
#include "life/lifecycle.h"
#include "probe/probe_process.h"
#include "store/first.h"
#include "store/tracefile.h"
#include "weave/weave.h"
#include "wrap/wrap_special.h"

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstack-usage=" /* the lists of execl */
#endif

/* --- fork ------------------------------------------------------------------------------------- */

pid_t dft_fork(enum dft_call_number call, pid_t (*make)(const long *arguments), const long *arguments)
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1);
    struct dft_probe probe = {.fd = -1};
    pid_t pid;

    if (!dft_on)
        return make(arguments);
    dft_lifecycle_forking(DFT_CHILD_STAYS);
    if (call != DFT_CALL_clone && call != DFT_CALL_clone3) /* which may share the memory */
        dft_weave_forking();
    probe.start = dft_ticks();
    pid = make(arguments);
    dft_tracefile_shared = 0;
    if (call != DFT_CALL_clone && call != DFT_CALL_clone3)
        dft_weave_fork_is_over();
    if (pid == 0)
        dft_lifecycle_forked_once();
    else if (dft_on & DFT_ON_PROCESS)
        dft_end_many(&probe, call, &args, pid, pid < 0 ? errno : 0);
    return pid;
}

static pid_t make_fork(const long *arguments)
{
    (void)arguments;
    return DFT_REAL(fork)();
}

static pid_t make__Fork(const long *arguments)
{
    (void)arguments;
    return DFT_REAL(_Fork)();
}

WRAPPER(pid_t, fork, (void))
{
    return dft_fork(DFT_CALL_fork, make_fork, NULL);
}

WRAPPER(pid_t, _Fork, (void))
{
    return dft_fork(DFT_CALL__Fork, make__Fork, NULL);
}

/* --- exec ------------------------------------------------------------------------------------- */

/* Recorded when it begins, since it does not return; if it does, its end is recorded too. Returns
 * 1: the process was made ready for it. */
static int begin_exec(struct dft_probe *probe, enum dft_call_number call, int dirfd, const char *path,
                      char *const *envp)
{
    const struct dft_process_call what = DFT_PROCESS_CALL(.phase = DFT_PHASE_BEGIN, .dirfd = dirfd, .path = path);

    if (dft_on & DFT_ON_PROCESS)
        dft_end_process(probe, call, &what);
    return dft_shutdown_exec(dft_env_propagation_is_lost(envp));
}

static void fail_exec(struct dft_probe *probe, enum dft_call_number call, int dirfd, const char *path, int began,
                      int ready)
{
    int error = errno;
    const struct dft_process_call what = DFT_PROCESS_CALL(.phase = began ? DFT_PHASE_END : DFT_PHASE_COMPLETE,
                                                          .dirfd = dirfd, .path = path, .result = -1, .err = error);

    if (ready)
        dft_shutdown_exec_failed();
    if (dft_on & DFT_ON_PROCESS)
        dft_end_process(probe, call, &what);
    errno = error;
}

/* The common failure is a file that is not there or cannot be run (a shell tries one directory
 * after the other): then nothing is made ready. */
static int may_run(int dirfd, const char *path, char found[DFT_EXECUTABLE_MAX])
{
    *found = 0;
    return path && dft_executable_can_run(dirfd, path, found);
}

#define EXEC(call, dirfd, path, environment, make)                                                                     \
    do {                                                                                                               \
        struct dft_probe probe_ = {.fd = -1};                                                                          \
        struct dft_env_propagation follow = {.envp = environment};                                                     \
        int result_, began_, ready_ = 0, at_ = dirfd;                                                                  \
        char found_[DFT_EXECUTABLE_MAX];                                                                               \
        const char *file_ = path;                                                                                      \
                                                                                                                       \
        if (!dft_on && !dft_first_has_reported())                                                                      \
            return make;                                                                                               \
        began_ = dft_on && may_run(dirfd, path, found_);                                                               \
        if (began_ && *found_) {                                                                                       \
            at_ = AT_FDCWD;                                                                                            \
            file_ = found_;                                                                                            \
        }                                                                                                              \
        probe_.start = dft_ticks();                                                                                    \
        if (began_)                                                                                                    \
            ready_ = begin_exec(&probe_, call, at_, file_, environment);                                               \
        dft_env_propagation_begin(&follow, environment);                                                               \
        do                                                                                                             \
            result_ = (make);                                                                                          \
        while (result_ < 0 && dft_env_propagation_gives_way(&follow, errno));                                          \
        dft_env_propagation_end(&follow);                                                                              \
        fail_exec(&probe_, call, at_, file_, began_, ready_);                                                          \
        return result_;                                                                                                \
    } while (0)

WRAPPER(int, execve, (const char *path, char *const argv[], char *const envp[]))
{
    EXEC(DFT_CALL_execve, AT_FDCWD, path, envp, DFT_REAL(execve)(path, argv, follow.envp));
}

WRAPPER(int, execv, (const char *path, char *const argv[]))
{
    EXEC(DFT_CALL_execv, AT_FDCWD, path, environ,
         follow.capacity ? DFT_REAL(execve)(path, argv, follow.envp) : DFT_REAL(execv)(path, argv));
}

WRAPPER(int, execvp, (const char *file, char *const argv[]))
{
    EXEC(DFT_CALL_execvp, DFT_SEARCH_PATH, file, environ,
         follow.capacity ? DFT_REAL(execvpe)(file, argv, follow.envp) : DFT_REAL(execvp)(file, argv));
}

WRAPPER(int, execvpe, (const char *file, char *const argv[], char *const envp[]))
{
    EXEC(DFT_CALL_execvpe, DFT_SEARCH_PATH, file, envp, DFT_REAL(execvpe)(file, argv, follow.envp));
}

WRAPPER(int, fexecve, (int fd, char *const argv[], char *const envp[]))
{
    EXEC(DFT_CALL_fexecve, AT_FDCWD, "", envp, DFT_REAL(fexecve)(fd, argv, follow.envp));
}

WRAPPER(int, execveat, (int dirfd, const char *path, char *const argv[], char *const envp[], int flags))
{
    EXEC(DFT_CALL_execveat, dirfd, path, envp, DFT_REAL(execveat)(dirfd, path, argv, follow.envp, flags));
}

int dft_exec(enum dft_call_number call, int dirfd, const char *path, char *const envp[],
             int (*make)(const long *arguments, char *const envp[]), const long *arguments)
{
    EXEC(call, dirfd, path, envp, make(arguments, follow.envp));
}

/* The list form: arguments are counted, then put into an array on the stack, as the C library
 * does. */
#define COUNT_ARGUMENTS(list, first, count)                                                                            \
    va_start(list, first);                                                                                             \
    for (count = 1; va_arg(list, const char *); count++)                                                               \
        if (count == INT_MAX - 1) {                                                                                    \
            va_end(list);                                                                                              \
            errno = E2BIG;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
    va_end(list);
#define TAKE_ARGUMENTS(list, first, argv)                                                                              \
    va_start(list, first);                                                                                             \
    argv[0] = (char *)(uintptr_t)first;                                                                                \
    for (int i_ = 1; (argv[i_] = va_arg(list, char *)) != NULL; i_++)                                                  \
        ;

#define EXEC_LIST(name, dirfd, real, real_with_environment)                                                            \
    WRAPPER(int, name, (const char *path, const char *arg, ...))                                                       \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        int count = 1;                                                                                                 \
                                                                                                                       \
        if (arg) {                                                                                                     \
            COUNT_ARGUMENTS(list, arg, count);                                                                         \
        }                                                                                                              \
        {                                                                                                              \
            char *argv[count + 1];                                                                                     \
                                                                                                                       \
            argv[0] = NULL;                                                                                            \
            if (arg) {                                                                                                 \
                TAKE_ARGUMENTS(list, arg, argv);                                                                       \
                va_end(list);                                                                                          \
            }                                                                                                          \
            EXEC(DFT_CALL_##name, dirfd, path, environ,                                                                \
                 follow.capacity ? DFT_REAL(real_with_environment)(path, argv, follow.envp)                            \
                                 : DFT_REAL(real)(path, argv));                                                        \
        }                                                                                                              \
    }

EXEC_LIST(execl, AT_FDCWD, execv, execve)
EXEC_LIST(execlp, DFT_SEARCH_PATH, execvp, execvpe)

WRAPPER(int, execle, (const char *path, const char *arg, ...))
{
    va_list list;
    int count;

    COUNT_ARGUMENTS(list, arg, count);
    {
        char *argv[count + 1];
        char *const *envp;

        TAKE_ARGUMENTS(list, arg, argv);
        envp = va_arg(list, char *const *);
        va_end(list);
        EXEC(DFT_CALL_execle, AT_FDCWD, path, envp, DFT_REAL(execve)(path, argv, follow.envp));
    }
}
