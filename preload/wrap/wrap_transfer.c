/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that move bytes from one descriptor to another, and of ioctl.
 *
 * A transfer is read from one file and written to another. Where both are traced it is two events:
 * the reading half, which is the call, and the writing half, which adds its bytes and counts no
 * call. Where one is, it is one event, of that file. */
#include "wrap/wrapper.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include "probe/convert.h"
#include "probe/probe.h"
#include "store/tracefile.h"
#include "wrap/wrap_special.h"

/* One end of a transfer. position: where the program keeps the offset, NULL: it is the descriptor's
 * own, which moves. */
struct side {
    int fd;
    const off_t *position;
    enum dft_op op;
    enum dft_call_number call;
    int traced, unknown;
    struct dft_probe probe;
};

static void begin_side(struct side *side)
{
    const struct dft_call_args args =
        DFT_ARGS(.fd = side->fd, .offset = side->position ? 0 : -1); /* or wherever it is */

    side->traced = dft_probe_begin(&side->probe, side->call, side->op, &args, DFT_ON_POSIX);
    side->unknown = !side->traced && !dft_probe_word(&args, side->fd);
}

/* The kernel has moved the program's offset on. */
static int64_t start_of(const struct side *side, int64_t moved, int failed)
{
    return side->position && !failed ? *side->position - moved : -1;
}

/* The event of the call on this side; `further`: the other side has that already. */
static void end_side(struct side *side, size_t size, int flags, int64_t result, int err, int further)
{
    const struct dft_call_args args = DFT_ARGS(.fd = side->fd, .size = size, .flags = flags,
                                               .offset = start_of(side, result, err), .further = further);
    int64_t moved = result > 0 ? result : 0;

    dft_end_data(&side->probe, side->call, side->op, &args, result, moved, err);
}

/* A side that took a ticket, and which has no event of its own. */
static void leave(struct side *side, int64_t moved)
{
    if (side->traced && !side->position)
        dft_offset_end(&side->probe, moved);
}

/* A call on a number that is not open: under the call's own name, whichever side it is. */
static void end_not_open(const struct side *side, enum dft_call_number call, size_t size, int flags)
{
    dft_end_not_open(side->probe.start, side->fd, call, DFT_OP_READ, size, -1, flags, 0, -1);
}

static void end_transfer(struct side *in, struct side *out, size_t size, int flags, ssize_t result)
{
    int error = errno, err = result < 0 ? error : 0;

    if (in->traced) {
        end_side(in, size, flags, result, err, 0);
        if (out->traced && !err)
            end_side(out, size, 0, result, 0, 1);
        else
            leave(out, 0);
    } else if (out->traced) {
        end_side(out, size, flags, result, err, 0);
    } else if (err == EBADF && (in->unknown || out->unknown)) {
        end_not_open(in->unknown ? in : out, in->call, size, flags);
    }
    if (in->traced && out->traced && in->probe.open == out->probe.open) /* who moved its offset how far? */
        atomic_fetch_or_explicit(&in->probe.open->flags, DFT_OPEN_LOST, memory_order_relaxed);
    errno = error;
}

#define SIDES(read, in_fd, in_position, written, out_fd, out_position)                                                 \
    struct side in = {                                                                                                 \
        .fd = in_fd, .position = in_position, .op = (in_position) ? DFT_OP_PREAD : DFT_OP_READ, .call = read};         \
    struct side out = {                                                                                                \
        .fd = out_fd, .position = out_position, .op = (out_position) ? DFT_OP_PWRITE : DFT_OP_WRITE, .call = written}

#define TRANSFER(size, flags, make)                                                                                    \
    do {                                                                                                               \
        ssize_t result_;                                                                                               \
                                                                                                                       \
        if (dft_tracefile_hides(in.fd) || dft_tracefile_hides(out.fd)) {                                               \
            in.probe.start = dft_ticks();                                                                              \
            end_not_open(&in, in.call, size, flags);                                                                   \
            return -1;                                                                                                 \
        }                                                                                                              \
        begin_side(&in);                                                                                               \
        begin_side(&out);                                                                                              \
        result_ = make;                                                                                                \
        end_transfer(&in, &out, size, flags, result_);                                                                 \
        return result_;                                                                                                \
    } while (0)

