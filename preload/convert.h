/* From what a function returned to what is recorded: the result as a number, and whether the call failed. */
#ifndef DFT_CONVERT_H
#define DFT_CONVERT_H

#include <string.h>

#include "probe.h"

#define DFT_STREAM_NO_READS 4 /* of _flags: scanf sets no error mark then */

static inline int dft_on_bit(enum dft_op op)
{
    return op >= DFT_OP_FOPEN && op <= DFT_OP_FFLUSH                                             ? DFT_ON_STDIO
           : (op >= DFT_OP_FORK && op <= DFT_OP_EXIT) || op == DFT_OP_SPAWN || op == DFT_OP_WAIT ? DFT_ON_PROCESS
                                                                                                 : DFT_ON_POSIX;
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
    if (op == DFT_OP_FGETS || op == DFT_OP_FPUTS)
        return dft_result_of_text(op, args, raw, pointer, failed);
    if (op == DFT_OP_FREAD || op == DFT_OP_FWRITE) {
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

static inline __attribute__((always_inline)) void dft_finish(struct dft_probe *probe, enum dft_call_number call,
                                                             enum dft_op op, const struct dft_call_args *args,
                                                             int64_t raw, int pointer)
{
    int failed;
    int64_t result = dft_result(op, args, raw, pointer, &failed);

    if (dft_op_is_stream_data(op) &&
        __builtin_expect(probe->sticky, 0)) { /* an error mark of an earlier call: only errno tells */
        failed = failed && errno && errno != DFT_NO_ERRNO;
        if (errno == DFT_NO_ERRNO)
            errno = probe->error;
    }
    if (args->measured && !failed && dft_stream_turn_is_alone(probe)) /* else others moved the position, too */
        result = dft_stream_measure(args->stream, probe->open,
                                    op == DFT_OP_FGETS ? dft_stream_guess(args->stream, &probe->mark) : result);
    else if (op == DFT_OP_FGETS && args->text && raw)
        result = dft_stream_line(probe->open, args->stream, args->text, args->size);
    dft_probe_end(probe, call, op, args, result, failed);
}

#endif
