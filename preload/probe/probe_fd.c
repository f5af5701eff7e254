/* SPDX-License-Identifier: MIT */
/* What probes must find out about descriptors: those met for the first time, and offsets that
 * others move. */
#include "probe/inlined.h"
#include "probe/probe.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "probe/convert.h"
#include "probe/paths.h"
#include "probe/startup.h"
#include "probe/traced.h"
#include "store/tracefile.h"

int dft_dir_fd(void *dir)
{
    return dirfd(dir);
}

uint64_t dft_iov_bytes(const struct iovec *iov, int iovcnt)
{
    uint64_t bytes = 0;

    for (int i = 0; i < iovcnt && i < IOV_MAX; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

/* --- descriptors met for the first time ------------------------------------------------------- */

static void send_name_again(struct dft_thread *self, int fd, uint64_t word)
{
    struct dft_path path;

    dft_path_of_fd(&path, fd);
    if (path.id == dft_fd_open(word)->file) {
        dft_path_define(self, &path);
        dft_fd_open(word)->file = path.id; /* it may count for its directory from now on */
    }
    dft_path_done(&path);
    dft_fd_set_bits(fd, word, (uint32_t)(word & 0xff) & ~DFT_FD_UNNAMED);
}

/* What a descriptor is open on, with these flags of its own; below 0: not known. */
static struct dft_file file_at(const struct dft_path *path, long flags)
{
    return (struct dft_file){path->id, dft_startup_class_found(flags, dft_file_class(path->text, path->length)),
                             dft_startup_is_memory(path)};
}

static __thread uint64_t own __attribute__((tls_model("initial-exec")));

/* The description of a caller to whom the number means this file. What the table does not have is found anew at
 * each call: there is one such description a thread, and a child's does not outlive the call. */
static uint64_t describe_other(int fd, uint64_t known, const struct dft_path *path, long flags)
{
    if (known && !dft_own_files && dft_fd_open(known)->file == path->id) {
        dft_fd_share(fd);
        return known;
    }
    if (!dft_own_files || !own || dft_fd_open(own)->file != path->id)
        own = dft_fd_describe(own, file_at(path, flags), 0);
    if (own)
        atomic_store_explicit(&dft_fd_open(own)->flags, DFT_OPEN_SHARED | (flags & O_APPEND ? DFT_OPEN_APPEND : 0u),
                              memory_order_relaxed);
    return own;
}

/* What a child does to a description that its parent has, it does to the parent's as well. Where nobody tells
 * a name, its parent knows it. */
uint64_t dft_probe_resolve_in_child(int fd)
{
    uint64_t word = dft_fd_word(fd), known = word & DFT_FD_TRACED ? word & ~(uint64_t)DFT_FD_UNNAMED : 0;
    struct dft_thread *self;
    struct dft_path path;
    long flags;

    if (fd < 0 || dft_is_sandboxed())
        return known;
    flags = dft_path_of_fd(&path, fd);
    if (flags < 0) {
        known = 0; /* not open: the call will say so */
    } else if (path.unnamed && known && !dft_own_files) {
        dft_fd_share(fd);
        path.length = 0;
    } else if (path.length) {
        known = path.traced ? describe_other(fd, known, &path, flags) : 0;
    }
    self = known && path.length ? dft_thread_get() : NULL;
    if (self)
        dft_path_define(self, &path);
    dft_path_done(&path);
    return known;
}

const _Atomic uint64_t *dft_probe_place(int fd)
{
    const _Atomic uint64_t *at = dft_fd_place(fd);

    return dft_own_files && own && *at != own ? (const _Atomic uint64_t *)(uintptr_t)&own : at;
}

uint64_t dft_probe_resolve(int fd, uint64_t word)
{
    struct dft_thread *self;
    struct dft_path path;
    long flags;

    if ((unsigned)fd >= DFT_FD_CHUNK * DFT_FD_CHUNKS || dft_tracefile_is(fd) || dft_has_other_files())
        return word & DFT_FD_TRACED ? word & ~(uint64_t)DFT_FD_UNNAMED : 0;
    if (word & DFT_FD_TRACED) {
        self = dft_thread_get();
        if (self)
            send_name_again(self, fd, word);
        return dft_fd_word(fd);
    }
    flags = dft_path_of_fd(&path, fd);
    if (path.length == 0) {
        dft_sandbox_drop();
        goto out; /* not open: the call will say so */
    }
    if (!path.traced) {
        dft_fd_bind_untraced(fd);
        dft_traced_leave_out(path.text, path.length);
        goto out;
    }
    self = dft_thread_get();
    if (self)
        dft_path_define(self, &path);
    dft_fd_bind_found(fd, word, file_at(&path, flags),
                      DFT_OPEN_SHARED | (flags > 0 && flags & O_APPEND ? DFT_OPEN_APPEND : 0u));
out:
    dft_path_done(&path);
    return dft_fd_word(fd);
}

/* Where nobody can query a number, dft_probe_resolve has counted the call as lost; it does not query all. */
static int was_counted(enum dft_op op, int fd)
{
    if (dft_op_effect(op) == DFT_EFFECT_CLOSES || op == DFT_OP_DUP || (unsigned)fd >= DFT_FD_CHUNK * DFT_FD_CHUNKS)
        return 0;
    return dft_is_sandboxed();
}

void dft_end_not_open(uint64_t start, int fd, enum dft_call_number call, enum dft_op op, uint64_t size, int64_t offset,
                      int flags, mode_t mode, int64_t result)
{
    const struct dft_call_args args = DFT_ARGS(.size = size, .offset = offset, .flags = flags, .mode = mode);
    struct dft_probe probe = {.start = start, .fd = fd};
    uint64_t end = dft_ticks();

    if (!(dft_on & dft_on_bit(op)) || !dft_traced_path("/", 1) || was_counted(op, fd))
        return;
    if (!dft_op_is_data(op))
        dft_end_many(&probe, call, &args, result, EBADF);
    else if (dft_thread_get())
        dft_end_rare(&probe, call, 1, (uint32_t)flags, result, size, offset, end, 0, EBADF, 0);
}

/* --- accesses, seen from the last one ------------------------------------------------------------ */

uint32_t dft_access_turn(struct dft_open *open, enum dft_way way)
{
    uint8_t last = atomic_exchange_explicit(&open->way, (uint8_t)way, memory_order_relaxed);

    return last == DFT_WAY_NONE ? 0 : DFT_SLOT_TURN;
}

/* Is the access that has just been noted as the last one a write at the end, wherever that is? */
static int is_first_append(const struct dft_open *open)
{
    return atomic_load_explicit(&open->way, memory_order_relaxed) == DFT_WAY_WRITES &&
           atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_APPEND;
}

/* The first access goes on from where the description stood: at the start, at the end for appends, or
 * where another process has left it. */
uint32_t dft_access_elsewhere(struct dft_open *open, int64_t offset, int64_t moved)
{
    int64_t last = atomic_load_explicit(&open->last_end, memory_order_relaxed);
    int64_t start = atomic_load_explicit(&open->last_start, memory_order_relaxed);
    int64_t before = atomic_load_explicit(&open->start_before, memory_order_relaxed);

    if (start < 0 && (!offset || is_first_append(open)))
        last = offset;
    if (moved > 0) {
        atomic_store_explicit(&open->last_end, offset + moved, memory_order_relaxed);
        atomic_store_explicit(&open->start_before, start, memory_order_relaxed);
        atomic_store_explicit(&open->last_start, offset, memory_order_relaxed);
    }
    if (offset == last)
        return DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE;
    if (before >= 0 && offset - start == start - before)
        return DFT_BIT_CONSECUTIVE;
    return start < 0 || offset < last ? 0 : DFT_BIT_SEQUENTIAL;
}

void dft_access_from_end(struct dft_open *open, int64_t end)
{
    if (atomic_load_explicit(&open->last_start, memory_order_relaxed) < 0)
        atomic_store_explicit(&open->last_end, end, memory_order_relaxed);
}

void dft_access_from(const struct dft_probe *probe, int64_t offset)
{
    struct stat st;

    if (offset > 0 && dft_probe_is_same(probe) &&
        atomic_load_explicit(&probe->open->last_start, memory_order_relaxed) < 0 &&
        !DFT_SYS(fstat, probe->fd, &st, 0, 0, 0, 0) && st.st_size == offset)
        dft_access_from_end(probe->open, offset);
}

/* --- offsets that others move ----------------------------------------------------------------- */

/* The first call that needs the offset of an opened file: has it one? Returns the flags. `offset`,
 * if any, is where it is then. */
static uint32_t first_offset(struct dft_open *open, int fd, int64_t *offset)
{
    int64_t at;

    if (dft_is_sandboxed()) /* it was opened when nobody could ask any more */
        return atomic_load_explicit(&open->flags, memory_order_relaxed);
    at = dft_sys_lseek(fd, 0, SEEK_CUR);
    if (at < 0)
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_NOWHERE, memory_order_relaxed);
    if (offset)
        *offset = at;
    return atomic_fetch_and_explicit(&open->flags, ~DFT_OPEN_NEW, memory_order_relaxed) & ~DFT_OPEN_NEW;
}

/* Regular files that have a size have an offset. One without may be made by a driver, and have
 * none. */
void dft_probe_learn(struct dft_open *open, const struct stat *status)
{
    if (S_ISREG(status->st_mode) && status->st_size > 0)
        atomic_fetch_and_explicit(&open->flags, ~DFT_OPEN_NEW, memory_order_relaxed);
}

int64_t dft_probe_ask_offset(struct dft_probe *probe, enum dft_op op)
{
    uint32_t flags = atomic_load_explicit(&probe->open->flags, memory_order_relaxed);
    int64_t offset = -1;
    struct stat st;

    probe->asked = 1;
    if (flags & DFT_OPEN_NEW) {
        flags = first_offset(probe->open, probe->fd, &offset);
        if (!flags && probe->started == probe->finished &&
            offset == atomic_load_explicit(&probe->open->offset, memory_order_relaxed)) {
            probe->asked = 0; /* from now on it is known */
            return offset;
        }
    }
    if (flags & DFT_OPEN_NOWHERE)
        return -1;
    if (op == DFT_OP_WRITE && (flags & DFT_OPEN_APPEND))
        return DFT_SYS(fstat, probe->fd, &st, 0, 0, 0, 0) < 0 ? -1 : st.st_size;
    return dft_sys_lseek(probe->fd, 0, SEEK_CUR);
}

void dft_offset_set(struct dft_open *open, int64_t offset)
{
    int64_t before = atomic_load_explicit(&open->offset, memory_order_relaxed);

    atomic_store_explicit(&open->offset, offset, memory_order_relaxed);
    if (before != offset && atomic_load_explicit(&open->references, memory_order_relaxed) > 1)
        dft_inlined_shift(open, offset - before);
}

/* The kernel's offset is this one, unless another call may move it now: one that begins after the
 * last look sees a ticket that is not returned. */
static void know_offset(const struct dft_probe *probe, int64_t offset, int alone)
{
    struct dft_open *open = probe->open;

    if (alone) {
        dft_offset_set(open, offset);
        if (atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_LOST)
            atomic_fetch_and_explicit(&open->flags, ~DFT_OPEN_LOST, memory_order_seq_cst);
    }
    if (!alone || !dft_ticket_is_alone(probe))
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
}

/* The offsets before and after must fit to what was moved, else others did so too and nobody knows;
 * for an append the one before is the size of the file. */
int64_t dft_probe_settle_offset(struct dft_probe *probe, int64_t moved, int alone)
{
    struct dft_open *open = probe->open;
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int64_t after = flags & DFT_OPEN_NOWHERE ? -1 : dft_sys_lseek(probe->fd, 0, SEEK_CUR);

    if (after < 0)
        return -1;
    if (!(flags & DFT_OPEN_STREAM))
        know_offset(probe, after, alone);
    else if (moved) /* from under the stream */
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_MOVED, memory_order_relaxed);
    return probe->offset >= 0 && after - probe->offset == moved ? probe->offset : -1;
}

