/* SPDX-License-Identifier: MIT */
/* Repeats calls on streams, and on folders: with buffers of the C library, so that the same system calls come out. */
#include "format/ops.h"
#include "replay/replay_perform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "replay/replay_buffers.h"
#include "replay/replay_hidden.h"

/* --- streams and folders over descriptors that have none yet ----------------------------------- */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* a handle has a stream, or a folder, or none */

static FILE *stream_over(int fd)
{
    int access;

    dft_replay_hide();
    access = fcntl(fd, F_GETFL) & O_ACCMODE;
    dft_replay_show();
    return fdopen(fd, access == O_RDWR ? "r+" : access == O_WRONLY ? "w" : "r");
}

static int has_stream(struct dft_replay_handle *handle)
{
    if (handle->stream)
        return 1;
    dft_replay_hide();
    pthread_mutex_lock(&making);
    if (!handle->stream && !handle->dir)
        handle->stream = stream_over(handle->fd);
    pthread_mutex_unlock(&making);
    dft_replay_show();
    return handle->stream != NULL;
}

/* fdopen. Where the open file has a stream already, for several processes inherited it, a further one is made and
 * closed. */
static int64_t make_stream(struct dft_replay_handle *handle)
{
    FILE *further = NULL;
    int fd, is_made;

    pthread_mutex_lock(&making);
    if (!handle->stream && !handle->dir) {
        handle->stream = stream_over(handle->fd);
    } else {
        fd = dft_replay_hidden_dup(handle->fd);
        further = fd < 0 ? NULL : stream_over(fd);
        if (fd >= 0)
            dft_replay_hidden_close(fd, further, NULL);
    }
    is_made = handle->stream || further;
    pthread_mutex_unlock(&making);
    return is_made ? 0 : -1;
}

