/* SPDX-License-Identifier: MIT */
/* The slow and rare parts of probes: records that are not about bytes, paths, opening and
 * closing. */
#include "probe/probe.h"

#include <string.h>
#include <unistd.h>

#include "probe/directories.h"
#include "probe/paths.h"
#include "probe/startup.h"
#include "os/own_files.h"
#include "os/reading.h"
#include "loader/resolve.h"
#include "probe/traced.h"
#include "store/tracefile.h"

/* --- records ---------------------------------------------------------------------------------- */

void dft_probe_fill(struct dft_slot *record, const struct dft_thread *self, const struct dft_probe *probe,
                    enum dft_call_number call, uint64_t end)
{
    uint64_t duration = dft_ticks_between(probe->start, end);

    *record = (struct dft_slot){.start = probe->start,
                                .duration = duration >> 32 ? 0 : (uint32_t)duration,
                                .call = (uint16_t)(call | probe->class),
                                .file = probe->file,
                                .offset = -1,
                                .fd = probe->fd};
    if (dft_in_vfork_child())
        record->bits = DFT_BIT_VFORK;
    record->region = dft_region_innermost(self, &record->depth);
}

/* Items of a record: at most one of each kind. */
struct item {
    uint8_t tag;
    uint8_t value[8];
} __attribute__((packed));

static void add_item(struct dft_pieces *pieces, struct item *item, uint8_t tag, const void *value, uint32_t length)
{
    item->tag = tag;
    memcpy(item->value, value, length);
    dft_pieces_add(pieces, item, 1 + length);
}

/* What a call that moves no bytes has beyond the fields of one slot. */
struct more {
    uint64_t file2, size;
    uint32_t mode;
    int further;
};

static void put(struct dft_thread *self, const struct dft_slot *record, const struct dft_probe *probe, uint64_t end,
                const struct more *more)
{
    uint64_t duration = dft_ticks_between(probe->start, end);
    struct dft_pieces pieces = {.count = 0};
    struct item items[5];

    if (duration >> 32)
        add_item(&pieces, &items[0], DFT_ITEM_DURATION, &duration, 8);
    if (more->file2)
        add_item(&pieces, &items[1], DFT_ITEM_FILE2, &more->file2, 8);
    if (more->size)
        add_item(&pieces, &items[2], DFT_ITEM_SIZE, &more->size, 8);
    if (more->mode)
        add_item(&pieces, &items[3], DFT_ITEM_MODE, &more->mode, 4);
    if (more->further)
        add_item(&pieces, &items[4], DFT_ITEM_CALLS, &(uint32_t){0}, 4);
    dft_ring_put_any(self, record, &pieces);
}

/* A data call that does not fit into one slot. */
void dft_end_rare(const struct dft_probe *probe, enum dft_call_number call, uint64_t long_unit, uint32_t flags,
                  int64_t result, uint64_t size, int64_t offset, uint64_t end, uint8_t bits, int err, int further)
{
    struct dft_thread *self = dft_self;
    uint64_t duration = dft_ticks_between(probe->start, end);
    uint32_t unit = long_unit > UINT32_MAX ? UINT32_MAX : (uint32_t)long_unit;
    struct dft_pieces pieces = {.count = 0};
    struct dft_slot record;
    struct item items[5];

    dft_probe_fill(&record, self, probe, call, end);
    record.call |= (uint16_t)dft_slot_marks(0, bits);
    record.bits |= bits & ~DFT_BIT_TURN;
    record.result = result;
    record.offset = offset;
    record.err = (uint16_t)err;
    add_item(&pieces, &items[0], DFT_ITEM_SIZE, &size, 8);
    if (duration >> 32)
        add_item(&pieces, &items[1], DFT_ITEM_DURATION, &duration, 8);
    if (unit > 1)
        add_item(&pieces, &items[2], DFT_ITEM_UNIT, &unit, 4);
    if (flags)
        add_item(&pieces, &items[3], DFT_ITEM_FLAGS, &flags, 4);
    if (further)
        add_item(&pieces, &items[4], DFT_ITEM_CALLS, &(uint32_t){0}, 4);
    dft_ring_put_long(self, &record, &pieces);
}