void dft_seek_end_slow(const struct dft_probe *probe, int64_t offset, int alone)
{
    struct dft_open *open = probe->open;

    if (offset < 0)
        return;
    if (atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_STREAM)
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_MOVED, memory_order_relaxed); /* from under the stream */
    else
        know_offset(probe, offset, alone);
}

void dft_probe_begin_effective(struct dft_probe *probe, enum dft_op op, int64_t offset, int flags)
{
    struct stat st;

    if (offset == -1 && !(op == DFT_OP_PWRITE && flags & RWF_APPEND)) {
        probe->effective = DFT_EFFECTIVE_AT_DESCRIPTOR;
        dft_offset_begin(probe, op == DFT_OP_PREAD ? DFT_OP_READ : DFT_OP_WRITE);
        return;
    }
    probe->effective = DFT_EFFECTIVE_AT_END;
    if (offset == -1) /* and the descriptor's own offset is behind it */
        atomic_fetch_or_explicit(&probe->open->flags, DFT_OPEN_LOST, memory_order_relaxed);
    probe->offset = DFT_SYS(fstat, probe->fd, &st, 0, 0, 0, 0) < 0 ? -1 : st.st_size;
}

int64_t dft_probe_end_effective(struct dft_probe *probe, int64_t moved)
{
    struct stat st;

    if (probe->effective == DFT_EFFECTIVE_AT_DESCRIPTOR)
        return dft_offset_end(probe, moved);
    if (probe->offset < 0 || !dft_probe_is_same(probe) || DFT_SYS(fstat, probe->fd, &st, 0, 0, 0, 0) < 0)
        return -1;
    return st.st_size - probe->offset == moved ? probe->offset : -1;
}

