/* SPDX-License-Identifier: MIT */
/* Wrappers of libaio: a request is an event of its own (io_pread, io_pwrite ...) from io_submit to
 * the io_getevents that returns it.
 *
 * They are exported under libaio's symbol versions, hidden: programs and libraries that were linked
 * with libaio get them, while dlsym and those that have an io_submit of their own do not. libaio's
 * io_queue_run and the like call these functions in turn. Where libaio was not there when the
 * program began, the system call is made directly, with libaio's convention: -errno, errno
 * untouched.
 *
 * The iocbs are read before they are submitted: afterwards another thread may have got the
 * completion and freed them, and the program may do so as soon as io_submit returns. Since the
 * kernel answers bad addresses with EFAULT, nothing is read before the kernel has read there. */
#include "os/clock.h"
#include "wrap/wrapper.h"

#include <limits.h>
#include <linux/aio_abi.h>
#include <signal.h>

#include "probe/request.h"
#include "store/tracefile.h"
#include "wrap/wrap_special.h"

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

/* libaio's functions call syscall() in their turn, which is wrapped as well; programs may do so
 * without libaio. */
static __thread enum { THROUGH_NOTHING, THROUGH_LIBAIO, THROUGH_SYSCALL } through;

/* --- the real functions ----------------------------------------------------------------------- */

/* As the C library's syscall() has it, but for the errors. */
static int raw(long result, int error)
{
    if (result < 0) {
        result = -errno;
        errno = error;
    }
    return (int)result;
}

#define RAW(name, ...) raw(DFT_REAL(syscall)(SYS_##name, __VA_ARGS__), errno_before)

static int raw_io_setup(int events, struct io_context **context)
{
    int errno_before = errno;

    return RAW(io_setup, events, context);
}

static int raw_io_destroy(struct io_context *context)
{
    int errno_before = errno;

    return RAW(io_destroy, context);
}

static int raw_io_submit(struct io_context *context, long count, struct iocb *list[])
{
    int errno_before = errno;

    return RAW(io_submit, context, count, list);
}

static int raw_io_cancel(struct io_context *context, struct iocb *iocb, struct io_event *event)
{
    int errno_before = errno;

    return RAW(io_cancel, context, iocb, event);
}

static int raw_io_getevents(struct io_context *context, long least, long count, struct io_event *events,
                            struct timespec *timeout)
{
    int errno_before = errno;

    return RAW(io_getevents, context, least, count, events, timeout);
}

static int raw_io_pgetevents(struct io_context *context, long least, long count, struct io_event *events,
                             struct timespec *timeout, sigset_t *mask)
{
    const struct {
        sigset_t *mask;
        size_t bytes;
    } signals = {mask, _NSIG / 8};
    int errno_before = errno;

    return RAW(io_pgetevents, context, least, count, events, timeout,
               through == THROUGH_SYSCALL ? (const void *)mask : &signals);
}

/* The call, with its result. A jump out of libaio leaves the mark, until this thread's next call of
 * libaio. */
#define MAKE(result, name, ...)                                                                                        \
    do {                                                                                                               \
        if (dft_real.name && through != THROUGH_SYSCALL) {                                                             \
            through = THROUGH_LIBAIO;                                                                                  \
            result = dft_real.name(__VA_ARGS__);                                                                       \
            through = THROUGH_NOTHING;                                                                                 \
        } else {                                                                                                       \
            result = raw_##name(__VA_ARGS__);                                                                          \
        }                                                                                                              \
    } while (0)

/* --- what the program gives ------------------------------------------------------------------- */

#define PAGE          4096u      /* none is smaller */
#define LOOKED_AT_MAX (1L << 16) /* of one call: more than a context holds */

/* Can this be read? The kernel reads a signal set there and then finds no valid operation for it. `known` is the last
 * page that was checked. */
static int can_read(const void *at, uint64_t bytes, uint64_t *known)
{
    uint64_t first = ADDRESS(at) / PAGE, last = (ADDRESS(at) + bytes - 1) / PAGE;

    if (ADDRESS(at) > UINT64_MAX - bytes)
        return 0;
    for (uint64_t page = first; bytes && page <= last; page++) {
        if (page == *known)
            continue;
        if (!dft_sys_can_read((const void *)(uintptr_t)(page * PAGE + 8)))
            return 0;
        *known = page;
    }
    return 1;
}

static uint64_t vector_bytes(const struct iocb *iocb, uint64_t *known)
{
    const struct iovec *iov = (const struct iovec *)(uintptr_t)iocb->aio_buf;

    if (iocb->aio_nbytes > IOV_MAX || !can_read(iov, iocb->aio_nbytes * sizeof *iov, known))
        return 0;
    return dft_iov_bytes(iov, (int)iocb->aio_nbytes);
}

