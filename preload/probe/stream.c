/* SPDX-License-Identifier: MIT */
/* Owns what is known about streams from their FILE. */
#include "probe/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "os/resolve.h"

#define IN_BACKUP 0x100 /* of _flags: pushed-back characters are being read, the rest waits in the save area */
#define PUTTING   0x800

int dft_stream_flags(const char *mode)
{
    int plus = 0, flags = 0;

    if (*mode != 'r' && *mode != 'w' && *mode != 'a')
        return 0; /* fails */
    for (const char *at = mode + 1; *at && *at != ','; at++) {
        plus |= *at == '+';
        flags |= *at == 'x' ? O_EXCL : *at == 'e' ? O_CLOEXEC : 0;
    }
    if (*mode != 'r')
        flags |= O_CREAT | (*mode == 'w' ? O_TRUNC : O_APPEND);
    return flags | (plus ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY);
}

int dft_stream_is_written(const FILE *stream)
{
    return (stream->_flags & PUTTING) != 0;
}

int dft_stream_is_filled(const FILE *stream)
{
    return stream->_IO_read_ptr != stream->_IO_read_end || stream->_IO_write_ptr != stream->_IO_write_base ||
           stream->_flags & IN_BACKUP || stream->_mode > 0;
}

/* The kernel's offset is that of the end of the get area, also while the stream is written. */
int64_t dft_stream_position(const FILE *stream)
{
    int64_t position = dft_sys_lseek(stream->_fileno, 0, SEEK_CUR);

    if (position < 0 || stream->_mode > 0)
        return -1;
    if (stream->_flags & PUTTING)
        position += stream->_IO_write_ptr - stream->_IO_read_end;
    else
        position -= stream->_IO_read_end - stream->_IO_read_ptr;
    if (stream->_flags & IN_BACKUP)
        position -= stream->_IO_save_end - stream->_IO_save_base;
    return position;
}

static int64_t position_of(const FILE *stream)
{
    int error = errno;
    int64_t position = stream->_mode > 0 ? DFT_REAL(ftello)((FILE *)(uintptr_t)stream) : dft_stream_position(stream);

    errno = error;
    return position;
}

int64_t dft_stream_measure(const FILE *stream, const struct dft_open *open, int64_t guess)
{
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int appends = flags & DFT_OPEN_APPEND && dft_stream_is_written(stream);
    int64_t moved = appends || flags & ~(DFT_OPEN_KNOWN | DFT_OPEN_APPEND)
                        ? -1
                        : position_of(stream) - atomic_load_explicit(&open->offset, memory_order_relaxed);

    return moved >= 0 ? moved : guess;
}

/* The same buffer looks no different after it was filled again, so this is right when there was no
 * refill, or one. */
int64_t dft_stream_guess(const FILE *stream, const struct dft_stream_mark *mark)
{
    const char *at = DFT_STREAM_POINTER(stream, read_ptr), *base = DFT_STREAM_POINTER(stream, read_base);

    if (DFT_STREAM_POINTER(stream, read_end) == mark->end && base == mark->base && at >= mark->at)
        return at - mark->at;
    return (mark->end - mark->at) + (at - base);
}

void dft_stream_resync(struct dft_open *open, const FILE *stream)
{
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int64_t position = flags & ~DFT_OPEN_KNOWN ? -1 : position_of(stream);

    if (position >= 0)
        atomic_store_explicit(&open->offset, position, memory_order_relaxed);
    else
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
}

/* A line ends with its only newline, or where the buffer is full, or with the file; and a NUL
 * stands behind it. */
int64_t dft_stream_line(const struct dft_open *open, const FILE *stream, const char *text, uint64_t size)
{
    int64_t length = (int64_t)strlen(text), most = (int64_t)size - 1, moved;

    if (length >= most || (length && text[length - 1] == '\n'))
        return length;
    moved = dft_stream_measure(stream, open, length);
    if (moved <= length || moved > most || text[moved] || memchr(text, '\n', (size_t)moved - 1))
        return length;
    return moved;
}

static int64_t wide_length(wchar_t c, size_t most)
{
    if (most == 1)
        return 1;
    return (uint32_t)c < 0x80 ? 1 : (uint32_t)c < 0x800 ? 2 : (uint32_t)c < 0x10000 ? 3 : 4;
}

int64_t dft_stream_wide(const wchar_t *text, long n)
{
    size_t most = MB_CUR_MAX;
    int64_t bytes = 0;

    for (long i = 0; n < 0 ? text[i] != 0 : i < n; i++)
        bytes += wide_length(text[i], most);
    return bytes;
}