/* A call that moves no bytes, with all that its arguments say. cut: DFT_BIT_CUT when some of it
 * could not be read, or 0. */
static __attribute__((noinline)) void put_meta(struct dft_thread *self, struct dft_probe *probe,
                                               enum dft_call_number call, enum dft_op op,
                                               const struct dft_call_args *args, int64_t result, int err, uint64_t end,
                                               uint64_t file2, uint8_t cut)
{
    struct more more = {.file2 = file2, .size = args->size, .mode = args->mode, .further = args->further};
    struct dft_slot record;

    dft_probe_fill(&record, self, probe, call, end);
    record.bits |= cut;
    record.size = (uint32_t)args->flags;
    record.result = result;
    record.err = (uint16_t)err;
    if (dft_op_has_mode(op)) {
        record.offset = (int64_t)args->mode;
        more.mode = 0;
    } else if (op != DFT_OP_FSEEK) {
        record.offset = args->offset;
    }
    put(self, &record, probe, end, &more);
}

/* --- calls on paths --------------------------------------------------------------------------- */

static uint32_t open_flags(const struct dft_path_call *at)
{
    if (at->op == DFT_OP_FOPEN)
        return DFT_OPEN_STREAM | (at->fopen_mode[0] == 'a' ? DFT_OPEN_APPEND : 0u);
    return at->op == DFT_OP_OPEN && at->flags & O_APPEND ? DFT_OPEN_APPEND : 0;
}

/* A new descriptor for this path. */
static void bind_opened(struct dft_thread *self, const struct dft_path_call *at, const struct dft_path *path,
                        enum dft_io io)
{
    const int fd = (int)at->result;

    if (fd < 0 || dft_has_other_files() || dft_own_files_possible())
        return;
    if (!path->traced) {
        if (path->id || !dft_is_sandboxed()) /* else its calls count as not recorded, too */
            dft_fd_bind_untraced(fd);
        return;
    }
    dft_fd_bind(fd, (struct dft_file){path->id, io, dft_startup_is_memory(path)},
                at->op == DFT_OP_FOPEN && at->fopen_mode[0] == 'a' ? -1 : 0, open_flags(at) | DFT_OPEN_NEW);
    if (at->op != DFT_OP_FOPEN)
        dft_directory_remember(self, path, fd, at->op == DFT_OP_OPENDIR || at->flags & O_DIRECTORY);
}

/* The id of the second path. Its text is sent when either of the two is traced. */
static uint64_t second_path(struct dft_thread *self, const struct dft_path_call *at, struct dft_text text,
                            struct dft_path *first)
{
    struct dft_path path;

    if (at->target && text.length && text.bytes[0] != '/')
        dft_path_beside(&path, first, text);
    else
        dft_path_make(self, &path, at->dirfd2, text);
    first->traced |= path.traced;
    if (first->traced && (self = dft_thread_get()))
        dft_path_define(self, &path);
    dft_path_done(&path);
    return path.id;
}

/* The thread's state if there is one: calls that turn out to be of no interest make none. */
static struct dft_thread *thread_so_far(void)
{
    return *dft_generation ? dft_self : NULL;
}

/* Has the call read its paths? Of two the second is looked at after the first was followed. Two
 * calls may succeed without a look: pathconf for some names, fanotify_mark when it removes all
 * marks. */
static int has_read_paths(const struct dft_path_call *at)
{
    if (!at->err)
        return at->call != DFT_CALL_pathconf && at->call != DFT_CALL_fanotify_mark;
    return at->path2 == DFT_NO_PATH ? dft_reading_is_done(at->err) : at->err == EEXIST;
}