static struct dft_request_key key_of(const struct io_context *context, const struct iocb *iocb)
{
    return (struct dft_request_key){.context = ADDRESS(context), .block = ADDRESS(iocb), .data = iocb->aio_data};
}

/* --- submission ------------------------------------------------------------------------------- */

/* By opcode. */
static const struct {
    uint16_t call;
    uint8_t op, vector;
} commands[] = {
    [IOCB_CMD_PREAD] = {DFT_CALL_io_pread, DFT_OP_PREAD, 0},
    [IOCB_CMD_PWRITE] = {DFT_CALL_io_pwrite, DFT_OP_PWRITE, 0},
    [IOCB_CMD_FSYNC] = {DFT_CALL_io_fsync, DFT_OP_SYNC, 0},
    [IOCB_CMD_FDSYNC] = {DFT_CALL_io_fdsync, DFT_OP_SYNC, 0},
    [IOCB_CMD_PREADV] = {DFT_CALL_io_preadv, DFT_OP_PREAD, 1},
    [IOCB_CMD_PWRITEV] = {DFT_CALL_io_pwritev, DFT_OP_PWRITE, 1},
};

/* Returns 0 when there is no room for it. */
static int submit(const struct io_context *context, const struct iocb *iocb, uint64_t *known)
{
    uint32_t opcode = iocb->aio_lio_opcode;
    struct dft_call_args args = DFT_ARGS(.fd = (int)iocb->aio_fildes, .flags = (int)iocb->aio_rw_flags);
    struct dft_request request;
    enum dft_op op;

    dft_tracefile_step_aside(args.fd);
    if (opcode >= sizeof commands / sizeof *commands || !commands[opcode].call)
        return 1;
    op = (enum dft_op)commands[opcode].op;
    if (op != DFT_OP_SYNC) {
        args.size = commands[opcode].vector ? vector_bytes(iocb, known) : iocb->aio_nbytes;
        args.offset = args.flags & RWF_APPEND && op == DFT_OP_PWRITE ? -1 : iocb->aio_offset;
    }
    request.key = key_of(context, iocb);
    return !dft_request_begin(&request, (enum dft_call_number)commands[opcode].call, op, &args) ||
           !dft_outstanding_put(&request);
}

/* Returns the number of requests up to the first one that cannot be read, or for which there is no
 * room. */
static long submit_list(const struct io_context *context, long count, struct iocb *const list[])
{
    uint64_t known = UINT64_MAX, known_list = UINT64_MAX;

    if (count > LOOKED_AT_MAX)
        count = LOOKED_AT_MAX;
    for (long i = 0; i < count; i++) {
        if (!can_read(&list[i], sizeof *list, &known_list) || !can_read(list[i], sizeof **list, &known) ||
            !submit(context, list[i], &known))
            return i;
    }
    return count < 0 ? 0 : count;
}

/* Those that the kernel did not take are the program's still. The first one is refused by the
 * call's error, but EAGAIN says only that it is to come again. */
static void take_back(const struct io_context *context, long from, long count, struct iocb *const list[], int err)
{
    uint64_t end = dft_ticks();

    for (long i = count; i-- > from;) {
        const struct dft_request_key key = key_of(context, list[i]);
        struct dft_request request;
        struct dft_request_at at;

        if (dft_outstanding_find(&key, DFT_REQUEST_NEWEST, &at) && dft_outstanding_take(at, &request) && i == 0 &&
            err && err != EAGAIN)
            dft_request_end(&request, end, -1, err);
    }
}

static void end_call(uint64_t start, enum dft_call_number call, int result)
{
    const struct dft_call_args args = DFT_ARGS(.fd = -1);
    struct dft_probe probe = {.fd = -1, .start = start};

    dft_end_many(&probe, call, &args, result < 0 ? -1 : result, result < 0 ? -result : 0);
}

VERSIONED_WRAPPER(int, io_submit, (struct io_context * context, long count, struct iocb *list[]))
{
    uint64_t start;
    long looked_at;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_submit, context, count, list);
        return result;
    }
    start = dft_ticks();
    looked_at = submit_list(context, count, list);
    MAKE(result, io_submit, context, count, list);
    if (result > looked_at)
        dft_requests_lost((uint64_t)(result - looked_at));
    take_back(context, result < 0 ? 0 : result, looked_at, list, result < 0 ? -result : 0);
    end_call(start, DFT_CALL_io_submit, result);
    return result;
}
VERSION(dft_wrap_io_submit, io_submit, "LIBAIO_0.1")

/* --- completion ------------------------------------------------------------------------------- */

