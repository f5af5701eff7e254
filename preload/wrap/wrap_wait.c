/* SPDX-License-Identifier: MIT */
/* Wrappers of the calls that wait for children: the result is the child's pid, the argument
 * "status" what waitpid says of it. */
#include "wrap/wrapper.h"

#include <sys/wait.h>

#include "probe/probe_process.h"
#include "wrap/wrap_special.h"

void dft_end_wait(struct dft_probe *probe, enum dft_call_number call, int options, pid_t result, const int *status)
{
    int error = errno, copy = result > 0 && status ? *status : 0;
    const struct dft_process_call what =
        DFT_PROCESS_CALL(.result = result, .err = result < 0 ? error : 0, .flags = options,
                         .status = result > 0 && status ? &copy : NULL);

    dft_end_process(probe, call, &what);
    errno = error;
}

#define WAIT(name, options, ...)                                                                                       \
    do {                                                                                                               \
        struct dft_probe probe_;                                                                                       \
        pid_t result_;                                                                                                 \
                                                                                                                       \
        if (!dft_process_begin(&probe_, DFT_CALL_##name))                                                              \
            return DFT_REAL(name)(__VA_ARGS__);                                                                        \
        result_ = DFT_REAL(name)(__VA_ARGS__);                                                                         \
        dft_end_wait(&probe_, DFT_CALL_##name, options, result_, status);                                              \
        return result_;                                                                                                \
    } while (0)

WRAPPER(pid_t, wait, (int *status))
{
    WAIT(wait, 0, status);
}
ALIAS(wait, __wait)

WRAPPER(pid_t, waitpid, (pid_t pid, int *status, int options))
{
    WAIT(waitpid, options, pid, status, options);
}
ALIAS(waitpid, __waitpid)

WRAPPER(pid_t, wait3, (int *status, int options, struct rusage *usage))
{
    WAIT(wait3, options, status, options, usage);
}

WRAPPER(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage))
{
    WAIT(wait4, options, pid, status, options, usage);
}

/* What waitpid would say. */
static int status_of(const siginfo_t *info)
{
    switch (info->si_code) {
    case CLD_EXITED:
        return (info->si_status & 0xff) << 8;
    case CLD_KILLED:
        return info->si_status & 0x7f;
    case CLD_DUMPED:
        return (info->si_status & 0x7f) | 0x80;
    case CLD_CONTINUED:
        return 0xffff;
    default:
        return (info->si_status & 0xff) << 8 | 0x7f;
    }
}

void dft_end_waitid(struct dft_probe *probe, int options, int result, const siginfo_t *info)
{
    int error = errno, status;
    struct dft_process_call what = DFT_PROCESS_CALL(.flags = options, .result = result, .err = result < 0 ? error : 0);

    if (result == 0 && info && info->si_pid) {
        status = status_of(info);
        what.result = info->si_pid;
        what.status = &status;
    }
    dft_end_process(probe, DFT_CALL_waitid, &what);
    errno = error;
}

WRAPPER(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options))
{
    struct dft_probe probe;
    int result;

    if (!dft_process_begin(&probe, DFT_CALL_waitid))
        return DFT_REAL(waitid)(type, id, info, options);
    result = DFT_REAL(waitid)(type, id, info, options);
    dft_end_waitid(&probe, options, result, info);
    return result;
}

/* The stream's descriptor goes before the call, like that of any stream that is closed. */
WRAPPER(int, pclose, (FILE * stream))
{
    struct dft_process_call what = DFT_PROCESS_CALL(.status = NULL);
    struct dft_probe probe;
    int result, error;

    if (!dft_on)
        return DFT_REAL(pclose)(stream);
    if (!dft_has_other_files())
        dft_fd_drop(dft_fd_unbind(dft_stream_fd(stream)));
    dft_inlined_forget(stream);
    if (!dft_process_begin(&probe, DFT_CALL_pclose))
        return DFT_REAL(pclose)(stream);
    result = DFT_REAL(pclose)(stream);
    error = errno;
    what.result = result;
    what.err = result < 0 ? error : 0;
    what.status = result < 0 ? NULL : &result;
    dft_end_process(&probe, DFT_CALL_pclose, &what);
    errno = error;
    return result;
}
