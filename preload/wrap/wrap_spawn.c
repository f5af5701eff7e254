/* SPDX-License-Identifier: MIT */
/* Wrappers of the calls that make a child within the C library: one that runs another program, or
 * one that goes on as a daemon or on a terminal of its own. The library's inner fork, exec and
 * _exit pass by all wrappers. */
#include "life/shutdown.h"
#include "wrap/wrapper.h"

#include <stdlib.h>
#include <unistd.h>

#include "life/env_propagation.h"
#include "life/lifecycle.h"
#include "probe/directories.h"
#include "probe/probe_process.h"
#include "wrap/wrap_special.h"

/* --- another program -------------------------------------------------------------------------- */

/* What the file actions hand on, nobody but the C library can read: then it may be any
 * descriptor. */
static void share_with(const posix_spawn_file_actions_t *actions)
{
    if (dft_on)
        dft_lifecycle_forking(actions ? DFT_CHILD_STAYS : DFT_CHILD_EXECS);
}

/* They return the error and leave errno alone. */
static void end_spawn(struct dft_probe *probe, enum dft_call_number call, int dirfd, const char *path, const pid_t *pid,
                      int err)
{
    int error = errno;
    const struct dft_process_call what =
        DFT_PROCESS_CALL(.result = err   ? -1
                                   : pid ? *pid
                                         : 0,
                         .err = err, .dirfd = dirfd, .path = path, .command = dirfd == DFT_SEARCH_PATH ? path : NULL);

    dft_end_process(probe, call, &what);
    errno = error;
}

#define SPAWN_PROTOTYPE                                                                                                \
    (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,    \
     char *const argv[], char *const envp[])
#define SPAWN(wrapper, call, name, dirfd)                                                                              \
    wrapper(int, name, SPAWN_PROTOTYPE)                                                                                \
    {                                                                                                                  \
        struct dft_env_propagation follow;                                                                             \
        struct dft_probe probe;                                                                                        \
        int result, recorded;                                                                                          \
                                                                                                                       \
        share_with(actions);                                                                                           \
        dft_env_propagation_begin(&follow, envp);                                                                      \
        recorded = dft_process_begin(&probe, call);                                                                    \
        do                                                                                                             \
            result = DFT_REAL(name)(pid, path, actions, attributes, argv, follow.envp);                                \
        while (result && dft_env_propagation_gives_way(&follow, result));                                              \
        dft_env_propagation_end(&follow);                                                                              \
        if (recorded)                                                                                                  \
            end_spawn(&probe, call, dirfd, path, pid, result);                                                         \
        return result;                                                                                                 \
    }

SPAWN(WRAPPER, DFT_CALL_posix_spawn, posix_spawn, AT_FDCWD)
SPAWN(WRAPPER, DFT_CALL_posix_spawnp, posix_spawnp, DFT_SEARCH_PATH)

/* They run a file without #! by the shell. */
#if defined(__x86_64__)
SPAWN(VERSIONED_WRAPPER, DFT_CALL_posix_spawn, posix_spawn_older, AT_FDCWD)
VERSION(dft_wrap_posix_spawn_older, posix_spawn, DFT_FIRST_GLIBC)
SPAWN(VERSIONED_WRAPPER, DFT_CALL_posix_spawnp, posix_spawnp_older, DFT_SEARCH_PATH)
VERSION(dft_wrap_posix_spawnp_older, posix_spawnp, DFT_FIRST_GLIBC)
#endif

/* A command that the C library hands to a shell. Returns 0: the call is not recorded. */
static int begin_command(struct dft_probe *probe, enum dft_call_number call, struct dft_env_command *env)
{
    share_with(NULL);
    dft_env_propagation_command(env);
    return dft_process_begin(probe, call);
}

static void end_command(struct dft_probe *probe, enum dft_call_number call, const char *command, int64_t result,
                        int failed, const int *status)
{
    int error = errno;
    const struct dft_process_call what =
        DFT_PROCESS_CALL(.result = result, .err = failed ? error : 0, .command = command, .status = status);

    dft_end_process(probe, call, &what);
    errno = error;
}

/* Without a command it asks whether there is a shell. */
WRAPPER(int, system, (const char *command))
{
    struct dft_env_command env;
    struct dft_probe probe;
    int result, traced = begin_command(&probe, DFT_CALL_system, &env);

    result = DFT_REAL(system)(command);
    dft_env_propagation_command_end(&env);
    if (!traced)
        return result;
    end_command(&probe, DFT_CALL_system, command, result, result == -1, result != -1 && command ? &result : NULL);
    return result;
}