ssize_t dft_sendfile(int out_fd, int in_fd, off_t *offset, size_t size,
                     ssize_t (*make)(int out_fd, int in_fd, off_t *offset, size_t size))
{
    SIDES(DFT_CALL_sendfile, in_fd, offset, DFT_CALL_sendfile_written, out_fd, NULL);

    TRANSFER(size, 0, make(out_fd, in_fd, offset, size));
}

WRAPPER(ssize_t, sendfile, (int out_fd, int in_fd, off_t *offset, size_t size))
{
    return dft_sendfile(out_fd, in_fd, offset, size, DFT_REAL(sendfile));
}
ALIAS(sendfile, sendfile64)

ssize_t dft_transfer(enum dft_call_number read, enum dft_call_number written, const struct dft_transfer *what,
                     ssize_t (*make)(int in_fd, off_t *in_offset, int out_fd, off_t *out_offset, size_t size,
                                     unsigned flags))
{
    SIDES(read, what->in_fd, what->in_offset, written, what->out_fd, what->out_offset);

    TRANSFER(what->size, (int)what->flags,
             make(what->in_fd, what->in_offset, what->out_fd, what->out_offset, what->size, what->flags));
}

WRAPPER(ssize_t, copy_file_range,
        (int in_fd, off_t *in_offset, int out_fd, off_t *out_offset, size_t size, unsigned flags))
{
    const struct dft_transfer what = {in_fd, in_offset, out_fd, out_offset, size, flags};

    return dft_transfer(DFT_CALL_copy_file_range, DFT_CALL_copy_file_range_written, &what, DFT_REAL(copy_file_range));
}

WRAPPER(ssize_t, splice, (int in_fd, off_t *in_offset, int out_fd, off_t *out_offset, size_t size, unsigned flags))
{
    const struct dft_transfer what = {in_fd, in_offset, out_fd, out_offset, size, flags};

    return dft_transfer(DFT_CALL_splice, DFT_CALL_splice_written, &what, DFT_REAL(splice));
}

/* --- ioctl ------------------------------------------------------------------------------------ */

typedef int make_control(int fd, unsigned long request, void *argument);

/* Some make a descriptor, and return it. */
static int make_first(int fd, unsigned long request, void *argument, make_control *make)
{
    int before = errno, result = make(fd, request, argument);

    if (__builtin_expect(result == -1 && errno == EMFILE, 0) && dft_tracefile_let_go(before))
        result = make(fd, request, argument);
    if (result > 0)
        dft_tracefile_meet(result);
    return result;
}

static int control(int fd, unsigned long request, void *argument, make_control *make)
{
    const struct dft_call_args args = DFT_ARGS(.fd = fd, .flags = (int)request);
    struct dft_probe probe;
    struct dft_not_open refused;
    int result;

    if (dft_tracefile_hides(fd)) {
        dft_hidden(DFT_CALL_ioctl, DFT_OP_CONTROL, &args);
        return -1;
    }
    if (dft_probe_is_idle(DFT_OP_STAT, &args, DFT_ON_POSIX))
        return make_first(fd, request, argument, make);
    if (!dft_probe_begin(&probe, DFT_CALL_ioctl, DFT_OP_CONTROL, &args, DFT_ON_POSIX)) {
        dft_not_open_begin(&refused, &args);
        result = make_first(fd, request, argument, make);
        dft_not_open_end(&refused, DFT_CALL_ioctl, DFT_OP_CONTROL, &args, result, 0);
        return result;
    }
    result = make_first(fd, request, argument, make);
    if (request == FIONCLEX && result == 0 && dft_has_other_files())
        dft_fd_share(fd); /* it may outlive the child's exec */
    dft_probe_end(&probe, DFT_CALL_ioctl, DFT_OP_CONTROL, &args, result, result == -1);
    return result;
}

int dft_ioctl(int fd, unsigned long request, void *argument, make_control *make)
{
    int result = control(fd, request, argument, make);

    if (request == FIONCLEX)
        dft_fd_stays_on_exec(fd);
    return result;
}

static int make_ioctl(int fd, unsigned long request, void *argument)
{
    return DFT_REAL(ioctl)(fd, request, argument);
}

WRAPPER(int, ioctl, (int fd, unsigned long request, ...))
{
    va_list list;
    void *argument;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    return dft_ioctl(fd, request, argument, make_ioctl);
}
