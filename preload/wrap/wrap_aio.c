/* SPDX-License-Identifier: MIT */
/* Wrappers of POSIX asynchronous I/O: a request is an event of its own, under the name of aio_read,
 * aio_write or aio_fsync, whoever submitted it.
 *
 * A request goes into the table before it is submitted, since another thread may see its end before
 * the submission returns. For that its control block is read before the real call: the C library
 * would read it next, in the program's own memory, and fall over what is no memory just as well.
 * Later a control block is read only inside a call of the program that names it. Its state and
 * result are the members that glibc keeps in it: aio_return may be called once only, and that call
 * is the program's. */
#include "os/clock.h"
#include "wrap/wrapper.h"

#include <aio.h>

#include "probe/request.h"
#include "store/tracefile.h"

static struct dft_request_key key_of(const struct aiocb *cb)
{
    return (struct dft_request_key){.block = (uint64_t)(uintptr_t)cb};
}

static int find(const struct aiocb *cb, struct dft_request_at *at)
{
    const struct dft_request_key key = key_of(cb);

    return dft_outstanding_find(&key, DFT_REQUEST_OLDEST, at);
}

static int error_of(const struct aiocb *cb)
{
    return __atomic_load_n(&cb->__error_code, __ATOMIC_ACQUIRE);
}

/* --- submission ------------------------------------------------------------------------------- */

/* A block that is used again without anybody having requested its result: that of the old request
 * will not be known. */
static void displace(const struct aiocb *cb)
{
    struct dft_request old;
    struct dft_request_at at;

    while (find(cb, &at))
        if (dft_outstanding_take(at, &old))
            dft_request_unseen(&old);
}

enum submitted { OF_NO_INTEREST, KEPT, NO_ROOM };

static enum submitted submit(struct dft_request *request, enum dft_call_number call, enum dft_op op,
                             const struct aiocb *cb, int flags)
{
    int data = op != DFT_OP_SYNC;
    const struct dft_call_args args = DFT_ARGS(.fd = cb->aio_fildes, .size = data ? cb->aio_nbytes : 0,
                                               .offset = data ? cb->aio_offset : -1, .flags = flags);

    displace(cb);
    dft_tracefile_step_aside(cb->aio_fildes);
    request->key = key_of(cb);
    if (!dft_request_begin(request, call, op, &args))
        return OF_NO_INTEREST;
    return dft_outstanding_put(request) ? NO_ROOM : KEPT;
}

/* After the real call: what was not accepted has ended. */
static void settle(enum submitted submitted, struct dft_request *request, const struct aiocb *cb, int result)
{
    struct dft_request_at at;

    if (result < 0) {
        if (submitted == NO_ROOM || (submitted == KEPT && find(cb, &at) && dft_outstanding_take(at, request)))
            dft_request_end(request, dft_ticks(), -1, errno);
    } else if (submitted == NO_ROOM) {
        dft_requests_lost(1);
    }
}

WRAPPER(int, aio_read, (struct aiocb * cb))
{
    struct dft_request request;
    enum submitted submitted;
    int result;

    if (!dft_requests_on())
        return DFT_REAL(aio_read)(cb);
    submitted = submit(&request, DFT_CALL_aio_read, DFT_OP_PREAD, cb, 0);
    result = DFT_REAL(aio_read)(cb);
    settle(submitted, &request, cb, result);
    return result;
}
ALIAS(aio_read, aio_read64)

WRAPPER(int, aio_write, (struct aiocb * cb))
{
    struct dft_request request;
    enum submitted submitted;
    int result;

    if (!dft_requests_on())
        return DFT_REAL(aio_write)(cb);
    submitted = submit(&request, DFT_CALL_aio_write, DFT_OP_PWRITE, cb, 0);
    result = DFT_REAL(aio_write)(cb);
    settle(submitted, &request, cb, result);
    return result;
}
ALIAS(aio_write, aio_write64)