/* The stream's pipe is queried at its first data call, like any descriptor. */
WRAPPER(FILE *, popen, (const char *command, const char *mode))
{
    struct dft_env_command env;
    struct dft_probe probe;
    FILE *result;
    int traced = begin_command(&probe, DFT_CALL_popen, &env);

    result = DFT_REAL(popen)(command, mode);
    dft_env_propagation_command_end(&env);
    if (!traced)
        return result;
    if (result)
        dft_forget_made(dft_stream_fd(result));
    end_command(&probe, DFT_CALL_popen, command, result ? dft_stream_fd(result) : -1, !result, NULL);
    return result;
}
ALIAS(popen, _IO_popen)

/* It runs a shell for commands within the words. Its result is an error of its own, or 0. */
WRAPPER(int, wordexp, (const char *words, wordexp_t *result, int flags))
{
    struct dft_env_command env;
    struct dft_probe probe;
    int outcome, traced = begin_command(&probe, DFT_CALL_wordexp, &env);

    outcome = DFT_REAL(wordexp)(words, result, flags);
    dft_env_propagation_command_end(&env);
    if (!traced)
        return outcome;
    end_command(&probe, DFT_CALL_wordexp, words, outcome, 0, NULL);
    return outcome;
}

/* --- a child that goes on --------------------------------------------------------------------- */

/* These were closed and opened anew within the C library. */
static void forget_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        uint64_t before = dft_fd_unbind(fd);

        dft_inlined_detach(before);
        dft_fd_drop(before);
        dft_inlined_attach(fd);
    }
}

static void end_fork(struct dft_probe *probe, enum dft_call_number call, enum dft_phase phase, int64_t result)
{
    int error = errno;
    const struct dft_process_call what =
        DFT_PROCESS_CALL(.result = result, .err = result < 0 ? error : 0, .phase = phase);

    if (dft_on & DFT_ON_PROCESS)
        dft_end_process(probe, call, &what);
    errno = error;
}

WRAPPER(int, forkpty, (int *master, char *name, const struct termios *attributes, const struct winsize *size))
{
    struct dft_probe probe = {.fd = -1};
    int pid;

    if (!dft_on)
        return DFT_REAL(forkpty)(master, name, attributes, size);
    dft_lifecycle_forking(DFT_CHILD_STAYS);
    probe.start = dft_ticks();
    pid = DFT_REAL(forkpty)(master, name, attributes, size);
    if (pid == 0) {
        dft_lifecycle_forked_once();
        forget_standard_streams();
        return 0;
    }
    if (pid > 0)
        dft_forget_made(*master);
    end_fork(&probe, DFT_CALL_forkpty, DFT_PHASE_COMPLETE, pid);
    return pid;
}

/* The caller ends inside, so all of it is written before; the child comes back. Its beginning is
 * recorded, like that of an exec, and its end when it failed. */
WRAPPER(int, daemon, (int nochdir, int noclose))
{
    struct dft_probe probe = {.fd = -1};
    int result, error;

    if (!dft_on)
        return DFT_REAL(daemon)(nochdir, noclose);
    dft_lifecycle_forking(DFT_CHILD_STAYS);
    probe.start = dft_ticks();
    end_fork(&probe, DFT_CALL_daemon, DFT_PHASE_BEGIN, 0);
    dft_shutdown_end(DFT_ENDING__EXIT, 0);
    result = DFT_REAL(daemon)(nochdir, noclose);
    error = errno;
    if (!*dft_generation || (uint32_t)dft_sys_getpid() != dft_pid) { /* the child, even if it could not do all of it */
        dft_lifecycle_forked_once();
        dft_directory_of_work_changed();
        if (!noclose)
            forget_standard_streams();
    } else if (result < 0) {
        dft_shutdown_end_failed();
        errno = error;
        end_fork(&probe, DFT_CALL_daemon, DFT_PHASE_END, -1);
    }
    errno = error;
    return result;
}

/* Makes the terminal the standard streams, and closes it. */
WRAPPER(int, login_tty, (int fd))
{
    struct dft_probe probe;
    int result;

    if (!dft_process_begin(&probe, DFT_CALL_login_tty))
        return DFT_REAL(login_tty)(fd);
    result = DFT_REAL(login_tty)(fd);
    if (result == 0 && !dft_has_other_files()) {
        forget_standard_streams();
        dft_fd_drop(dft_fd_unbind(fd));
    }
    end_fork(&probe, DFT_CALL_login_tty, DFT_PHASE_COMPLETE, result);
    return result;
}
