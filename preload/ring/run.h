/* Runs: calls on characters and lines are too quick for an event each. An unbroken run of one call on one stream by one thread is kept as one
 * event, with the number of its calls and their bytes.
 *
 * A call that finds enough in the stream's buffer is only counted. One that finds the buffer exhausted is made like any other call, between two
 * probes, and its time is added: so a run's duration is that of its refills (or flushes).
 *
 * Open runs stand in the thread's first ring in the live file, so a killed process's are found there. Another call of the thread on the
 * stream ends the run, so does a region that begins or ends, and the end of the thread; then it becomes a record.
 *
 *   who                           may                        with whom at the same time
 *   the owner                     begin, add, end            nobody: `runs_busy` is set meanwhile
 *   its signal handlers           the same, unless busy      -
 *   finaliser, after dft_late     take open runs that are    an owner that does not see dft_late yet: it is busy
 *                                 not busy
 */
#ifndef DFT_RUN_H
#define DFT_RUN_H

#include <string.h>

#include "probe/probe.h"

/* Lines longer than this are events of their own, when they are timed. */
#define DFT_RUN_LINE 4096

/* A line is expected to be shorter than this: with so much in the buffer, reading it makes no system call. */
#define DFT_RUN_ROOM 256

/* A quick call: one that finds what it needs in the stream's buffer. */
struct dft_run_call {
    FILE *stream;
    const char *text; /* NULL: a character */
    uint64_t size;
    int newline;
    uint64_t word; /* of the descriptor */
    uint32_t started;
    int counted;                 /* as a turn */
    struct dft_stream_mark mark; /* the area that it works on, before the call */
};

static inline uint64_t dft_run_key(const FILE *stream, enum dft_call_number call)
{
    return (uint64_t)(uintptr_t)stream ^ (uint64_t)call << 48;
}

/* Where several threads are, it is a turn (offset.h). Returns 0 when it is not alone. */
static inline __attribute__((always_inline)) int dft_run_turn_begin(struct dft_run_call *quick)
{
    struct dft_open *open = dft_fd_open(quick->word);

    quick->counted = !dft_is_single();
    if (__builtin_expect(!quick->counted, 1))
        return 1;
    quick->started = dft_turn_add(&open->started);
    if (quick->started == atomic_load_explicit(&open->finished, memory_order_acquire))
        return 1;
    dft_turn_add(&open->finished);
    return 0;
}

static inline __attribute__((always_inline)) int dft_run_turn_is_alone(const struct dft_run_call *quick)
{
    return !quick->counted ||
           atomic_load_explicit(&dft_fd_open(quick->word)->started, memory_order_acquire) == quick->started + 1;
}

/* Does the call happen where the run ends? */
static inline __attribute__((always_inline)) int dft_run_goes_on(const struct dft_run *run,
                                                                 const struct dft_run_call *quick)
{
    int64_t at = atomic_load_explicit(&dft_fd_open(quick->word)->offset, memory_order_relaxed);

    return !quick->counted ||
           (dft_run_turn_is_alone(quick) ? run->offset >= 0 && run->offset + (int64_t)dft_run_bytes(run) == at
                                         : run->offset < 0);
}

/* Can the call be made without a look at the clock? Of a known, traced stream whose buffer has what is needed. */
static inline __attribute__((always_inline)) int dft_run_is_quick(enum dft_op op, struct dft_run_call *quick)
{
    const FILE *stream = quick->stream;

    if (__builtin_expect((quick->word & (DFT_FD_TRACED | DFT_FD_UNNAMED)) != DFT_FD_TRACED || dft_vfork_mark ||
                             stream->_mode > 0 || (quick->text && ferror_unlocked(quick->stream)),
                         0))
        return 0;
    if (op == DFT_OP_FGETS) {
        quick->mark.at = DFT_STREAM_POINTER(stream, read_ptr);
        quick->mark.end = DFT_STREAM_POINTER(stream, read_end);
    } else {
        quick->mark.at = DFT_STREAM_POINTER(stream, write_ptr);
        quick->mark.end = DFT_STREAM_POINTER(stream, write_end);
    }
    return quick->mark.end - quick->mark.at >= (quick->text ? DFT_RUN_ROOM : 1) && dft_run_turn_begin(quick);
}

/* Bytes that a quick call moved; -1: it failed, more than the buffer was needed, or other threads may have moved the pointers. */
static inline __attribute__((always_inline)) int64_t dft_run_moved(enum dft_op op, const struct dft_run_call *quick,
                                                                   int64_t raw, int pointer)
{
    int64_t moved;

    if (!quick->text)
        return raw == -1 ? -1 : 1;
    if (pointer ? !raw : raw == -1)
        return -1;
    if (op == DFT_OP_FPUTS)
        return (int64_t)strlen(quick->text) + quick->newline;
    moved = DFT_STREAM_POINTER(quick->stream, read_ptr) - quick->mark.at;
    return dft_is_single() && moved > 0 && (uint64_t)moved < quick->size && !quick->text[moved] &&
                   quick->text[moved - 1] == '\n'
               ? moved
               : -1;
}

