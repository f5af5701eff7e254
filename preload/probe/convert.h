/* SPDX-License-Identifier: MIT */
/* From what a function returned to what is recorded: the result as a number, and whether the call
 * failed. */
#ifndef DFT_CONVERT_H
#define DFT_CONVERT_H

#include <string.h>

#include "probe/probe.h"
#include "store/tracefile.h"

#define DFT_STREAM_NO_READS 4 /* of _flags: scanf sets no error mark then */

static inline int dft_on_bit(enum dft_op op)
{
    static const uint8_t bits[] = {[DFT_GROUP_POSIX] = DFT_ON_POSIX,
                                   [DFT_GROUP_STDIO] = DFT_ON_STDIO,
                                   [DFT_GROUP_PROCESS] = DFT_ON_PROCESS,
                                   [DFT_GROUP_REGIONS] = DFT_ON_REGIONS};

    return bits[dft_op_group(op)];
}

/* The stream's error mark: an end of file is no failure. */
static inline int dft_stream_failed(enum dft_op op, const struct dft_call_args *args)
{
    if (!args->stream)
        return 0;
    return ferror_unlocked(args->stream) || (op == DFT_OP_FGETS && args->stream->_flags & DFT_STREAM_NO_READS);
}

/* Lines and characters: the number of bytes, 0 at the end. */
static inline int64_t dft_result_of_text(enum dft_op op, const struct dft_call_args *args, int64_t raw, int pointer,
                                         int *failed)
{
    int none = pointer ? raw == 0 : args->wide ? (int32_t)raw == -1 : raw < 0;

    *failed = 0;
    if (none) {
        *failed = op == DFT_OP_FPUTS || dft_stream_failed(op, args);
        return 0;
    }
    if (args->wide)
        return args->character ? dft_stream_wide(&(wchar_t){(wchar_t)raw}, 1) : dft_stream_wide(args->wide_text, -1);
    if (args->character)
        return 1;
    return args->text ? (int64_t)strlen(args->text) + args->newline : raw;
}

static inline __attribute__((always_inline)) int64_t dft_result(enum dft_op op, const struct dft_call_args *args,
                                                                int64_t raw, int pointer, int *failed)
{
    *failed = args->returns_error ? raw != 0 : pointer ? raw == 0 : raw == -1;
    if (args->errno_tells)
        *failed = *failed && errno != 0;
    if (dft_op_effect(op) == DFT_EFFECT_STREAM && dft_op_bytes(op) == DFT_BYTES_RESULT)
        return dft_result_of_text(op, args, raw, pointer, failed);
    if (dft_op_bytes(op) == DFT_BYTES_ITEMS) {
        *failed = (uint64_t)raw * args->unit < args->size && dft_stream_failed(op, args);
        return raw;
    }
    if (!pointer)
        return raw;
    if (op == DFT_OP_READDIR) /* an entry, or none */
        return raw != 0;
    if (!raw)
        return -1;
    if (op == DFT_OP_STAT || op == DFT_OP_MKDIR) /* a text */
        return 0;
    return op == DFT_OP_OPENDIR ? dft_dir_fd((void *)raw) : dft_stream_fd((const FILE *)raw);
}

/* Can the call fail because of our descriptor's number? */
static inline int dft_may_meet_ours(enum dft_op op)
{
    return dft_op_effect(op) == DFT_EFFECT_OPENS || op == DFT_OP_DUP || op == DFT_OP_FRESH;
}

/* Has it? raw: what the function returned; before: errno before the call. */
static inline __attribute__((always_inline)) int dft_meets_ours(enum dft_op op, int64_t raw, int pointer, int before)
{
    return dft_may_meet_ours(op) && __builtin_expect(raw == (pointer ? 0 : -1) && errno == EMFILE, 0) &&
           dft_tracefile_let_go(before);
}

/* A call that dft_probe_begin has refused may be one on a number that is not open. */
struct dft_not_open {
    uint64_t start; /* ticks; 0: of no interest, whatever becomes of the call */
    int fd;         /* the call may free the stream or the directory that tells it */
    int error;      /* errno before the call */
};

static inline __attribute__((always_inline)) void dft_not_open_begin(struct dft_not_open *refused,
                                                                     const struct dft_call_args *args)
{
    *refused = (struct dft_not_open){.fd = -1};
    if (!dft_on || args->path != DFT_NO_PATH || args->system)
        return;
    refused->fd = dft_probe_fd(args);
    if (dft_probe_word(args, refused->fd))
        return;
    refused->error = errno;
    if (args->errno_tells)
        errno = 0;
    refused->start = dft_ticks();
}

static inline __attribute__((always_inline)) void dft_not_open_end(const struct dft_not_open *refused,
                                                                   enum dft_call_number call, enum dft_op op,
                                                                   const struct dft_call_args *args, int64_t raw,
                                                                   int pointer)
{
    int failed;
    int64_t result;

    if (!refused->start)
        return;
    result = dft_result(op, args, raw, pointer, &failed);
    if (failed && (args->returns_error ? (int)raw : errno) == EBADF)
        dft_end_not_open(refused->start, refused->fd, call, op, args->size, args->offset, args->flags, args->mode,
                         result);
    else if (args->errno_tells && !errno)
        errno = refused->error;
}

/* A call on our descriptor, which was not made: to the program it is not open. */
static inline __attribute__((always_inline)) void dft_hidden(enum dft_call_number call, enum dft_op op,
                                                             const struct dft_call_args *args)
{
    dft_end_not_open(dft_ticks(), args->fd, call, op, args->size, args->offset, args->flags, args->mode,
                     args->returns_error ? EBADF : -1);
}

static inline __attribute__((always_inline)) void dft_finish(struct dft_probe *probe, enum dft_call_number call,
                                                             enum dft_op op, const struct dft_call_args *args,
                                                             int64_t raw, int pointer)
{
    int failed;
    int64_t result = dft_result(op, args, raw, pointer, &failed);

    if (dft_op_effect(op) == DFT_EFFECT_STREAM &&
        __builtin_expect(probe->stale_error, 0)) { /* an error mark of an earlier call: only errno tells */
        failed = failed && errno && errno != DFT_NO_ERRNO;
        if (errno == DFT_NO_ERRNO)
            errno = probe->error;
    }
    if (args->measured && !failed && dft_stream_ticket_is_alone(probe)) /* else others moved the position, too */
        result = dft_stream_measure(args->stream, probe->open,
                                    op == DFT_OP_FGETS ? dft_stream_guess(args->stream, &probe->mark)
                                    : args->size       ? (int64_t)args->size
                                                       : dft_stream_guess_written(args->stream, &probe->mark, result));
    else if (op == DFT_OP_FGETS && args->text && raw)
        result = dft_stream_line(probe->open, args->stream, args->text, args->size,
                                 dft_stream_ticket_is_alone(probe) ? &probe->mark : NULL);
    dft_probe_end(probe, call, op, args, result, failed);
}

#endif
