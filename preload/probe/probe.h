/* SPDX-License-Identifier: MIT */
/* Begin and end of a call: what every wrapper does around the real function. `call` and `op` are
 * constants in each wrapper, so that little is left of the choices here.
 *
 * On the hot path what is handed to functions out of line is copied for it, or handed on field by
 * field: so the compiler keeps a wrapper's own probe and arguments in registers, and does not fill
 * in a structure of arguments that nobody reads. Nothing of the program's memory is touched before
 * the real call, nothing is held across it, errno stays as the real call left it (all that is done
 * here are raw system calls). */
#ifndef DFT_PROBE_H
#define DFT_PROBE_H

#include "probe/burst.h"
#include "probe/call.h"
#include "os/clock.h"
#include "probe/inlined.h"
#include "probe/offset.h"
#include "ring/ring.h"
#include "probe/probe_fd.h"

/* Ends of calls that are not about bytes. `result` as recorded; err: 0 for success. */
void dft_end_path_call(const struct dft_path_call *at);
/* word: the descriptor's, which the call's begin has taken out of the table. */
void dft_end_close(uint64_t word, uint64_t start, enum dft_call_number call, int fd, int64_t result, int err);
void dft_end_fd(struct dft_probe *probe, enum dft_call_number call, enum dft_op op, const struct dft_call_args *args,
                int64_t result, int err);
/* A call that works on no one file (close_range, fork ...): recorded without one. Or on one that it
 * does not name: probe->file. */
void dft_end_many(struct dft_probe *probe, enum dft_call_number call, const struct dft_call_args *args, int64_t result,
                  int err);
/* What all records have: times, file, descriptor, region. */
void dft_probe_fill(struct dft_slot *record, const struct dft_thread *self, const struct dft_probe *probe,
                    enum dft_call_number call, uint64_t end);
/* The stream is gone, other descriptors may be left: they go on where it has left the kernel's
 * offset. */
void dft_stream_closed(struct dft_open *open);
void dft_end_rare(const struct dft_probe *probe, enum dft_call_number call, uint64_t long_unit, uint32_t flags,
                  int64_t result, uint64_t size, int64_t offset, uint64_t end, uint8_t bits, int err, int further);

/* Shows a killed process's call. */
static inline void dft_flight_begin(const struct dft_probe *probe, enum dft_call_number call)
{
    struct dft_thread *self = dft_self;

    if (__builtin_expect(self != NULL && *dft_generation, 1)) {
#if !defined(__x86_64__)
        /* The last call was over before. x86-64 keeps the order of stores. */
        atomic_thread_fence(memory_order_release);
#endif
        self->home->flight_start = probe->start;
        self->home->flight_file = probe->file;
        self->home->flight_fd = probe->fd;
        atomic_store_explicit(&self->home->flight_call, call | probe->class, memory_order_release);
    }
}

/* The descriptor of a call that has no path. */
static inline __attribute__((always_inline)) int dft_probe_fd(const struct dft_call_args *args)
{
    return args->stream ? dft_stream_fd(args->stream) : args->dir ? dft_dir_fd(args->dir) : args->fd;
}

/* Its word. A stream in memory has a number below 0, any other call on such a number fails. */
static inline __attribute__((always_inline)) uint64_t dft_probe_word(const struct dft_call_args *args, int fd)
{
    return dft_fd_word_or(fd, args->stream ? DFT_FD_UNTRACED : 0);
}

/* Is the call of no interest, as far as a look at the table tells? Has no effect; for those it must
 * cost next to nothing. */
static inline __attribute__((always_inline)) int dft_probe_is_idle(enum dft_op op, const struct dft_call_args *args,
                                                                   int on)
{
    if (__builtin_expect(!(dft_on & on), 0))
        return 1;
    if (!dft_op_is_data(op) && op != DFT_OP_SEEK && op != DFT_OP_STAT)
        return 0;
    if (args->path != DFT_NO_PATH)
        return 0;
    return (dft_probe_word(args, args->stream ? dft_stream_fd(args->stream) : args->fd) & DFT_FD_UNTRACED) != 0 &&
           !dft_vfork_mark;
}

/* --- before a call ---------------------------------------------------------------------------- */

/* What dft_probe_begin does, by what a call works on. Each part vanishes from the wrappers that it
 * does not concern. */
