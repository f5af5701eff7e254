/* SPDX-License-Identifier: MIT */
/* Runs: calls on characters, lines and formatted text are too quick for an event each. An unbroken run of one call
 * on one stream by one thread is kept as one event, with the number of its calls and their bytes.
 *
 * A call that finds enough in the stream's buffer is only counted. One that finds the buffer
 * exhausted is made like any other call, between two probes, and its time is added: so a run's
 * duration is that of its refills (or flushes). Open bursts: ring/bursts.h. */
#ifndef DFT_BURST_H
#define DFT_BURST_H

#include <string.h>

#include "probe/inlined.h"
#include "probe/offset.h"
#include "ring/bursts.h"

/* Lines longer than this are events of their own, when they are timed. */
#define DFT_BURST_LINE_MAX 4096

/* A line is expected to be shorter than this: with so much in the buffer, reading it makes no
 * system call. */
#define DFT_BURST_BUFFER_MIN 256

/* A quick call: one that finds what it needs in the stream's buffer. */
struct dft_burst_call {
    FILE *stream;
    const char *text; /* that it reads or writes as a whole; NULL: another call */
    uint64_t size;
    int newline;
    int character; /* it moves one character */
    int measured;  /* its result does not tell how many bytes it moved */
    uint64_t word; /* of the descriptor */
    uint32_t started;
    int counted;                 /* with a ticket */
    struct dft_stream_mark mark; /* the area that it works on, before the call */
    const char *other;           /* the other area's pointer then: a flush moves both */
};

static inline __attribute__((always_inline)) int dft_burst_ticket_is_alone(const struct dft_burst_call *quick)
{
    return !quick->counted ||
           atomic_load_explicit(&dft_fd_open(quick->word)->started, memory_order_acquire) == quick->started + 1;
}

/* Does the call happen where the run ends? */
static inline __attribute__((always_inline)) int dft_burst_goes_on(const struct dft_burst *run,
                                                                   const struct dft_burst_call *quick)
{
    int64_t at = atomic_load_explicit(&dft_fd_open(quick->word)->offset, memory_order_relaxed);

    return !quick->counted ||
           (dft_burst_ticket_is_alone(quick) ? run->offset >= 0 && run->offset + (int64_t)dft_burst_bytes(run) == at
                                             : run->offset < 0);
}

/* Did inlined code read after a call that may have read whole buffers unseen? */
static inline __attribute__((always_inline)) int dft_burst_is_behind(const FILE *stream, const struct dft_open *open)
{
    return atomic_load_explicit(&((struct dft_open *)(uintptr_t)open)->flags, memory_order_relaxed) &
               DFT_OPEN_SCANNED &&
           dft_inlined_distance(stream, open) !=
               atomic_load_explicit(&dft_inlined_place(stream)->mark, memory_order_relaxed);
}

/* Notes the areas of the stream before the call. Is there enough in the buffer for it? */
static inline __attribute__((always_inline)) int dft_burst_look(enum dft_op op, struct dft_burst_call *quick)
{
    const FILE *stream = quick->stream;

    if (op == DFT_OP_FGETS) {
        quick->mark.at = DFT_STREAM_POINTER(stream, read_ptr);
        quick->mark.end = DFT_STREAM_POINTER(stream, read_end);
        if (quick->measured) {
            quick->mark.base = DFT_STREAM_POINTER(stream, read_base);
            if (dft_burst_is_behind(stream, dft_fd_open(quick->word)))
                return 0;
        }
        if (!quick->character)
            quick->other = DFT_STREAM_POINTER(stream, write_ptr);
    } else {
        quick->mark.at = DFT_STREAM_POINTER(stream, write_ptr);
        quick->mark.end = DFT_STREAM_POINTER(stream, write_end);
        if (!quick->character)
            quick->other = DFT_STREAM_POINTER(stream, read_ptr);
    }
    return quick->mark.end - quick->mark.at >= (quick->character ? 1 : DFT_BURST_BUFFER_MIN);
}

/* Where several threads are, it takes a ticket (offset.h), and looks again: another call may have moved the
 * stream. Returns 0 when it is not alone, or there is not enough any more. */
static inline __attribute__((always_inline)) int dft_burst_look_with_ticket(enum dft_op op,
                                                                            struct dft_burst_call *quick)
{
    struct dft_open *open = dft_fd_open(quick->word);

    quick->started = dft_ticket_add(&open->started);
    if (quick->started == atomic_load_explicit(&open->finished, memory_order_acquire) && dft_burst_look(op, quick))
        return 1;
    dft_ticket_add(&open->finished);
    return 0;
}

/* Can the call be made without a look at the clock? Of a known, traced stream whose buffer has what
 * is needed. */
static inline __attribute__((always_inline)) int dft_burst_is_quick(enum dft_op op, struct dft_burst_call *quick)
{
    const FILE *stream = quick->stream;

    if (__builtin_expect((quick->word & (DFT_FD_TRACED | DFT_FD_UNNAMED)) != DFT_FD_TRACED || dft_vfork_mark ||
                             stream->_mode > 0 || (!quick->character && ferror_unlocked(quick->stream)),
                         0))
        return 0;
    if (!dft_burst_look(op, quick))
        return 0;
    quick->counted = !dft_is_single();
    return __builtin_expect(!quick->counted, 1) || dft_burst_look_with_ticket(op, quick);
}