void dft_stream_find(struct dft_open *open, const FILE *stream)
{
    int64_t offset;

    if (dft_stream_is_filled(stream))
        return;
    offset = dft_sys_lseek(stream->_fileno, 0, SEEK_CUR);
    if (offset < 0)
        return;
    dft_offset_set(open, offset);
    atomic_fetch_or_explicit(&open->flags, DFT_OPEN_STREAM, memory_order_relaxed);
    atomic_fetch_and_explicit(&open->flags, ~(DFT_OPEN_LOST | DFT_OPEN_MOVED), memory_order_relaxed);
}

/* The stream's own position. The first call on a description takes over the kernel's: nothing is
 * buffered yet. */
int64_t dft_stream_offset_slow(const FILE *stream, struct dft_open *open, int alone, enum dft_op op, int64_t moved)
{
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int writes = op == DFT_OP_FWRITE || op == DFT_OP_FPUTS;
    int64_t position, offset;

    if (flags & DFT_OPEN_NEW)
        flags = first_offset(open, dft_stream_fd(stream), NULL);
    if (flags & DFT_OPEN_NOWHERE)
        return -1;
    if (alone && flags == (DFT_OPEN_STREAM | DFT_OPEN_LOST) && (position = dft_stream_position(stream)) >= moved) {
        dft_offset_set(open, position);
        atomic_fetch_and_explicit(&open->flags, ~DFT_OPEN_LOST, memory_order_relaxed);
        return position - moved;
    }

    if (!(flags & DFT_OPEN_STREAM))
        flags = atomic_fetch_or_explicit(&open->flags, DFT_OPEN_STREAM, memory_order_relaxed) | DFT_OPEN_STREAM;
    if (flags & (DFT_OPEN_SHARED | DFT_OPEN_LOST | DFT_OPEN_MOVED) || (writes && flags & DFT_OPEN_APPEND)) {
        if (writes && flags & DFT_OPEN_APPEND)
            atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
        return -1;
    }
    offset = atomic_fetch_add_explicit(&open->offset, moved, memory_order_acq_rel);
    return alone ? offset : -1;
}

void dft_end_unrecorded(struct dft_probe *probe)
{
    if (probe->open && dft_probe_is_same(probe))
        atomic_fetch_or_explicit(&probe->open->flags, DFT_OPEN_LOST, memory_order_relaxed);
}

void dft_probe_know_offset(int fd)
{
    uint64_t word = dft_fd_word(fd);

    if (word & DFT_FD_TRACED && atomic_load_explicit(&dft_fd_open(word)->flags, memory_order_relaxed) & DFT_OPEN_NEW)
        first_offset(dft_fd_open(word), fd, NULL);
}