enum dft_begun {
    DFT_BEGUN_NOT,   /* the call is of no interest */
    DFT_BEGUN_ALONE, /* it is recorded, or changes what is known, without a description */
    DFT_BEGUN_ON_FILE
};

/* The class of a call on this description, as a record has it. */
static inline uint32_t dft_probe_class(const struct dft_open *open, enum dft_op op)
{
    if (dft_op_io(op) == DFT_IO_NONE)
        return 0;
    return dft_slot_marks(dft_op_only_looks(op) ? open->io_looks : open->io_changes, 0);
}

/* Calls on a descriptor: its word, queried from the kernel where nothing is known. */
static inline __attribute__((always_inline)) enum dft_begun
dft_begin_descriptor(struct dft_probe *probe, enum dft_op op, const struct dft_call_args *args)
{
    uint64_t word;

    probe->fd = dft_probe_fd(args);
    if (dft_has_other_files())
        word = probe->fd < 0 ? dft_probe_word(args, probe->fd) : dft_probe_resolve_in_child(probe->fd);
    else if (dft_op_effect(op) == DFT_EFFECT_CLOSES)
        word = dft_fd_unbind(probe->fd);
    else
        word = dft_probe_word(args, probe->fd);
    if (__builtin_expect((word & (DFT_FD_TRACED | DFT_FD_UNNAMED)) != DFT_FD_TRACED, 0)) {
        if (word & DFT_FD_UNTRACED && op != DFT_OP_FRESH) {
            probe->word = word;
            return op == DFT_OP_DUP || op == DFT_OP_CHDIR ? DFT_BEGUN_ALONE : DFT_BEGUN_NOT;
        }
        if ((op == DFT_OP_DUP && !word) || op == DFT_OP_FRESH) {
            probe->start = dft_ticks();
            return DFT_BEGUN_ALONE;
        }
        if (dft_op_effect(op) != DFT_EFFECT_CLOSES)
            word = dft_probe_resolve(probe->fd, word);
        if (!(word & DFT_FD_TRACED)) {
            probe->start = dft_ticks();
            /* The working directory changes, whatever is traced. */
            return op == DFT_OP_CHDIR ? DFT_BEGUN_ALONE : DFT_BEGUN_NOT;
        }
    }
    probe->word = word;
    probe->place = __builtin_expect(dft_vfork_mark, 0) ? dft_probe_place(probe->fd) : dft_fd_place(probe->fd);
    probe->open = dft_fd_open(word);
    probe->file = probe->open->file;
    probe->class = dft_probe_class(probe->open, op);
    return DFT_BEGUN_ON_FILE;
}

/* Calls at an offset: the descriptor's, which they move, or one of their own. */
static inline __attribute__((always_inline)) void dft_begin_offset(struct dft_probe *probe, enum dft_op op,
                                                                   const struct dft_call_args *args)
{
    if (dft_op_effect(op) == DFT_EFFECT_MOVES)
        dft_offset_begin(probe, op);
    if (op == DFT_OP_SEEK)
        dft_ticket_begin(probe);
    if (dft_op_effect(op) == DFT_EFFECT_AT) {
        probe->effective = DFT_EFFECTIVE_AS_GIVEN;
        if (__builtin_expect(dft_offset_is_overridden(probe->open, op, args), 0)) {
            struct dft_probe copy = *probe;

            dft_probe_begin_effective(&copy, op, args->offset, args->flags);
            probe->effective = copy.effective;
            probe->offset = copy.offset;
            probe->started = copy.started;
            probe->finished = copy.finished;
            probe->asked = copy.asked;
        }
    }
}

/* Calls on a stream: what inlined code has moved comes first, and bursts of other calls end. The ticket is taken
 * before anything of the stream is looked at. */
