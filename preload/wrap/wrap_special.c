/* SPDX-License-Identifier: MIT */
/* Wrappers that no row can express: calls that name a second descriptor or many, variadic fcntl. */
#include "wrap/wrapper.h"

#include <fcntl.h>
#include <limits.h>

#include "os/own_files.h"
#include "probe/convert.h"
#include "tables/fd_progress.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_special.h"

#ifndef CLOSE_RANGE_CLOEXEC /* C libraries before 2.34 */
#define CLOSE_RANGE_UNSHARE 2
#define CLOSE_RANGE_CLOEXEC 4
#endif

static int not_open(enum dft_call_number call, enum dft_op op, int fd, int flags)
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd, .flags = flags);

    errno = EBADF;
    dft_hidden(call, op, &args);
    return -1;
}

/* --- dup2, dup3 ------------------------------------------------------------------------------- */

/* Again while it meets a number that the library is just opening a file on. */
static int duplicate(int fd, int fd2, int flags, int (*make)(int fd, int fd2, int flags))
{
    int kept = errno;

    for (uint32_t times = 0;; times++) {
        uint32_t moment = dft_fd_progress_moment();
        int result = make(fd, fd2, flags);

        if (result >= 0 || errno != EBUSY || !dft_fd_progress_since(moment))
            return result;
        dft_sys_wait(times);
        errno = kept;
    }
}

/* What was on the number goes before the call (it is closed there), and comes back if the call
 * fails. */
int dft_duplicate(enum dft_call_number call, int fd, int fd2, int flags, int (*make)(int fd, int fd2, int flags))
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd, .flags = flags);
    int ours = dft_has_other_files(), traced, result, error;
    struct dft_probe probe;
    uint64_t before;

    if (dft_tracefile_is(fd))
        return not_open(call, DFT_OP_DUP, fd, flags);
    if (!dft_on)
        return make(fd, fd2, flags);
    if (fd != fd2)
        dft_tracefile_step_aside(fd2);
    before = ours || fd == fd2 ? 0 : dft_fd_unbind(fd2);
    dft_inlined_detach(before);
    traced = dft_probe_begin(&probe, call, DFT_OP_DUP, &args, DFT_ON_POSIX);
    result = duplicate(fd, fd2, flags, make);
    error = errno;
    if (result < 0)
        dft_fd_restore(fd2, before);
    else
        dft_fd_drop(before);
    if (result < 0 || !traced)
        dft_inlined_attach(fd2);
    if (traced)
        dft_end_fd(&probe, call, fd == fd2 ? DFT_OP_CONTROL : DFT_OP_DUP, &args, result, result < 0 ? error : 0);
    errno = error;
    return result;
}

static int make_dup2(int fd, int fd2, int flags)
{
    (void)flags;
    return DFT_REAL(dup2)(fd, fd2);
}

static int make_dup3(int fd, int fd2, int flags)
{
    return DFT_REAL(dup3)(fd, fd2, flags);
}

WRAPPER(int, dup2, (int fd, int fd2))
{
    return dft_duplicate(DFT_CALL_dup2, fd, fd2, 0, make_dup2);
}

WRAPPER(int, dup3, (int fd, int fd2, int flags))
{
    return dft_duplicate(DFT_CALL_dup3, fd, fd2, flags, make_dup3);
}

ALIAS(dup2, __dup2)

/* --- fcntl ------------------------------------------------------------------------------------ */

static int waits_for_lock(int command) /* on 64 bits F_SETLKW64 is F_SETLKW */
{
    return command == F_SETLKW || command == F_OFD_SETLKW;
}

static inline enum dft_call_number call_of(enum dft_op op)
{
    return op == DFT_OP_LOCK ? DFT_CALL_fcntl_locks : DFT_CALL_fcntl;
}

/* As with flock and lockf an unlock is an event of locks, whether its command might have waited or not. */
static __attribute__((noinline)) void end_unlock(struct dft_probe *probe, int fd, int command)
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd, .flags = command, .mode = F_UNLCK);

    dft_end_on_fd(probe, DFT_CALL_fcntl_unlocks, DFT_OP_LOCK, &args, 0, 0);
}