WRAPPER(int, aio_fsync, (int operation, struct aiocb *cb))
{
    struct dft_request request;
    enum submitted submitted;
    int result;

    if (!dft_requests_on())
        return DFT_REAL(aio_fsync)(operation, cb);
    submitted = submit(&request, DFT_CALL_aio_fsync, DFT_OP_SYNC, cb, operation);
    result = DFT_REAL(aio_fsync)(operation, cb);
    settle(submitted, &request, cb, result);
    return result;
}
ALIAS(aio_fsync, aio_fsync64)

/* --- completion ------------------------------------------------------------------------------- */

/* A call of the program that names this block: if it shows the end of a request, that is the end.
 * Looked up before the state is read: should the block be used again meanwhile, the request that
 * was found is no longer there. */
static void see(const struct aiocb *cb, uint64_t end)
{
    struct dft_request request;
    struct dft_request_at at;
    int64_t result;
    int err;

    if (!cb || !find(cb, &at) || (err = error_of(cb)) == EINPROGRESS)
        return;
    result = cb->__return_value;
    if (dft_outstanding_take(at, &request))
        dft_request_end(&request, end, result, err);
}

/* A call that asks about one request: on its file, or on none where the program has closed that. Returns 0:
 * the file is of no interest. */
static int begin_asking(struct dft_probe *probe, enum dft_call_number call, const struct dft_call_args *args)
{
    return dft_probe_begin(probe, call, DFT_OP_REQUEST, args, DFT_ON_POSIX) ||
           !(dft_fd_word_or(args->fd, 0) & DFT_FD_UNTRACED);
}

/* It has answered, whatever the answer is. */
static void end_asking(struct dft_probe *probe, enum dft_call_number call, const struct dft_call_args *args,
                       int64_t result)
{
    if (probe->open)
        dft_end_fd(probe, call, DFT_OP_REQUEST, args, result, 0);
    else
        dft_end_many(probe, call, args, result, 0);
}

WRAPPER(int, aio_error, (const struct aiocb *cb))
{
    const struct dft_call_args args = DFT_ARGS(.fd = cb->aio_fildes);
    struct dft_request_at at;
    struct dft_probe probe;
    int found, result, traced;

    if (!dft_requests_on())
        return DFT_REAL(aio_error)(cb);
    found = find(cb, &at);
    traced = begin_asking(&probe, DFT_CALL_aio_error, &args);
    result = DFT_REAL(aio_error)(cb);
    if (found && result != EINPROGRESS)
        see(cb, dft_ticks());
    if (traced)
        end_asking(&probe, DFT_CALL_aio_error, &args, result);
    return result;
}
ALIAS(aio_error, aio_error64)

WRAPPER(ssize_t, aio_return, (struct aiocb * cb))
{
    const struct dft_call_args args = DFT_ARGS(.fd = cb->aio_fildes);
    struct dft_request request;
    struct dft_request_at at;
    struct dft_probe probe;
    int err = EINPROGRESS, traced;
    ssize_t result;

    if (!dft_requests_on())
        return DFT_REAL(aio_return)(cb);
    if (find(cb, &at))
        err = error_of(cb);
    traced = begin_asking(&probe, DFT_CALL_aio_return, &args);
    result = DFT_REAL(aio_return)(cb);
    if (err != EINPROGRESS && dft_outstanding_take(at, &request))
        dft_request_end(&request, dft_ticks(), result, err);
    if (traced)
        end_asking(&probe, DFT_CALL_aio_return, &args, result);
    return result;
}
ALIAS(aio_return, aio_return64)

WRAPPER(int, aio_suspend, (const struct aiocb *const list[], int count, const struct timespec *timeout))
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1);
    struct dft_probe probe = {.fd = -1};
    int result;

    if (!dft_requests_on())
        return DFT_REAL(aio_suspend)(list, count, timeout);
    probe.start = dft_ticks();
    result = DFT_REAL(aio_suspend)(list, count, timeout);
    if (result == 0) {
        uint64_t end = dft_ticks();

        for (int i = 0; i < count; i++)
            see(list[i], end);
    }
    dft_end_many(&probe, DFT_CALL_aio_suspend, &args, result, result < 0 ? errno : 0);
    return result;
}
ALIAS(aio_suspend, aio_suspend64)