/* The slow ways to record a quick call that was made. */
void dft_run_begin_quick(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int64_t moved);
void dft_run_finish_unsure(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int64_t raw,
                           int pointer);

/* Ends all runs of this thread. */
void dft_run_break_all(struct dft_thread *self);
/* They go on in another ring, which becomes the thread's `home`. Returns 0, or -1: not now. Signals blocked. */
int dft_run_move_all(struct dft_thread *self, struct dft_ring *to);

/* So that neither number overflows into the other. */
static inline int dft_run_has_room(const struct dft_run *run)
{
    uint64_t moved = atomic_load_explicit(&((struct dft_run *)(uintptr_t)run)->moved, memory_order_relaxed);

    return !(moved & (UINT64_C(1) << 63 | UINT64_C(1) << (DFT_RUN_CALL_BITS - 1)));
}

static inline void dft_run_add(struct dft_run *run, uint64_t moved)
{
    atomic_store_explicit(&run->moved, atomic_load_explicit(&run->moved, memory_order_relaxed) + moved,
                          memory_order_relaxed);
}

/* The open run of a call, its place locked; NULL: there is none, or it cannot go on. */
static inline __attribute__((always_inline)) struct dft_run *dft_run_find(struct dft_thread *self, uint64_t key,
                                                                          uint64_t word)
{
    struct dft_ring *home = self->home;
    uint32_t i = 0;

    if (__builtin_expect(atomic_load_explicit(&home->runs_busy, memory_order_relaxed), 0))
        return NULL;
    atomic_store_explicit(&home->runs_busy, 1, memory_order_relaxed);
    __asm__ volatile("" : : : "memory");
    while (i < DFT_RUNS && self->run_keys[i] != key)
        i++;
    if (__builtin_expect(i < DFT_RUNS && self->run_words[i] == word && !*(volatile int *)&dft_late &&
                             atomic_load_explicit(&home->runs[i].call, memory_order_relaxed) != DFT_CALL_NONE &&
                             dft_run_has_room(&home->runs[i]),
                         1))
        return &home->runs[i];
    atomic_store_explicit(&home->runs_busy, 0, memory_order_release);
    return NULL;
}

/* Counts a quick call with its open run. Returns 0 when there is none. */
static inline __attribute__((always_inline)) int dft_run_add_quick(enum dft_call_number call,
                                                                   const struct dft_run_call *quick, int64_t moved)
{
    struct dft_thread *self = dft_self;
    struct dft_open *open = dft_fd_open(quick->word);
    struct dft_run *run;

    if (__builtin_expect(self == NULL || !*dft_generation ||
                             atomic_load_explicit(&open->flags, memory_order_relaxed) != DFT_OPEN_STREAM,
                         0))
        return 0;
    run = dft_run_find(self, dft_run_key(quick->stream, call), quick->word);
    if (__builtin_expect(run == NULL, 0))
        return 0;
    if (__builtin_expect(!dft_run_goes_on(run, quick), 0)) {
        atomic_store_explicit(&self->home->runs_busy, 0, memory_order_release);
        return 0;
    }
    dft_run_add(run, dft_run_pack(1, (uint64_t)moved));
    __asm__ volatile("" : : : "memory");
    atomic_store_explicit(&self->home->runs_busy, 0, memory_order_release);
    if (dft_is_single())
        atomic_store_explicit(&open->offset, atomic_load_explicit(&open->offset, memory_order_relaxed) + moved,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&open->offset, moved, memory_order_relaxed);
    return 1;
}

/* The end of a quick call. */
static inline __attribute__((always_inline)) void
dft_run_finish(enum dft_call_number call, enum dft_op op, const struct dft_run_call *quick, int64_t raw, int pointer)
{
    int64_t moved = dft_run_moved(op, quick, raw, pointer);

    if (__builtin_expect(moved >= 0, 1)) {
        if (__builtin_expect(!dft_run_add_quick(call, quick, moved), 0)) {
            struct dft_run_call copy = *quick;

            dft_run_begin_quick(call, op, &copy, moved);
        }
    } else {
        struct dft_run_call copy = *quick;

        dft_run_finish_unsure(call, op, &copy, raw, pointer);
    }
    if (__builtin_expect(quick->counted, 0))
        dft_turn_add(&dft_fd_open(quick->word)->finished);
}

#endif