static inline __attribute__((always_inline)) void end_fcntl(struct dft_probe *probe, enum dft_op op,
                                                            struct dft_call_args *args, int result, long argument)
{
    int err = result == -1 ? errno : 0, copies = args->flags == F_DUPFD || args->flags == F_DUPFD_CLOEXEC;

    if (!err && dft_has_other_files() && (copies || args->flags == F_SETFD))
        dft_fd_share(args->fd); /* it may outlive the child's exec */
    else if (!err && copies) {
        dft_fd_bind_same(result, probe->word, probe->fd);
        dft_tracefile_meet(result);
    }
    if (!err && args->flags == F_SETFL && probe->open) {
        if (argument & O_APPEND)
            atomic_fetch_or(&probe->open->flags, DFT_OPEN_APPEND);
        else
            atomic_fetch_and(&probe->open->flags, ~DFT_OPEN_APPEND);
        atomic_fetch_or(&probe->open->flags, DFT_OPEN_LOST); /* the next call asks */
    }
    if (!err && (waits_for_lock(args->flags) || args->flags == F_SETLK || args->flags == F_OFD_SETLK)) {
        const short type = ((const struct flock *)argument)->l_type; /* the kernel has read it */

        if (type == F_UNLCK) {
            struct dft_probe probe_copy = *probe;

            end_unlock(&probe_copy, args->fd, args->flags);
            return;
        }
        args->mode = op == DFT_OP_LOCK ? (mode_t)type : 0;
    }
    dft_end_on_fd(probe, call_of(op), op == DFT_OP_LOCK ? op : DFT_OP_CONTROL, args, result, err);
}

/* Programs ask so about all numbers, open or not. The call itself tells, and it cannot hang: so the kernel is queried
 * afterwards whether an unknown number is open. */
static int tells_by_itself(const struct dft_call_args *args)
{
    return (args->flags == F_GETFD || args->flags == F_SETFD || args->flags == F_GETFL) && dft_on & DFT_ON_POSIX &&
           !dft_probe_word(args, args->fd) && !dft_has_other_files() && !dft_is_sandboxed();
}

static int control_unknown(struct dft_call_args *args, long argument, int (*make)(int fd, int command, long argument))
{
    struct dft_not_open refused;
    struct dft_probe probe;
    int result, error;

    dft_not_open_begin(&refused, args);
    result = make(args->fd, args->flags, argument);
    error = errno;
    if (result == -1 && error == EBADF) {
        dft_not_open_end(&refused, DFT_CALL_fcntl, DFT_OP_CONTROL, args, result, 0);
    } else if (dft_probe_begin(&probe, DFT_CALL_fcntl, DFT_OP_CONTROL, args, DFT_ON_POSIX)) {
        probe.start = refused.start;
        end_fcntl(&probe, DFT_OP_CONTROL, args, result, argument);
    }
    errno = error;
    return result;
}

static inline __attribute__((always_inline)) int control(enum dft_op op, int fd, int command, long argument,
                                                         int (*make)(int fd, int command, long argument))
{
    struct dft_call_args args = DFT_ARGS(.fd = fd, .flags = command);
    struct dft_probe probe;
    struct dft_not_open refused;
    int result, before;

    if (dft_tracefile_is(fd))
        return not_open(call_of(op), op, fd, command);
    if (op == DFT_OP_CONTROL && tells_by_itself(&args))
        return control_unknown(&args, argument, make);
    if (!dft_probe_begin(&probe, call_of(op), op, &args, DFT_ON_POSIX)) {
        dft_not_open_begin(&refused, &args);
        result = make(fd, command, argument);
        dft_not_open_end(&refused, call_of(op), op, &args, result, 0);
        return result;
    }
    before = errno;
    result = make(fd, command, argument);
    if (dft_meets_ours(op, result, 0, before))
        result = make(fd, command, argument);
    end_fcntl(&probe, op, &args, result, argument);
    return result;
}

int dft_control(int fd, int command, long argument, int (*make)(int fd, int command, long argument))
{
    int result;

    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        dft_tracefile_meet((int)argument);
        return control(DFT_OP_DUP, fd, command, argument, make);
    }
    if (waits_for_lock(command))
        return control(DFT_OP_LOCK, fd, command, argument, make);
    result = control(DFT_OP_CONTROL, fd, command, argument, make);
    if (command == F_SETFD && !(argument & FD_CLOEXEC))
        dft_fd_stays_on_exec(fd);
    return result;
}