static void see(const struct io_context *context, const struct io_event *events, int count)
{
    uint64_t end = dft_ticks();

    for (int i = 0; i < count; i++) {
        const struct dft_request_key key = {
            .context = ADDRESS(context), .block = events[i].obj, .data = events[i].data};
        int64_t result = events[i].res;
        struct dft_request request;
        struct dft_request_at at;

        if (dft_outstanding_find(&key, DFT_REQUEST_OLDEST, &at) && dft_outstanding_take(at, &request))
            dft_request_end(&request, end, result < 0 ? -1 : result, result < 0 ? (int)-result : 0);
    }
}

VERSIONED_WRAPPER(int, io_getevents,
                  (struct io_context * context, long least, long count, struct io_event *events,
                   struct timespec *timeout))
{
    uint64_t start;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_getevents, context, least, count, events, timeout);
        return result;
    }
    start = dft_ticks();
    MAKE(result, io_getevents, context, least, count, events, timeout);
    see(context, events, result);
    end_call(start, DFT_CALL_io_getevents, result);
    return result;
}
VERSION(dft_wrap_io_getevents, io_getevents, "LIBAIO_0.4")

VERSIONED_WRAPPER(int, io_pgetevents,
                  (struct io_context * context, long least, long count, struct io_event *events,
                   struct timespec *timeout, sigset_t *mask))
{
    uint64_t start;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_pgetevents, context, least, count, events, timeout, mask);
        return result;
    }
    start = dft_ticks();
    MAKE(result, io_pgetevents, context, least, count, events, timeout, mask);
    see(context, events, result);
    end_call(start, DFT_CALL_io_pgetevents, result);
    return result;
}
VERSION(dft_wrap_io_pgetevents, io_pgetevents, "LIBAIO_0.5")

/* Kernels of today hand out the completion through io_getevents; older ones through `event`. */
VERSIONED_WRAPPER(int, io_cancel, (struct io_context * context, struct iocb *iocb, struct io_event *event))
{
    uint64_t start;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_cancel, context, iocb, event);
        return result;
    }
    start = dft_ticks();
    MAKE(result, io_cancel, context, iocb, event);
    see(context, event, result == 0);
    end_call(start, DFT_CALL_io_cancel, result);
    return result;
}
VERSION(dft_wrap_io_cancel, io_cancel, "LIBAIO_0.4")

/* --- contexts --------------------------------------------------------------------------------- */

VERSIONED_WRAPPER(int, io_setup, (int events, struct io_context **context))
{
    uint64_t start;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_setup, events, context);
        return result;
    }
    start = dft_ticks();
    MAKE(result, io_setup, events, context);
    end_call(start, DFT_CALL_io_setup, result);
    return result;
}
VERSION(dft_wrap_io_setup, io_setup, "LIBAIO_0.4")

/* What was outstanding is waited for, but how it ended is not reported. */
VERSIONED_WRAPPER(int, io_destroy, (struct io_context * context))
{
    uint64_t start, last;
    int result;

    if (!dft_requests_on()) {
        MAKE(result, io_destroy, context);
        return result;
    }
    last = dft_outstanding_last(); /* later ones are those of a new context that has got the same number */
    start = dft_ticks();
    MAKE(result, io_destroy, context);
    if (result == 0 && context)
        dft_requests_give_up(ADDRESS(context), last);
    end_call(start, DFT_CALL_io_destroy, result);
    return result;
}
VERSION(dft_wrap_io_destroy, io_destroy, "LIBAIO_0.4")

/* --- without libaio --------------------------------------------------------------------------- */

static int make_syscall(long number, const long a[6])
{
    switch (number) {
    case SYS_io_setup:
        return dft_wrap_io_setup((int)a[0], (struct io_context **)a[1]);
    case SYS_io_destroy:
        return dft_wrap_io_destroy((struct io_context *)a[0]);
    case SYS_io_submit:
        return dft_wrap_io_submit((struct io_context *)a[0], a[1], (struct iocb **)a[2]);
    case SYS_io_cancel:
        return dft_wrap_io_cancel((struct io_context *)a[0], (struct iocb *)a[1], (struct io_event *)a[2]);
    case SYS_io_getevents:
        return dft_wrap_io_getevents((struct io_context *)a[0], a[1], a[2], (struct io_event *)a[3],
                                     (struct timespec *)a[4]);
    default:
        return dft_wrap_io_pgetevents((struct io_context *)a[0], a[1], a[2], (struct io_event *)a[3],
                                      (struct timespec *)a[4], (sigset_t *)a[5]);
    }
}

long dft_libaio_syscall(long number, const long arguments[6])
{
    int result;

    if (through == THROUGH_LIBAIO)
        return DFT_REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                                 arguments[5]);
    through = THROUGH_SYSCALL;
    result = make_syscall(number, arguments);
    through = THROUGH_NOTHING;
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}