static inline __attribute__((always_inline)) void dft_begin_stream(struct dft_probe *probe, enum dft_op op,
                                                                   const struct dft_call_args *args)
{
    const int takes_ticket = dft_op_effect(op) == DFT_EFFECT_STREAM;
    uint32_t flags, tickets = 0;

    if (takes_ticket)
        probe->counted = 0;
    if (takes_ticket && args->stream && probe->open) {
        dft_stream_ticket_begin(probe);
        tickets = (uint32_t)probe->counted;
    }
    if (op == DFT_OP_FGETS && (args->measured || args->text))
        dft_stream_mark(args->stream, &probe->mark);
    if (op == DFT_OP_FPUTS && args->measured)
        dft_stream_mark_written(args->stream, &probe->mark);
    if (args->system && op == DFT_OP_FFLUSH)
        dft_inlined_sync_all();
    if (!args->stream || !probe->open)
        return;
    flags = atomic_load_explicit(&probe->open->flags, memory_order_relaxed);
    if (__builtin_expect(flags & (DFT_OPEN_SCANNED | DFT_OPEN_LOST | DFT_OPEN_MOVED), 0)) {
        probe->inlined = dft_inlined_sync_slow(args->stream, probe->open, probe->word, tickets);
        if (dft_op_effect(op) == DFT_EFFECT_STREAM && flags & (DFT_OPEN_LOST | DFT_OPEN_MOVED))
            dft_stream_find(probe->open, args->stream);
    } else {
        probe->inlined = dft_inlined_sync(args->stream, probe->open, probe->word, 0, tickets);
    }
    if (dft_op_effect(op) == DFT_EFFECT_CLOSES)
        dft_inlined_forget(args->stream);
    if (!args->run && dft_self && dft_self->bursts_open)
        dft_bursts_break(dft_self, args->stream, DFT_CALL_NONE);
}

/* Calls of which errno alone tells whether they failed: it is set to what no call sets. */
static inline __attribute__((always_inline)) void dft_begin_errno(struct dft_probe *probe, enum dft_op op,
                                                                  const struct dft_call_args *args)
{
    probe->stale_error = dft_op_effect(op) == DFT_EFFECT_STREAM && args->stream && ferror_unlocked(args->stream);
    if (args->errno_tells || __builtin_expect(probe->stale_error, 0)) {
        probe->error = errno;
        errno = args->errno_tells ? 0 : DFT_NO_ERRNO;
    }
}

/* Returns 0 when the call is of no interest; then the wrapper just makes it. */
static inline __attribute__((always_inline)) int dft_probe_begin(struct dft_probe *probe, enum dft_call_number call,
                                                                 enum dft_op op, const struct dft_call_args *args,
                                                                 int on)
{
    if (__builtin_expect(!(dft_on & on), 0))
        return 0;
    probe->open = NULL;
    probe->file = 0;
    probe->class = 0;
    probe->word = 0;
    if (args->path != DFT_NO_PATH || args->system) {
        probe->fd = -1;
    } else {
        enum dft_begun begun = dft_begin_descriptor(probe, op, args);

        if (__builtin_expect(begun != DFT_BEGUN_ON_FILE, 0)) {
            if (args->stream && dft_op_effect(op) == DFT_EFFECT_CLOSES) /* whatever its number means now */
                dft_inlined_forget(args->stream);
            return begun == DFT_BEGUN_ALONE;
        }
        dft_begin_offset(probe, op, args);
    }
    dft_begin_stream(probe, op, args);
    dft_begin_errno(probe, op, args);
    probe->start = dft_ticks();
    dft_flight_begin(probe, call);
    return 1;
}

/* --- after a call ----------------------------------------------------------------------------- */

/* Appends a one-slot record. Never called in a vfork child. marks: its bits, and those of `call` above the number. */
static inline __attribute__((always_inline)) void dft_put_slot(struct dft_thread *self, const struct dft_probe *probe,
                                                               enum dft_call_number call, uint64_t end, uint32_t size,
                                                               int64_t result, int64_t offset, uint32_t marks, int err)
{
    struct dft_slot record;

    record.size = size;
    record.start = probe->start;
    record.duration = (uint32_t)(end - probe->start);
    record.call = (uint16_t)(call | (marks & ~DFT_SLOT_CALL_MASK));
    record.bits = (uint8_t)marks;
    record.file = probe->file;
    record.result = result;
    record.offset = offset;
    record.fd = probe->fd;
    record.err = (uint16_t)err;
    record.region = dft_region_innermost(self, &record.depth);
    dft_ring_put(self, &record);
}