static int make_fcntl(int fd, int command, long argument)
{
    return DFT_REAL(fcntl)(fd, command, argument);
}

WRAPPER(int, fcntl, (int fd, int command, ...))
{
    va_list list;
    long argument;

    va_start(list, command);
    argument = va_arg(list, long);
    va_end(list);
    return dft_control(fd, command, argument, make_fcntl);
}
ALIAS(fcntl, fcntl64)
ALIAS(fcntl, __fcntl)

/* --- closing many ----------------------------------------------------------------------------- */

static void forget_range(unsigned first, unsigned last)
{
    unsigned end = (unsigned)dft_fd_limit();

    if (dft_has_other_files())
        return;
    for (unsigned fd = first; fd < end && fd <= last; fd = (unsigned)dft_fd_next((int)fd + 1)) {
        uint64_t before = dft_fd_unbind((int)fd);

        dft_inlined_detach(before);
        dft_fd_drop(before);
    }
}

/* The call has failed: the streams go on as they were. */
static void take_back_range(unsigned first, unsigned last)
{
    unsigned end = (unsigned)dft_fd_limit();

    for (unsigned fd = first; fd < end && fd <= last && dft_inlined_detached; fd++)
        dft_inlined_attach((int)fd);
}

/* The range without our descriptor. */
static int close_around(unsigned first, unsigned last, int flags, int (*make)(unsigned first, unsigned last, int flags))
{
    unsigned ours = (unsigned)dft_tracefile_number();
    int result = 0;

    if ((int)ours < 0 || ours < first || ours > last || flags & CLOSE_RANGE_CLOEXEC /* it has that already */)
        return make(first, last, flags);
    if (ours > first)
        result = make(first, ours - 1, flags);
    if (!result && ours < last)
        result = make(ours + 1, last, flags);
    return result;
}

int dft_close_many(unsigned first, unsigned last, int flags, int (*make)(unsigned first, unsigned last, int flags))
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1, .flags = flags);
    struct dft_probe probe = {.fd = -1, .start = dft_ticks()};
    int result, parts, error;

    if (!(dft_on & DFT_ON_POSIX))
        return make(first, last, flags);
    parts = flags & CLOSE_RANGE_UNSHARE && first <= last && dft_files_parting();
    if (!(flags & CLOSE_RANGE_CLOEXEC) && first <= last && !parts)
        forget_range(first, last);
    result = close_around(first, last, flags, make);
    error = errno;
    if (parts && !result)
        dft_own_files_begin();
    if (result < 0)
        take_back_range(first, last);
    dft_end_many(&probe, DFT_CALL_close_range, &args, result, result < 0 ? error : 0);
    errno = error;
    return result;
}

WRAPPER(int, close_range, (unsigned first, unsigned last, int flags))
{
    return dft_close_many(first, last, flags, DFT_REAL(close_range));
}

WRAPPER(void, closefrom, (int first))
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1);
    struct dft_probe probe = {.fd = -1, .start = dft_ticks()};
    int ours = dft_tracefile_number();

    if (!(dft_on & DFT_ON_POSIX)) {
        DFT_REAL(closefrom)(first);
        return;
    }
    first = first < 0 ? 0 : first;
    forget_range((unsigned)first, UINT_MAX);
    /* Without close_range (before Linux 5.9) our number is closed with the rest. */
    if (ours == first || (ours > first && !DFT_REAL(close_range)((unsigned)first, (unsigned)ours - 1, 0)))
        first = ours + 1;
    DFT_REAL(closefrom)(first);
    dft_end_many(&probe, DFT_CALL_closefrom, &args, 0, 0);
}

/* --- all file systems ------------------------------------------------------------------------- */

WRAPPER(void, sync, (void))
{
    const struct dft_call_args args = DFT_ARGS(.system = 1);
    struct dft_probe probe;
    int traced = dft_probe_begin(&probe, DFT_CALL_sync, DFT_OP_SYNC, &args, DFT_ON_POSIX);

    DFT_REAL(sync)();
    if (traced)
        dft_end_many(&probe, DFT_CALL_sync, &args, 0, 0);
}