/* Returns 0, or -1: they cannot be read. */
static int read_paths(struct dft_text texts[2], const struct dft_path_call *at)
{
    int done = has_read_paths(at);

    return dft_reading_path(&texts[0], at->path, done) ||
                   (at->path2 != DFT_NO_PATH && dft_reading_path(&texts[1], at->path2, done))
               ? -1
               : 0;
}

/* Such a call with all that it says. */
static __attribute__((noinline)) void put_path_call(struct dft_thread *self, const struct dft_path_call *at,
                                                    struct dft_file file, uint64_t file2, uint64_t end, uint8_t cut)
{
    const struct dft_call_args args =
        DFT_ARGS(.size = at->size, .offset = at->offset, .flags = at->flags, .mode = at->mode, .further = at->further);
    struct dft_probe probe = {
        .start = at->start, .file = file.id, .class = dft_slot_marks(dft_io_code(at->op, file.io), 0), .fd = -1};

    put_meta(self, &probe, at->call, at->op, &args, at->result, at->err, end, file2, cut);
}

/* A call without its paths: the addresses are none, or nobody may ask (that is counted). */
static void end_unread(const struct dft_path_call *at, uint64_t end)
{
    struct dft_thread *self = dft_thread_get();
    uint8_t cut = dft_is_sandboxed() && !at->opened ? DFT_BIT_CUT : 0;

    if (!self)
        return;
    if (cut)
        dft_misuse(self, DFT_MISUSE_ARG_CUT, 1);
    put_path_call(self, at, (struct dft_file){0, DFT_IO_NONE, 0}, 0, end, cut);
}

/* Files below /proc and some in /dev stand for others: what was opened is known by the new
 * descriptor. */
static int stands_for_another(const struct dft_path *path)
{
    return (path->length > 6 && !memcmp(path->text, "/proc/", 6)) ||
           (path->length > 8 && !memcmp(path->text, "/dev/fd/", 8)) ||
           (path->length >= 10 && !memcmp(path->text, "/dev/std", 8));
}

/* O_TMPFILE makes a file without a name in the folder that the path names. */
static int makes_unnamed(const struct dft_path_call *at)
{
    return at->op == DFT_OP_OPEN && (at->flags & O_TMPFILE) == O_TMPFILE;
}

static void follow(struct dft_path *path, int fd)
{
    struct dft_path real;

    dft_path_of_fd(&real, fd);
    if (real.id && !real.unnamed && !stands_for_another(&real))
        dft_path_replace(path, &real);
    else
        dft_path_done(&real);
}

/* The path of a call whose paths can be read. */
static void first_path(struct dft_thread *self, struct dft_path *path, const struct dft_path_call *at,
                       struct dft_text text)
{
    if (at->opened)
        dft_path_of_fd(path, (int)at->result);
    else if (at->folder)
        dft_path_below(path, at->folder, text);
    else
        dft_path_make(self, path, at->dirfd, at->op == DFT_OP_CHDIR && !at->err ? (struct dft_text){".", 1} : text);
    if (at->opens && at->result >= 0 && (stands_for_another(path) || makes_unnamed(at) || !path->length))
        follow(path, (int)at->result);
}

/* For a path that is traced. */
static void put_on_path(struct dft_thread *self, const struct dft_path_call *at, struct dft_file file, uint64_t file2,
                        uint64_t end)
{
    const int mode_fits = dft_op_has_mode(at->op);
    struct dft_probe probe;

    if (__builtin_expect((end - at->start) >> 32 || file2 || at->size || (at->mode && !mode_fits) || at->further ||
                             dft_vfork_mark,
                         0)) {
        put_path_call(self, at, file, file2, end, 0);
        return;
    }
    probe.start = at->start;
    probe.file = file.id;
    probe.class = dft_slot_marks(dft_io_code(at->op, file.io), 0);
    probe.fd = -1;
    dft_put_slot(self, &probe, at->call, end, (uint32_t)at->flags, at->result,
                 mode_fits ? (int64_t)at->mode : at->offset, probe.class, at->err);
}

