/* SPDX-License-Identifier: MIT */
/* Repeats calls on descriptors, and those that make descriptors. */
#include "replay/replay_perform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format/event.h"
#include "format/ops.h"
#include "replay/replay_buffers.h"
#include "replay/replay_hidden.h"

#define MODE_OF_FILES 0600u /* always set: the user of the replay can remove what it made */

/* --- descriptors that come and go ------------------------------------------------------------- */

/* Opens what the recorded process had inherited, or got in a way that was not recorded. */
static void open_lazily(const struct dft_replay_call_at *call)
{
    struct dft_replay_handle *handle = call->handle;

    dft_replay_hide();
    handle->fd = open(call->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (handle->fd < 0 && (errno == EISDIR || errno == EACCES || errno == EROFS))
        handle->fd = open(call->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (handle->fd < 0 && errno == ENOENT)
        handle->fd = open(call->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MODE_OF_FILES);
    if (handle->fd >= 0 && call->offset > 0 && dft_op_effect(call->op) != DFT_EFFECT_AT && dft_op_is_data(call->op))
        lseek(handle->fd, call->offset, SEEK_SET);
    dft_replay_show();
}

/* Onto a number that is free here, for dup2 and dup3: the recorded one means nothing. */
static int64_t copy_to_number(const struct dft_replay_call_at *call)
{
    int number = dft_replay_hidden_number(call->handle->fd);

    if (number < 0) {
        errno = -number;
        return -1;
    }
    return call->call == DFT_REPLAY_dup2 ? dup2(call->handle->fd, number)
                                         : dup3(call->handle->fd, number, (int)call->flags & O_CLOEXEC);
}

static int64_t copy(const struct dft_replay_call_at *call)
{
    int64_t result;

    if (call->call == DFT_REPLAY_dup)
        result = dup(call->handle->fd);
    else if (call->call == DFT_REPLAY_fcntl)
        result = fcntl(call->handle->fd, (int)call->flags, 3);
    else if (call->made)
        result = copy_to_number(call);
    else
        result = dup2(call->handle->fd, call->handle->fd);
    if (call->made)
        call->made->fd = (int)result;
    return result;
}

/* Closes one of several descriptors for the same open file: the others stay open. A stream over the descriptor
 * would write what it holds into the next file with this number, so it goes as well. */
static int64_t close_one(const struct dft_replay_call_at *call)
{
    struct dft_replay_handle *handle = call->handle;
    int is_alone = !call->shared && !handle->stream && !handle->dir;
    int fd = is_alone ? handle->fd : dft_replay_hidden_dup(handle->fd);

    if (!is_alone && !call->shared) {
        dft_replay_hidden_close(handle->fd, handle->stream, handle->dir);
        handle->stream = NULL;
        handle->dir = NULL;
    }
    if (!call->shared)
        handle->fd = -1;
    return close(fd);
}

static int64_t open_path(const struct dft_replay_call_at *call)
{
    const mode_t mode = (call->mode & 0755u) | MODE_OF_FILES;
    const int flags = ((int)call->flags & ~(O_ASYNC | O_NOCTTY)) | O_NOFOLLOW;
    int64_t fd;

    if (call->call == DFT_REPLAY_creat)
        fd = creat(call->path, mode);
    else if (call->call == DFT_REPLAY_openat)
        fd = openat(AT_FDCWD, call->path, flags, mode);
    else
        fd = open(call->path, flags, mode);
    if (call->made)
        call->made->fd = (int)fd;
    else if (fd >= 0) /* it had failed */
        dft_replay_hidden_close((int)fd, NULL, NULL);
    return fd;
}

/* --- data ------------------------------------------------------------------------------------- */

static int64_t move_piece(const struct dft_replay_call_at *call, size_t bytes, off_t offset)
{
    const struct iovec in = {dft_replay_sink(), bytes}, out = {(char *)(uintptr_t)dft_replay_pattern(), bytes};
    int fd = call->handle->fd;

    switch (call->call) {
    case DFT_REPLAY_read:
        return read(fd, in.iov_base, bytes);
    case DFT_REPLAY_write:
        return write(fd, out.iov_base, bytes);
    case DFT_REPLAY_readv:
        return readv(fd, &in, 1);
    case DFT_REPLAY_writev:
        return writev(fd, &out, 1);
    case DFT_REPLAY_pread:
        return pread(fd, in.iov_base, bytes, offset);
    case DFT_REPLAY_pwrite:
        return pwrite(fd, out.iov_base, bytes, offset);
    case DFT_REPLAY_preadv:
        return preadv(fd, &in, 1, offset);
    case DFT_REPLAY_pwritev:
        return pwritev(fd, &out, 1, offset);
    case DFT_REPLAY_preadv2:
        return preadv2(fd, &in, 1, offset, 0);
    default:
        return pwritev2(fd, &out, 1, offset, 0);
    }
}

static int64_t move(struct dft_replay_thread *thread, const struct dft_replay_call_at *call)
{
    uint64_t size = call->size;
    int64_t sum = 0;

    if (call->seeks) { /* by the C library: a trace of the replay knows the place, too */
        dft_replay_hide();
        lseek(call->handle->fd, call->offset, SEEK_SET);
        dft_replay_show();
    }
    thread->outcome->pieces += size > DFT_REPLAY_PIECE;
    do {
        size_t bytes = size - (uint64_t)sum < DFT_REPLAY_PIECE ? (size_t)(size - (uint64_t)sum) : DFT_REPLAY_PIECE;
        int64_t moved = move_piece(call, bytes, (off_t)((call->offset > 0 ? call->offset : 0) + sum));

        if (moved < 0)
            return sum ? sum : moved;
        sum += moved;
        if ((size_t)moved < bytes)
            break;
    } while ((uint64_t)sum < size && !dft_replay_is_stopped());
    return sum;
}

/* Leads to the recorded place, in the recorded way where that is known. */
static int64_t seek(const struct dft_replay_call_at *call)
{
    int fd = call->handle->fd, whence = (int)call->flags;
    int64_t wanted = call->result, at, by = wanted;

    if (wanted < 0)
        return lseek(fd, -1, SEEK_SET);
    if (whence == SEEK_CUR)
        by = wanted - dft_replay_hidden_seek(fd, 0, SEEK_CUR);
    else if (whence == SEEK_END)
        by = 0;
    at = lseek(fd, by, whence);
    if (at != wanted && (whence == SEEK_END || at < 0))
        at = dft_replay_hidden_seek(fd, wanted, SEEK_SET);
    return at;
}

static int64_t on_descriptor(const struct dft_replay_call_at *call)
{
    int fd = call->handle->fd;
    off_t offset = call->offset > 0 ? (off_t)call->offset : 0, length = (off_t)(call->size & INT64_MAX);
    union {
        struct stat st;
        struct statfs fs;
        struct statvfs vfs;
    } status;

    switch (call->call) {
    case DFT_REPLAY_fstat:
        return fstat(fd, &status.st);
    case DFT_REPLAY_fstatfs:
        return fstatfs(fd, &status.fs);
    case DFT_REPLAY_fstatvfs:
        return fstatvfs(fd, &status.vfs);
    case DFT_REPLAY_fsync:
        return fsync(fd);
    case DFT_REPLAY_fdatasync:
        return fdatasync(fd);
    case DFT_REPLAY_sync_file_range:
        return sync_file_range(fd, offset, length, call->flags);
    case DFT_REPLAY_ftruncate:
        return ftruncate(fd, offset);
    case DFT_REPLAY_fallocate:
        return fallocate(fd, (int)call->flags, offset, length);
    case DFT_REPLAY_posix_fallocate:
        return (errno = posix_fallocate(fd, offset, length)) ? -1 : 0;
    case DFT_REPLAY_posix_fadvise:
        return (errno = posix_fadvise(fd, offset, length, (int)call->flags)) ? -1 : 0;
    case DFT_REPLAY_readahead:
        return readahead(fd, offset, (size_t)length);
    case DFT_REPLAY_fchmod:
        return fchmod(fd, (call->mode & 0755u) | MODE_OF_FILES);
    case DFT_REPLAY_futimens:
        return futimens(fd, NULL);
    default:
        return fcntl(fd, (int)call->flags, FD_CLOEXEC);
    }
}

/* --- one call --------------------------------------------------------------------------------- */

static int64_t make(struct dft_replay_thread *thread, const struct dft_replay_call_at *call)
{
    int64_t result;

    if (dft_replay_stream(call->handle, call, &result) || dft_replay_by_path(call, &result))
        return result;
    switch (call->call) {
    case DFT_REPLAY_open:
    case DFT_REPLAY_openat:
    case DFT_REPLAY_creat:
        return open_path(call);
    case DFT_REPLAY_close:
        return close_one(call);
    case DFT_REPLAY_dup:
    case DFT_REPLAY_dup2:
    case DFT_REPLAY_dup3:
        return copy(call);
    case DFT_REPLAY_lseek:
        return seek(call);
    case DFT_REPLAY_fcntl:
        return call->made ? copy(call) : on_descriptor(call);
    default:
        return dft_op_is_data(call->op) ? move(thread, call) : on_descriptor(call);
    }
}

static int is_different(const struct dft_replay_call_at *call, int64_t result)
{
    if (call->op == DFT_OP_READDIR || call->result == DFT_RESULT_UNKNOWN)
        return 0; /* only files of the trace are in the folders */
    if (call->succeeded != (result >= 0))
        return 1;
    if (!call->succeeded)
        return 0;
    return dft_op_is_data(call->op) || call->call == DFT_REPLAY_lseek ? result != call->result : 0;
}

/* A path that leads through a link is not used, nor one for which that is unknown. */
static int refuse(struct dft_replay_thread *thread, const char *path)
{
    struct dft_replay_threads *all = thread->all;
    int rc = path ? dft_replay_root_check(all->root, path + all->root->length) : 0;

    if (!rc)
        return 0;
    if (rc == -EMFILE || rc == -ENFILE) {
        thread->outcome->no_descriptors++;
        return 1;
    }
    thread->outcome->refused++;
    pthread_mutex_lock(&all->lock);
    if (!all->refused_path)
        all->refused_path = strdup(path);
    pthread_mutex_unlock(&all->lock);
    return 1;
}

void dft_replay_perform(struct dft_replay_thread *thread, const struct dft_replay_call_at *call)
{
    struct dft_replay_outcome *outcome = thread->outcome;
    uint64_t begin, bytes;
    int64_t result;

    if (refuse(thread, call->path) || refuse(thread, call->path2)) {
        outcome->skipped[call->call]++;
        return;
    }
    if (call->lazy)
        open_lazily(call);
    if (call->handle && call->handle->fd < 0) {
        outcome->skipped[call->call]++;
        return;
    }
    begin = dft_replay_now();
    result = make(thread, call);
    outcome->no_descriptors += result < 0 && (errno == EMFILE || errno == ENFILE);
    bytes = result <= 0                                   ? 0
            : dft_op_bytes(call->op) == DFT_BYTES_NOTHING ? 0
            : dft_op_bytes(call->op) == DFT_BYTES_ITEMS   ? (uint64_t)result * call->unit
                                                          : (uint64_t)result;
    dft_tally_add(&outcome->tallies.by_io[call->io < DFT_IO_COUNT ? call->io : DFT_IO_META], call->calls, bytes,
                  dft_replay_now() - begin);
    outcome->done[call->call] += call->calls;
    outcome->differs[call->call] += (uint64_t)is_different(call, result);
}