/* One data call into the ring. moved: bytes; result: as recorded. */
static inline __attribute__((always_inline)) void dft_end_data(struct dft_probe *probe, enum dft_call_number call,
                                                               enum dft_op op, const struct dft_call_args *args,
                                                               int64_t result, int64_t moved, int err)
{
    uint64_t end = args->further ? probe->start : dft_ticks(), size = args->size;
    struct dft_thread *self = dft_thread_get();
    int64_t offset = args->offset;
    uint32_t marks;

    if (__builtin_expect(self == NULL, 0)) {
        struct dft_probe probe_copy = *probe;

        dft_end_unrecorded(&probe_copy);
        return;
    }
    if (dft_op_effect(op) == DFT_EFFECT_MOVES)
        offset = dft_offset_end(probe, moved);
    else if (dft_op_effect(op) == DFT_EFFECT_STREAM) {
        offset = dft_probe_is_same(probe)
                     ? dft_stream_offset(args->stream, probe->open, dft_stream_ticket_is_alone(probe), op, moved)
                     : -1;
        offset = dft_stream_settle(offset, dft_stream_ticket_is_alone(probe));
        if (args->unit > 1 && (uint64_t)moved < size) /* it may have moved a part of an item too */
            dft_stream_resync(probe->open, args->stream);
    }
    if (dft_op_effect(op) == DFT_EFFECT_AT && __builtin_expect(probe->effective, 0)) {
        struct dft_probe probe_copy = *probe;

        offset = dft_probe_end_effective(&probe_copy, moved);
    }
    if (args->iov)
        size = result >= 0 ? dft_iov_bytes(args->iov, args->iovcnt) : 0;
    if (args->unsized || ((args->measured || args->run) && !args->size))
        size = (uint64_t)moved;
    marks = 0;
    if (dft_probe_is_same(probe))
        marks = dft_access_marks(probe->open, op, offset, moved) | dft_probe_class(probe->open, op);
    /* Only now: the code above may query the kernel for the offset, and many a killed process ends in a
     * system call. */
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    if (args->run && !err && __builtin_expect(!dft_vfork_mark, 1)) {
        struct dft_probe probe_copy = *probe;

        probe_copy.class = marks & DFT_SLOT_IO_MASK;
        dft_burst_add_timed(self, &probe_copy, call, args->stream, offset, moved, end, dft_event_bits(marks));
        return;
    }
    if (__builtin_expect(((end - probe->start) | size | (uint64_t)moved | (args->unit > 1 ? args->unit : 0)) >> 32 ||
                             dft_vfork_mark || args->further || (args->flags && dft_op_is_data(op)),
                         0)) {
        struct dft_probe probe_copy = *probe;

        probe_copy.class = marks & DFT_SLOT_IO_MASK;
        dft_end_rare(&probe_copy, call, args->unit, (uint32_t)args->flags, result, size, offset, end,
                     dft_event_bits(marks), err, args->further);
        return;
    }
    if (args->unit > 1 && result >= 0) {
        marks |= DFT_SLOT_UNIT;
        result = (int64_t)((uint64_t)result | args->unit << 32);
    }
    dft_put_slot(self, probe, call, end, (uint32_t)size, result, offset, marks, err);
}

/* A call on a descriptor of which one slot has room for all that it says. Returns 0: this is one of
 * the rest. */
static inline __attribute__((always_inline)) int dft_end_quick(struct dft_probe *probe, enum dft_call_number call,
                                                               enum dft_op op, const struct dft_call_args *args,
                                                               int64_t result, int err)
{
    uint64_t end = dft_ticks();
    struct dft_thread *self = dft_self;

    if (op == DFT_OP_FSEEK || op == DFT_OP_FOPEN || op == DFT_OP_DUP || op == DFT_OP_FRESH || op == DFT_OP_CHDIR)
        return 0;
    if (__builtin_expect(!self || !*dft_generation || dft_vfork_mark || !probe->open || (end - probe->start) >> 32 ||
                             args->size || (args->mode && !dft_op_has_mode(op)) || args->further,
                         0))
        return 0;
    if (args->errno_tells && !err)
        errno = probe->error;
    atomic_store_explicit(&self->home->flight_call, 0, memory_order_relaxed);
    dft_put_slot(self, probe, call, end, (uint32_t)args->flags, result,
                 dft_op_has_mode(op) ? (int64_t)args->mode : args->offset, probe->class, err);
    return 1;
}

