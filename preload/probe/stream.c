/* SPDX-License-Identifier: MIT */
/* Owns what is known about streams from their FILE. */
#include "probe/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe.h"
#include "loader/resolve.h"

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

int dft_stream_is_known(const FILE *stream, const struct dft_open *open)
{
    uint32_t appends = dft_stream_is_written(stream) ? 0 : DFT_OPEN_APPEND;

    return !(atomic_load_explicit(&open->flags, memory_order_relaxed) & ~(DFT_OPEN_KNOWN | appends));
}

int64_t dft_stream_measure(const FILE *stream, const struct dft_open *open, int64_t guess)
{
    int64_t moved = !dft_stream_is_known(stream, open)
                        ? -1
                        : position_of(stream) - atomic_load_explicit(&open->offset, memory_order_relaxed);

    return moved >= 0 ? moved : guess;
}

/* --- wide streams ----------------------------------------------------------------------------- */

/* The first members of what <stdio.h> calls struct _IO_wide_data, as programs of glibc 2.2 knew them. */
struct wide_data {
    const wchar_t *read_ptr, *read_end, *read_base, *write_base, *write_ptr, *write_end, *buf_base, *buf_end;
};

static const struct wide_data *wide_data(const FILE *stream)
{
    return (const struct wide_data *)stream->_wide_data;
}

static int64_t wide_bytes(const wchar_t *from, const wchar_t *to)
{
    return from && to > from ? dft_stream_wide(from, to - from) : 0;
}

void dft_stream_mark_wide(const FILE *stream, struct dft_stream_mark *mark)
{
    const struct wide_data *wide = wide_data(stream);

    mark->at = (const char *)wide->read_ptr;
    mark->end = (const char *)wide->read_end;
    mark->base = (const char *)wide->read_base;
    mark->left = wide_bytes(wide->read_ptr, wide->read_end);
}

/* A stream that becomes a wide one within the call has had nothing converted before. */
static int64_t guess_wide(const FILE *stream, const struct dft_stream_mark *mark)
{
    const struct wide_data *wide = wide_data(stream);
    const wchar_t *at = (const wchar_t *)(uintptr_t)mark->at;

    if (!mark->at)
        return wide_bytes(wide->read_base, wide->read_ptr);
    if (mark->end == (const char *)wide->read_end && mark->base == (const char *)wide->read_base &&
        wide->read_ptr >= at)
        return wide_bytes(at, wide->read_ptr);
    return mark->left + wide_bytes(wide->read_base, wide->read_ptr);
}

/* What was flushed is still there in the buffer. */
static int64_t guess_wide_written(const FILE *stream, const struct dft_stream_mark *mark, int64_t characters)
{
    const struct wide_data *wide = wide_data(stream);
    const wchar_t *at = mark->at ? (const wchar_t *)(uintptr_t)mark->at : wide->buf_base;
    int64_t room = wide->buf_end - at, more = characters - room;

    if (at < wide->buf_base || room < 0 || more > wide->buf_end - wide->buf_base)
        return characters;
    return more <= 0 ? wide_bytes(at, at + characters)
                     : wide_bytes(at, wide->buf_end) + wide_bytes(wide->buf_base, wide->buf_base + more);
}

void dft_stream_mark_written(const FILE *stream, struct dft_stream_mark *mark)
{
    int wide = stream->_mode > 0;

    mark->at = wide ? (const char *)wide_data(stream)->write_ptr : DFT_STREAM_POINTER(stream, write_ptr);
    mark->end = stream->_IO_buf_end;
    mark->base = NULL;
}

int64_t dft_stream_guess_written(const FILE *stream, const struct dft_stream_mark *mark, int64_t characters)
{
    const char *at = DFT_STREAM_POINTER(stream, write_ptr);

    if (stream->_mode > 0)
        return guess_wide_written(stream, mark, characters);
    if (at >= mark->at && mark->at >= DFT_STREAM_POINTER(stream, write_base))
        return at - mark->at;
    return (mark->end - mark->at) + (at - DFT_STREAM_POINTER(stream, write_base));
}

/* --- how many bytes a call moved -------------------------------------------------------------- */

/* The same buffer looks no different after it was filled again, so this is right when there was no
 * refill, or one. */
int64_t dft_stream_guess(const FILE *stream, const struct dft_stream_mark *mark)
{
    const char *at = DFT_STREAM_POINTER(stream, read_ptr), *base = DFT_STREAM_POINTER(stream, read_base);

    if (stream->_mode > 0)
        return guess_wide(stream, mark);
    if (DFT_STREAM_POINTER(stream, read_end) == mark->end && base == mark->base && at >= mark->at)
        return at - mark->at;
    return (mark->end - mark->at) + (at - base);
}

void dft_stream_resync(struct dft_open *open, const FILE *stream)
{
    int64_t position = dft_stream_is_known(stream, open) ? position_of(stream) : -1;

    if (position >= 0)
        dft_offset_set(open, position);
    else
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
}

/* A line ends with its only newline, or where the buffer is full, or with the file; and a NUL
 * stands behind it. */
int64_t dft_stream_line(const struct dft_open *open, const FILE *stream, const char *text, uint64_t size,
                        const struct dft_stream_mark *mark)
{
    int64_t length = (int64_t)strlen(text), most = (int64_t)size - 1, moved;

    if (length >= most || (length && text[length - 1] == '\n'))
        return length;
    moved = dft_stream_measure(stream, open, mark ? dft_stream_guess(stream, mark) : length);
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
