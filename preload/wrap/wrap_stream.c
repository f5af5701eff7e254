/* SPDX-License-Identifier: MIT */
/* Wrappers of calls on streams that no row can express: those that return nothing, change a
 * stream's file or push characters back, and what the inlined getc_unlocked and putc_unlocked
 * call. */
#include "wrap/wrapper.h"

#include <fcntl.h>

#include "probe/convert.h"
#include "probe/inlined.h"
#include "probe/probe.h"

/* --- another file, another place -------------------------------------------------------------- */

/* What a stream was on. */
static void drop(uint64_t word)
{
    if (word & DFT_FD_TRACED)
        dft_stream_closed(dft_fd_open(word));
    dft_fd_drop(word);
}

static struct dft_file file_again(const struct dft_probe *probe, const char *mode)
{
    enum dft_io io = (enum dft_io)dft_slot_io(probe->class, DFT_IO_NONE);

    return (struct dft_file){probe->file,
                             io == DFT_IO_STARTUP && (*mode != 'r' || strchr(mode, '+')) ? DFT_IO_NONE : io,
                             probe->open && probe->open->memory};
}

/* The stream's own file again, in another mode: a new description of the same name, whatever has
 * become of the file. */
static FILE *reopen_same(const char *mode, FILE *stream)
{
    const int flags = dft_stream_flags(mode);
    const struct dft_call_args args =
        DFT_ARGS(.stream = stream, .fopen_mode = mode, .flags = flags, .mode = DFT_STREAM_PERMISSIONS(flags));
    struct dft_probe probe;
    uint64_t before = 0;
    FILE *result;

    if (!dft_probe_begin(&probe, DFT_CALL_freopen, DFT_OP_FOPEN, &args, DFT_ON_STDIO))
        return DFT_REAL(freopen)(NULL, mode, stream);
    dft_inlined_forget(stream);
    if (!dft_has_other_files())
        before = dft_fd_unbind(probe.fd);
    result = DFT_REAL(freopen)(NULL, mode, stream);
    if (result && !dft_has_other_files())
        dft_fd_bind(dft_stream_fd(result), file_again(&probe, mode), 0,
                    DFT_OPEN_STREAM | (mode[0] == 'a' ? DFT_OPEN_APPEND : 0u));
    dft_end_fd(&probe, DFT_CALL_freopen, DFT_OP_OTHER, &args, result ? dft_stream_fd(result) : -1, result ? 0 : errno);
    drop(before);
    return result;
}

/* The stream's old descriptor is closed within, the new one may have the same number. */
WRAPPER(FILE *, freopen, (const char *path, const char *mode, FILE *stream))
{
    const struct dft_call_args args = DFT_ARGS(.path = path, .fopen_mode = mode);
    struct dft_probe probe;
    uint64_t before = 0;
    FILE *result;

    if (!path)
        return reopen_same(mode, stream);
    if (!dft_probe_begin(&probe, DFT_CALL_freopen, DFT_OP_FOPEN, &args, DFT_ON_STDIO))
        return DFT_REAL(freopen)(path, mode, stream);
    if (!dft_has_other_files()) {
        before = dft_fd_unbind(dft_stream_fd(stream));
        if (before & DFT_FD_TRACED)
            dft_inlined_sync_slow(stream, dft_fd_open(before), before, 0);
    }
    dft_inlined_forget(stream);
    result = DFT_REAL(freopen)(path, mode, stream);
    drop(before);
    dft_end_path(&probe, DFT_CALL_freopen, DFT_OP_FOPEN, &args, result ? dft_stream_fd(result) : -1,
                 result ? 0 : errno);
    return result;
}
ALIAS(freopen, freopen64)

WRAPPER(void, rewind, (FILE * stream))
{
    const struct dft_call_args args = DFT_ARGS(.stream = stream, .offset = 0, .flags = SEEK_SET);
    struct dft_probe probe;

    if (!dft_probe_begin(&probe, DFT_CALL_rewind, DFT_OP_FSEEK, &args, DFT_ON_STDIO)) {
        DFT_REAL(rewind)(stream);
        return;
    }
    DFT_REAL(rewind)(stream);
    dft_end_fd(&probe, DFT_CALL_rewind, DFT_OP_FSEEK, &args, 0, 0);
    dft_inlined_mark(DFT_OP_FSEEK, probe.inlined, stream, probe.open, probe.word, 0);
}