static int has_folder(struct dft_replay_handle *handle)
{
    if (handle->dir)
        return 1;
    dft_replay_hide();
    pthread_mutex_lock(&making);
    if (!handle->dir && !handle->stream)
        handle->dir = fdopendir(handle->fd);
    pthread_mutex_unlock(&making);
    dft_replay_show();
    return handle->dir != NULL;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int64_t open_stream(const struct dft_replay_call_at *call)
{
    FILE *stream = fopen(call->path, call->stream_mode);

    if (call->made) {
        call->made->stream = stream;
        call->made->fd = stream ? fileno(stream) : -1;
    } else if (stream) {
        dft_replay_hidden_close(fileno(stream), stream, NULL);
    }
    return stream ? 0 : -1;
}

static int64_t open_folder(const struct dft_replay_call_at *call)
{
    DIR *dir = opendir(call->path);

    if (call->made) {
        call->made->dir = dir;
        call->made->fd = dir ? dirfd(dir) : -1;
    } else if (dir) {
        dft_replay_hidden_close(dirfd(dir), NULL, dir);
    }
    return dir ? 0 : -1;
}

/* Closes a stream of its own when others still stand for the same open file. */
static int64_t close_stream(struct dft_replay_handle *handle, const struct dft_replay_call_at *call)
{
    FILE *stream = handle->stream;

    if (call->shared) {
        dft_replay_hide();
        stream = stream_over(dft_replay_hidden_dup(handle->fd));
        dft_replay_show();
        return stream ? fclose(stream) : -1;
    }
    if (!has_stream(handle))
        return -1;
    stream = handle->stream;
    handle->stream = NULL;
    handle->fd = -1;
    return fclose(stream);
}

static int64_t close_folder(struct dft_replay_handle *handle, const struct dft_replay_call_at *call)
{
    DIR *dir;

    if (call->shared || !has_folder(handle))
        return close(call->shared ? dft_replay_hidden_dup(handle->fd) : -1);
    dir = handle->dir;
    handle->dir = NULL;
    handle->fd = -1;
    return closedir(dir);
}

/* --- data ------------------------------------------------------------------------------------- */

static int64_t print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int64_t print(FILE *stream, const char *format, ...)
{
    va_list list;
    int64_t result;

    va_start(list, format);
    result = vfprintf(stream, format, list);
    va_end(list);
    return result;
}

/* One of `calls` calls that are one event: characters and lines come in such bursts. */
static int64_t move_one(FILE *stream, enum dft_replay_call call, size_t bytes)
{
    const char *text = dft_replay_pattern() + DFT_REPLAY_PIECE - bytes; /* ends with a NUL */
    char *sink = dft_replay_sink();

    switch (call) {
    case DFT_REPLAY_fgets:
        return fgets(sink, (int)(bytes ? bytes : 1) + 1, stream) ? (int64_t)bytes : 0;
    case DFT_REPLAY_fgetc:
        return fgetc(stream) == EOF ? 0 : 1;
    case DFT_REPLAY_getc:
        return getc(stream) == EOF ? 0 : 1;
    case DFT_REPLAY_fputs:
        return fputs(text, stream) < 0 ? -1 : (int64_t)bytes;
    case DFT_REPLAY_fputc:
        return fputc('x', stream) == EOF ? -1 : 1;
    case DFT_REPLAY_putc:
        return putc('x', stream) == EOF ? -1 : 1;
    case DFT_REPLAY_vfprintf:
        return print(stream, "%.*s", (int)bytes, text);
    default:
        return fprintf(stream, "%.*s", (int)bytes, text);
    }
}

static int64_t move_burst(FILE *stream, const struct dft_replay_call_at *call)
{
    uint32_t calls = call->calls ? call->calls : 1;
    uint64_t left = call->bytes;
    int64_t sum = 0;

    for (uint32_t i = 0; i < calls && !dft_replay_is_stopped(); i++) {
        uint64_t each = left / (calls - i), bytes = each < DFT_REPLAY_PIECE - 1 ? each : DFT_REPLAY_PIECE - 1;
        int64_t moved = move_one(stream, call->call, (size_t)bytes);

        if (moved < 0)
            return sum ? sum : moved;
        left -= bytes;
        sum += moved;
    }
    return sum;
}

static int64_t move_items(FILE *stream, const struct dft_replay_call_at *call)
{
    int by_items = dft_op_bytes(call->op) == DFT_BYTES_ITEMS;
    uint64_t unit = by_items && call->unit ? call->unit : 1;
    uint64_t size = call->size, items = 0;
    uint64_t each = call->calls > 1 && size > call->calls ? (size + call->calls - 1) / call->calls : DFT_REPLAY_PIECE;
    uint64_t most = each < DFT_REPLAY_PIECE ? each : DFT_REPLAY_PIECE / unit * unit; /* a burst: call by call */

    do {
        uint64_t bytes = size - items * unit < most ? size - items * unit : most, moved;

        moved = call->call == DFT_REPLAY_fread ? fread(dft_replay_sink(), unit, bytes / unit, stream)
                                               : fwrite(dft_replay_pattern(), unit, bytes / unit, stream);
        items += moved;
        if (moved < bytes / unit || !moved)
            break;
    } while (items * unit < size && !dft_replay_is_stopped());
    return (int64_t)items;
}

/* --- places and buffers ----------------------------------------------------------------------- */

static int64_t seek(FILE *stream, const struct dft_replay_call_at *call)
{
    int whence = (int)call->flags == SEEK_END || call->offset < 0 ? (int)call->flags : SEEK_SET;
    off_t to = whence == SEEK_SET && call->offset > 0 ? (off_t)call->offset : 0;
    int64_t result;

    if (call->call == DFT_REPLAY_rewind) {
        rewind(stream);
        return 0;
    }
    result = call->call == DFT_REPLAY_fseeko ? fseeko(stream, to, whence) : fseek(stream, (long)to, whence);
    if (result || whence == SEEK_SET || call->offset < 0)
        return result;
    dft_replay_hide();
    if (ftello(stream) != (off_t)call->offset)
        result = fseeko(stream, (off_t)call->offset, SEEK_SET);
    dft_replay_show();
    return result;
}

static int64_t on_stream(struct dft_replay_handle *handle, const struct dft_replay_call_at *call)
{
    FILE *stream = handle->stream;

    switch (call->call) {
    case DFT_REPLAY_fread:
    case DFT_REPLAY_fwrite:
        return move_items(stream, call);
    case DFT_REPLAY_fseek:
    case DFT_REPLAY_fseeko:
    case DFT_REPLAY_rewind:
        return seek(stream, call);
    case DFT_REPLAY_ftell:
        return ftell(stream);
    case DFT_REPLAY_ftello:
        return ftello(stream);
    case DFT_REPLAY_fflush:
        return fflush(stream);
    case DFT_REPLAY_setvbuf:
        return setvbuf(stream, NULL, (int)call->flags, call->size > INT32_MAX ? 0 : (size_t)call->size);
    default:
        return move_burst(stream, call);
    }
}

static int64_t on_folder(struct dft_replay_handle *handle, const struct dft_replay_call_at *call)
{
    if (call->call == DFT_REPLAY_getdents64)
        return getdents64(handle->fd, dft_replay_sink(),
                          call->size < DFT_REPLAY_PIECE ? (size_t)call->size : DFT_REPLAY_PIECE);
    if (!has_folder(handle))
        return -1;
    if (call->call == DFT_REPLAY_rewinddir)
        rewinddir(handle->dir);
    else if (call->call == DFT_REPLAY_readdir)
        return readdir(handle->dir) ? 1 : 0;
    return 0;
}

int dft_replay_stream(struct dft_replay_handle *handle, const struct dft_replay_call_at *call, int64_t *result)
{
    switch (call->call) {
    case DFT_REPLAY_fopen:
        *result = open_stream(call);
        return 1;
    case DFT_REPLAY_opendir:
        *result = open_folder(call);
        return 1;
    case DFT_REPLAY_fclose:
        *result = close_stream(handle, call);
        return 1;
    case DFT_REPLAY_closedir:
        *result = close_folder(handle, call);
        return 1;
    case DFT_REPLAY_fdopen:
        *result = make_stream(handle);
        return 1;
    case DFT_REPLAY_fdopendir:
        pthread_mutex_lock(&making);
        handle->dir = handle->dir || handle->stream ? handle->dir : fdopendir(handle->fd);
        pthread_mutex_unlock(&making);
        *result = handle->dir ? 0 : -1;
        return 1;
    case DFT_REPLAY_readdir:
    case DFT_REPLAY_rewinddir:
    case DFT_REPLAY_getdents64:
        *result = on_folder(handle, call);
        return 1;
    default:
        break;
    }
    if (call->call < DFT_REPLAY_fopen)
        return 0;
    *result = has_stream(handle) ? on_stream(handle, call) : -1;
    return 1;
}