WRAPPER(int, aio_cancel, (int fd, struct aiocb *cb))
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd);
    struct dft_probe probe;
    int result, traced;

    if (!dft_requests_on())
        return DFT_REAL(aio_cancel)(fd, cb);
    dft_tracefile_step_aside(fd);
    traced = dft_probe_begin(&probe, DFT_CALL_aio_cancel, DFT_OP_REQUEST, &args, DFT_ON_POSIX);
    result = DFT_REAL(aio_cancel)(fd, cb);
    if (result == AIO_CANCELED || result == AIO_ALLDONE)
        see(cb, dft_ticks());
    if (traced)
        dft_end_fd(&probe, DFT_CALL_aio_cancel, DFT_OP_REQUEST, &args, result, result < 0 ? errno : 0);
    return result;
}
ALIAS(aio_cancel, aio_cancel64)

/* --- lists ------------------------------------------------------------------------------------ */

/* Returns the number for which there was no room. */
static uint64_t submit_list(struct aiocb *const list[], int count)
{
    uint64_t without_room = 0;

    for (int i = 0; i < count; i++) {
        int opcode = list[i] ? list[i]->aio_lio_opcode : LIO_NOP;
        struct dft_request request;

        if ((opcode == LIO_READ && submit(&request, DFT_CALL_aio_read, DFT_OP_PREAD, list[i], 0) == NO_ROOM) ||
            (opcode == LIO_WRITE && submit(&request, DFT_CALL_aio_write, DFT_OP_PWRITE, list[i], 0) == NO_ROOM))
            without_room++;
    }
    return without_room;
}

/* After a success without waiting the list may be gone, and its blocks: a notification may have
 * run. */
static int submit_all(int mode, struct aiocb *const list[], int count, struct sigevent *notify,
                      __typeof__(dft_real.lio_listio) make)
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1, .flags = mode);
    struct dft_probe probe = {.fd = -1};
    int result, valid = mode == LIO_WAIT || mode == LIO_NOWAIT;

    if (!dft_requests_on())
        return make(mode, list, count, notify);
    probe.start = dft_ticks();
    if (valid)
        dft_requests_lost(submit_list(list, count));
    result = make(mode, list, count, notify);
    if (valid && (mode == LIO_WAIT || result < 0)) {
        uint64_t end = dft_ticks();

        for (int i = 0; i < count; i++)
            see(list[i], end);
    }
    dft_end_many(&probe, DFT_CALL_lio_listio, &args, result, result < 0 ? errno : 0);
    return result;
}

WRAPPER(int, lio_listio, (int mode, struct aiocb *const list[], int count, struct sigevent *notify))
{
    return submit_all(mode, list, count, notify, DFT_REAL(lio_listio));
}
ALIAS(lio_listio, lio_listio64)

#if defined(__x86_64__)
/* The newest one is the second one, which has moved to another library. It needs an address of its own: linkers take a
 * name with a version for the name without one when both have the same. */
VERSIONED_WRAPPER(int, lio_listio_second, (int mode, struct aiocb *const list[], int count, struct sigevent *notify))
{
    return submit_all(mode, list, count, notify, DFT_REAL(lio_listio));
}
VERSION(dft_wrap_lio_listio_second, lio_listio, "GLIBC_2.4")
VERSION(dft_wrap_lio_listio_second, lio_listio64, "GLIBC_2.4")

VERSIONED_WRAPPER(int, lio_listio_older, (int mode, struct aiocb *const list[], int count, struct sigevent *notify))
{
    return submit_all(mode, list, count, notify, DFT_REAL(lio_listio_older));
}
VERSION(dft_wrap_lio_listio_older, lio_listio, DFT_FIRST_GLIBC)
VERSION(dft_wrap_lio_listio_older, lio_listio64, DFT_FIRST_GLIBC)
#endif