/* A call on a stream that returns nothing. */
#define VOID_CALL(name, op, call, ...)                                                                                 \
    do {                                                                                                               \
        const struct dft_call_args args_ = DFT_ARGS(__VA_ARGS__);                                                      \
        struct dft_probe probe_;                                                                                       \
                                                                                                                       \
        if (!dft_probe_begin(&probe_, DFT_CALL_##name, op, &args_, DFT_ON_STDIO)) {                                    \
            DFT_REAL(name) call;                                                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        DFT_REAL(name) call;                                                                                           \
        dft_probe_end(&probe_, DFT_CALL_##name, op, &args_, 0, 0);                                                     \
    } while (0)

/* What was in the buffer is gone: the stream goes on at the kernel's offset. */
WRAPPER(void, __fpurge, (FILE * stream))
{
    VOID_CALL(__fpurge, DFT_OP_FSEEK, (stream), .stream = stream, .flags = SEEK_CUR);
}

/* A character of so many bytes was pushed back: the position is less by them. */
static void end_unget(struct dft_probe *probe, enum dft_call_number call, const struct dft_call_args *args,
                      int64_t result, int64_t bytes)
{
    int err = result < 0 ? errno : 0;

    uint32_t flags = atomic_load_explicit(&probe->open->flags, memory_order_relaxed);

    if (!err && (flags & ~DFT_OPEN_APPEND) == DFT_OPEN_STREAM &&
        atomic_fetch_sub_explicit(&probe->open->offset, bytes, memory_order_relaxed) < bytes)
        atomic_fetch_or_explicit(&probe->open->flags, DFT_OPEN_LOST, memory_order_relaxed);
    dft_end_fd(probe, call, DFT_OP_OTHER, args, result, err);
    dft_inlined_mark(DFT_OP_OTHER, probe->inlined, args->stream, probe->open, probe->word, 0);
    if (!err)
        dft_inlined_pushed_back(args->stream, bytes);
}

WRAPPER(int, ungetc, (int c, FILE *stream))
{
    const struct dft_call_args args = DFT_ARGS(.stream = stream);
    struct dft_probe probe;
    int result;

    if (!dft_probe_begin(&probe, DFT_CALL_ungetc, DFT_OP_OTHER, &args, DFT_ON_STDIO))
        return DFT_REAL(ungetc)(c, stream);
    result = DFT_REAL(ungetc)(c, stream);
    end_unget(&probe, DFT_CALL_ungetc, &args, result, 1);
    return result;
}
ALIAS(ungetc, _IO_ungetc)

WRAPPER(wint_t, ungetwc, (wint_t c, FILE *stream))
{
    const struct dft_call_args args = DFT_ARGS(.stream = stream);
    struct dft_probe probe;
    wint_t result;

    if (!dft_probe_begin(&probe, DFT_CALL_ungetwc, DFT_OP_OTHER, &args, DFT_ON_STDIO))
        return DFT_REAL(ungetwc)(c, stream);
    result = DFT_REAL(ungetwc)(c, stream);
    end_unget(&probe, DFT_CALL_ungetwc, &args, (int32_t)result, dft_stream_wide(&(wchar_t){(wchar_t)c}, 1));
    return result;
}

/* --- buffers ---------------------------------------------------------------------------------- */

WRAPPER(void, setbuf, (FILE * stream, char *buffer))
{
    VOID_CALL(setbuf, DFT_OP_FFLUSH, (stream, buffer), .stream = stream, .size = buffer ? BUFSIZ : 0);
}

WRAPPER(void, setbuffer, (FILE * stream, char *buffer, size_t size))
{
    VOID_CALL(setbuffer, DFT_OP_FFLUSH, (stream, buffer, size), .stream = stream, .size = size);
}

WRAPPER(void, setlinebuf, (FILE * stream))
{
    VOID_CALL(setlinebuf, DFT_OP_FFLUSH, (stream), .stream = stream);
}

WRAPPER(void, _flushlbf, (void))
{
    VOID_CALL(_flushlbf, DFT_OP_FFLUSH, (), .system = 1);
}

/* --- characters by inlined code --------------------------------------------------------------- */

/* What inlined code moved since the last call that was seen is counted before the real call (inlined.h). */
WRAPPER(int, __uflow, (FILE * stream))
{
    const struct dft_call_args args = DFT_ARGS(.stream = stream, .size = 1, .character = 1, .run = 1);
    struct dft_probe probe;
    int result;

    if (dft_probe_is_idle(DFT_OP_FGETS, &args, DFT_ON_STDIO) ||
        !dft_probe_begin(&probe, DFT_CALL_getc, DFT_OP_FGETS, &args, DFT_ON_STDIO))
        return DFT_REAL(__uflow)(stream);
    result = DFT_REAL(__uflow)(stream);
    dft_finish(&probe, DFT_CALL_getc, DFT_OP_FGETS, &args, result, 0);
    return result;
}

/* The character itself mostly stays in the buffer. It counts with those that follow: a kill may lose it. */
WRAPPER(int, __overflow, (FILE * stream, int c))
{
    struct dft_call_args args = DFT_ARGS(.stream = stream, .size = 1, .character = 1, .run = 1);
    struct dft_probe probe;
    int result, waits;

    if (dft_probe_is_idle(DFT_OP_FPUTS, &args, DFT_ON_STDIO) ||
        !dft_probe_begin(&probe, DFT_CALL_putc, DFT_OP_FPUTS, &args, DFT_ON_STDIO))
        return DFT_REAL(__overflow)(stream, c);
    result = DFT_REAL(__overflow)(stream, c);
    waits = result >= 0 && stream->_IO_write_ptr != stream->_IO_write_base;
    args.character = !waits && c != EOF;
    dft_finish(&probe, DFT_CALL_putc, DFT_OP_FPUTS, &args, waits ? 0 : result, 0);
    if (waits)
        dft_inlined_waits(stream);
    return result;
}