/* What a call that succeeded, or was tried, does to the meaning of other paths. */
static void note_directories(const struct dft_path_call *at)
{
    if (at->err)
        return;
    if (at->op == DFT_OP_CHDIR)
        dft_directory_of_work_changed();
    else if (at->op == DFT_OP_RENAME)
        dft_directories_renamed();
}

void dft_end_path_call(const struct dft_path_call *at)
{
    uint64_t end = dft_ticks(), file2 = 0;
    struct dft_thread *self = thread_so_far();
    enum dft_io io = DFT_IO_NONE;
    struct dft_text texts[2];
    struct dft_path path;

    if (self)
        atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    note_directories(at);
    if ((at->opened && at->err) || read_paths(texts, at)) {
        end_unread(at, end);
        return;
    }
    first_path(self, &path, at, texts[0]);
    if (at->call == DFT_CALL_chroot && !at->err)
        dft_directory_of_work_changed();
    if (at->path2 != DFT_NO_PATH)
        file2 = second_path(self, at, texts[1], &path);
    if (path.traced && (self = dft_thread_get())) {
        io = dft_startup_class(at, &path, dft_path_define(self, &path));
        put_on_path(self, at, (struct dft_file){path.id, io, 0}, file2, end);
    } else if (path.traced && at->opens && !at->err) {
        io = dft_startup_class(at, &path, dft_file_class(path.text, path.length));
        dft_path_keep(&path);
    } else if (!path.id && (at->err == EBADF || !path.length) && !dft_is_sandboxed() && dft_traced_path("/", 1) &&
               (self = dft_thread_get())) {
        /* below a number that is not open, or a directory that has no name */
        put_path_call(self, at, (struct dft_file){0, DFT_IO_NONE, 0}, 0, end, 0);
    } else if (!path.traced) {
        dft_traced_leave_out(path.text, path.length);
    }
    if (!path.id)
        dft_sandbox_drop();
    if (at->opens)
        bind_opened(self, at, &path, io);
    if (at->opens && at->op != DFT_OP_FOPEN && !at->err)
        dft_inlined_attach((int)at->result);
    if (at->opens && !at->err)
        dft_tracefile_meet((int)at->result);
    dft_path_done(&path);
}

/* --- calls on descriptors --------------------------------------------------------------------- */

void dft_stream_closed(struct dft_open *open)
{
    if (atomic_load_explicit(&open->references, memory_order_relaxed) < 2)
        return;
    atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST, memory_order_relaxed);
    atomic_fetch_and_explicit(&open->flags, ~(DFT_OPEN_STREAM | DFT_OPEN_MOVED), memory_order_relaxed);
}

void dft_end_close(uint64_t word, uint64_t start, enum dft_call_number call, int fd, int64_t result, int err)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = dft_thread_get();
    struct dft_probe probe = {.start = start, .fd = fd};

    probe.open = dft_fd_open(word);
    probe.file = probe.open->file;
    probe.class = dft_slot_marks(probe.open->io_looks, 0);
    if (!dft_has_other_files()) {
        if (call == DFT_CALL_fclose)
            dft_stream_closed(probe.open);
        else
            dft_inlined_detach(word);
        dft_fd_drop(word);
    }
    if (!self)
        return;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    if (__builtin_expect((end - start) >> 32 || dft_vfork_mark, 0)) {
        const struct dft_call_args args = DFT_ARGS(.fd = fd);
        struct dft_probe probe_copy = probe;

        put_meta(self, &probe_copy, call, DFT_OP_CLOSE, &args, result, err, end, 0, 0);
        return;
    }
    dft_put_slot(self, &probe, call, end, 0, result, -1, probe.class, err);
}