/* Bytes that a quick call moved; -1: it failed, more than the buffer was needed, or other threads
 * may have moved the pointers. */
static inline __attribute__((always_inline)) int64_t dft_burst_moved(enum dft_op op, const struct dft_burst_call *quick,
                                                                     int64_t raw, int pointer)
{
    int64_t moved;

    if (pointer ? !raw : raw < 0)
        return -1;
    if (quick->character)
        return 1;
    if (quick->measured) { /* an item as long as the buffer looks shorter, until the next call of another kind */
        const char *at = DFT_STREAM_POINTER(quick->stream, read_ptr);

        return dft_is_single() && at >= quick->mark.at &&
                       DFT_STREAM_POINTER(quick->stream, read_end) == quick->mark.end &&
                       DFT_STREAM_POINTER(quick->stream, write_ptr) == quick->other
                   ? at - quick->mark.at
                   : -1;
    }
    if (op == DFT_OP_FPUTS) {
        moved = quick->text ? (int64_t)strlen(quick->text) + quick->newline : raw;
        return moved < quick->mark.end - quick->mark.at ? moved : -1;
    }
    moved = DFT_STREAM_POINTER(quick->stream, read_ptr) - quick->mark.at;
    return dft_is_single() && moved > 0 && (uint64_t)moved < quick->size && !quick->text[moved] &&
                   quick->text[moved - 1] == '\n'
               ? moved
               : -1;
}

/* A timed call on characters or lines: adds it to its run, or begins one. `offset`: where it
 * happened. */
void dft_burst_add_timed(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                         const FILE *stream, int64_t offset, int64_t moved, uint64_t end, uint8_t bits);
/* The same for calls that took no time. `moved`: dft_burst_pack. */
void dft_burst_add_inlined(struct dft_thread *self, const struct dft_probe *probe, enum dft_call_number call,
                           const FILE *stream, int64_t offset, uint64_t moved, uint8_t bits);

/* The slow ways to record a quick call that was made. */
void dft_burst_begin_quick(enum dft_call_number call, enum dft_op op, const struct dft_burst_call *quick,
                           int64_t moved);
void dft_burst_finish_unsure(enum dft_call_number call, enum dft_op op, const struct dft_burst_call *quick, int64_t raw,
                             int pointer);

/* Counts a quick call with its open run. Returns 0 when there is none. */
static inline __attribute__((always_inline)) int dft_burst_add_quick(enum dft_call_number call,
                                                                     const struct dft_burst_call *quick, int64_t moved)
{
    struct dft_thread *self = dft_self;
    struct dft_open *open = dft_fd_open(quick->word);
    uint32_t flags = atomic_load_explicit(&open->flags, memory_order_relaxed);
    struct dft_burst *run;

    if (__builtin_expect(self == NULL || !*dft_generation ||
                             (quick->measured ? flags & ~DFT_OPEN_SCANNED : flags) != DFT_OPEN_STREAM,
                         0))
        return 0;
    run = dft_bursts_find(self, dft_bursts_key(quick->stream, call), quick->word);
    if (__builtin_expect(run == NULL, 0))
        return 0;
    if (__builtin_expect(!dft_burst_goes_on(run, quick), 0)) {
        atomic_store_explicit(&self->home->bursts_busy, 0, memory_order_release);
        return 0;
    }
    dft_bursts_count(run, dft_burst_pack(1, (uint64_t)moved));
    __asm__ volatile("" : : : "memory");
    atomic_store_explicit(&self->home->bursts_busy, 0, memory_order_release);
    if (dft_is_single()) {
        moved += atomic_load_explicit(&open->offset, memory_order_relaxed);
        atomic_store_explicit(&open->offset, moved, memory_order_relaxed);
    } else {
        moved += atomic_fetch_add_explicit(&open->offset, moved, memory_order_relaxed);
    }
    atomic_store_explicit(&open->last_end, moved, memory_order_relaxed);
    if (quick->measured && !(flags & DFT_OPEN_SCANNED))
        atomic_fetch_or_explicit(&open->flags, DFT_OPEN_SCANNED, memory_order_relaxed);
    return 1;
}

/* The end of a quick call. */
static inline __attribute__((always_inline)) void dft_burst_finish(enum dft_call_number call, enum dft_op op,
                                                                   const struct dft_burst_call *quick, int64_t raw,
                                                                   int pointer)
{
    int64_t moved = dft_burst_moved(op, quick, raw, pointer);

    if (__builtin_expect(moved >= 0, 1)) {
        if (__builtin_expect(!dft_burst_add_quick(call, quick, moved), 0)) {
            struct dft_burst_call copy = *quick;

            if (quick->measured)
                dft_burst_finish_unsure(call, op, &copy, raw, pointer);
            else
                dft_burst_begin_quick(call, op, &copy, moved);
        }
    } else {
        struct dft_burst_call copy = *quick;

        dft_burst_finish_unsure(call, op, &copy, raw, pointer);
    }
    if (__builtin_expect(quick->counted, 0))
        dft_ticket_add(&dft_fd_open(quick->word)->finished);
}

#endif