static inline __attribute__((always_inline)) void dft_end_on_fd(struct dft_probe *probe, enum dft_call_number call,
                                                                enum dft_op op, const struct dft_call_args *args,
                                                                int64_t result, int err)
{
    if (!dft_end_quick(probe, call, op, args, result, err)) {
        struct dft_probe probe_copy = *probe;
        struct dft_call_args args_copy = DFT_ARGS(.fd = args->fd);

        args_copy.stream = args->stream;
        args_copy.size = args->size;
        args_copy.offset = args->offset;
        args_copy.flags = op == DFT_OP_FOPEN ? dft_stream_flags(args->fopen_mode) & ~(O_CREAT | O_TRUNC | O_EXCL)
                                             : args->flags; /* it is open */
        args_copy.mode = args->mode;
        args_copy.fopen_mode = args->fopen_mode;
        args_copy.pair = args->pair;
        args_copy.kind = args->kind;
        args_copy.further = args->further;
        args_copy.errno_tells = args->errno_tells;
        dft_end_fd(&probe_copy, call, op, &args_copy, result, err);
    }
}

static inline __attribute__((always_inline)) void dft_end_path(const struct dft_probe *probe, enum dft_call_number call,
                                                               enum dft_op op, const struct dft_call_args *args,
                                                               int64_t result, int err)
{
    const int names = op == DFT_OP_FOPEN && !args->opened; /* the C library makes tmpfile's file in its own way */
    const int flags = names ? dft_stream_flags(args->fopen_mode) : args->flags;
    const struct dft_path_call at = {.start = probe->start,
                                     .result = result,
                                     .path = args->path,
                                     .path2 = args->path2,
                                     .fopen_mode = args->fopen_mode,
                                     .folder = args->folder,
                                     .caller = __builtin_return_address(0),
                                     .size = args->size,
                                     .offset = args->offset,
                                     .dirfd = args->dirfd,
                                     .dirfd2 = args->dirfd2,
                                     .flags = flags,
                                     .mode = names ? DFT_STREAM_PERMISSIONS(flags) : args->mode,
                                     .err = err,
                                     .call = (uint16_t)call,
                                     .op = (uint8_t)op,
                                     .opens = dft_op_effect(op) == DFT_EFFECT_OPENS,
                                     .opened = (uint8_t)args->opened,
                                     .target = (uint8_t)args->target,
                                     .further = (uint8_t)args->further};

    if (args->errno_tells && !err)
        errno = probe->error;
    dft_end_path_call(&at);
}

/* The end of a call on a stream: its mark, and then its ticket. Who comes between sees that it is not alone. */
static inline __attribute__((always_inline)) void dft_end_stream(const struct dft_probe *probe, enum dft_op op,
                                                                 FILE *stream)
{
    const int counted = dft_op_effect(op) == DFT_EFFECT_STREAM && probe->counted;

    dft_inlined_mark(op, probe->inlined, stream, probe->open, probe->word, (uint32_t)counted);
    if (counted)
        dft_stream_ticket_end(probe);
}

/* The end of any call: `result` is what the function returned, pointers as numbers. */
static inline __attribute__((always_inline)) void dft_probe_end(struct dft_probe *probe, enum dft_call_number call,
                                                                enum dft_op op, const struct dft_call_args *args,
                                                                int64_t result, int failed)
{
    int err = !failed ? 0 : args->returns_error ? (int)result : errno;

    if (op == DFT_OP_SEEK && probe->open) {
        dft_seek_end(probe, failed ? -1 : result);
        if (__builtin_expect(args->flags == SEEK_END, 0)) {
            struct dft_probe probe_copy = *probe;

            dft_access_from(&probe_copy, failed ? -1 : result);
        }
    }
    if (args->status && !failed && probe->open &&
        atomic_load_explicit(&probe->open->flags, memory_order_relaxed) & DFT_OPEN_NEW && dft_probe_is_same(probe))
        dft_probe_learn(probe->open, args->status);
    if (dft_op_is_data(op)) {
        dft_end_data(probe, call, op, args, result, result > 0 ? result * (int64_t)args->unit : 0, err);
    } else if (dft_op_effect(op) == DFT_EFFECT_CLOSES) {
        dft_end_close(probe->word, probe->start, call, probe->fd, result, err);
    } else if (args->path != DFT_NO_PATH) {
        dft_end_path(probe, call, op, args, result, err);
    } else if (args->system) {
        struct dft_probe probe_copy = *probe;
        struct dft_call_args args_copy = *args;

        dft_end_many(&probe_copy, call, &args_copy, result, err);
    } else {
        dft_end_on_fd(probe, call, op, args, result, err);
    }
    if (args->system && op == DFT_OP_FFLUSH)
        dft_inlined_mark_all();
    else if (args->stream && probe->open && dft_op_effect(op) != DFT_EFFECT_CLOSES)
        dft_end_stream(probe, op, args->stream);
}

#endif