/* fseek moves the offset that the table knows. */
static void move_offset(struct dft_probe *probe, const struct dft_call_args *args)
{
    struct dft_open *open = probe->open;
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    int64_t position;
    int error = errno;

    if (!dft_probe_is_same(probe))
        return;
    if (flags & DFT_OPEN_MOVED && args->stream->_mode <= 0)
        return; /* the stream may still believe in an offset that others have moved: the next call sees whether its buffer is empty */
    if (args->flags != SEEK_SET && dft_is_sandboxed()) {
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_LOST | DFT_OPEN_STREAM, memory_order_relaxed);
        return;
    }
    position = args->flags == SEEK_SET ? args->offset : DFT_REAL(ftello)(args->stream);
    errno = error;
    if (args->flags == SEEK_END && !args->offset)
        dft_access_from_end(open, position);
    if (position >= 0) {
        dft_offset_set(open, position);
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_STREAM, memory_order_relaxed);
        atomic_fetch_and_explicit(&open->flags, ~(DFT_OPEN_LOST | DFT_OPEN_MOVED), memory_order_relaxed);
    }
}

/* New descriptors that no row follows: what was known about their numbers is no longer true. Those
 * that are no files are of no interest, unless they are requested. */
static void forget(const struct dft_call_args *args, int64_t result)
{
    int known = args->kind != DFT_KIND_FILE && !dft_traced_kind(args->kind);

    for (int i = 0; i < (args->pair ? 2 : 1); i++) {
        int fd = args->pair ? args->pair[i] : (int)result;

        if (known)
            dft_fd_bind_untraced(fd);
        else
            dft_fd_drop(dft_fd_unbind(fd));
        dft_tracefile_meet(fd);
    }
}

/* fdopen. To append, it may go to the end at once. Two streams on one description move each other's
 * offset, as another process would. */
static void stream_made(struct dft_open *open, const char *mode)
{
    uint32_t more = DFT_OPEN_STREAM | (mode[0] == 'a' ? DFT_OPEN_APPEND | DFT_OPEN_LOST : 0);

    if (atomic_load_explicit(&open->flags, memory_order_relaxed) & DFT_OPEN_STREAM)
        more |= DFT_OPEN_SHARED;
    atomic_fetch_or_explicit(&open->flags, more, memory_order_relaxed);
}

/* What a successful call does to descriptors and offsets. */
static void apply(struct dft_probe *probe, enum dft_op op, const struct dft_call_args *args, int64_t result)
{
    if (op == DFT_OP_FSEEK) /* ftell moves nothing, and may tell where the stream was */
        move_offset(probe, args);
    else if (op == DFT_OP_DUP && dft_has_other_files())
        dft_fd_share(probe->fd); /* the copy may outlive the child's exec */
    else if (op == DFT_OP_DUP) {
        dft_fd_bind_same((int)result, probe->word, probe->fd);
        dft_inlined_attach((int)result);
        dft_tracefile_meet((int)result);
    } else if (op == DFT_OP_FRESH && !dft_has_other_files())
        forget(args, result);
    else if (op == DFT_OP_CHDIR)
        dft_directory_of_work_changed();
    else if (op == DFT_OP_FOPEN && probe->open)
        stream_made(probe->open, args->fopen_mode);
}

void dft_end_fd(struct dft_probe *probe, enum dft_call_number call, enum dft_op op, const struct dft_call_args *args,
                int64_t result, int err)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self;

    if (args->errno_tells && !err)
        errno = probe->error;
    if (!err)
        apply(probe, op, args, result);
    if (__builtin_expect(!probe->open, 0)) {
        if (err == EBADF && !probe->word && op != DFT_OP_FRESH)
            dft_end_not_open(probe->start, probe->fd, call, op, args->size, args->offset, args->flags, args->mode,
                             result);
        return;
    }
    self = dft_thread_get();
    if (!self)
        return;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    put_meta(self, probe, call, op, args, result, err, end, 0, 0);
}

void dft_end_many(struct dft_probe *probe, enum dft_call_number call, const struct dft_call_args *args, int64_t result,
                  int err)
{
    uint64_t end = args->further ? probe->start : dft_ticks();
    struct dft_thread *self = dft_thread_get();

    if (!self)
        return;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    put_meta(self, probe, call, (enum dft_op)dft_call_rows[call].op, args, result, err, end, 0, 0);
}
