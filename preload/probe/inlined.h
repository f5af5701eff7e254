/* SPDX-License-Identifier: MIT */
/* getc_unlocked and putc_unlocked are inlined by the headers of the C library: only the calls that
 * find the buffer used up reach it, as __uflow and __overflow. Inlined code moves read_ptr or
 * write_ptr within the buffer, and nothing else does so between two calls that are seen. How far
 * they moved is counted at the next call that is seen, as calls of getc and putc that took no time.
 *
 * Each stream has a mark: its pointers, less the offset that its description is known to have. Quick
 * calls (burst.h) move both alike, so the mark is set after all other calls alone. No offset of the
 * kernel's is needed: the mark serves pipes, shared and appending descriptors, too.
 *
 *   who                     may
 *   any thread, any time    all of these; where other threads use the stream meanwhile, what
 *                           inlined code moved at that time may stay uncounted */
#ifndef DFT_INLINED_H
#define DFT_INLINED_H

#include "format/ops.h"
#include "os/self.h"
#include "probe/stream.h"
#include "tables/fdtable.h"

#define DFT_INLINED_STREAMS 1024u
#define DFT_INLINED_NONE    INT64_MIN

struct dft_inlined {
    _Atomic(FILE *) stream; /* NULL: free */
    _Atomic int64_t mark;   /* DFT_INLINED_NONE unless `word` is the descriptor's */
    _Atomic uint64_t word;  /* the descriptor's at the mark; another one: what moved since is not known */
    _Atomic int32_t fd;
    _Atomic int16_t back;  /* bytes that were pushed back: they count when they are read the first time */
    _Atomic int16_t waits; /* the last call's character is in the buffer, and not counted yet */
};
_Static_assert(sizeof(struct dft_inlined) == 32, "an address without its low bits finds the place");

extern struct dft_inlined dft_inlined_streams[DFT_INLINED_STREAMS] DFT_HIDDEN;

/* Where the stream's mark is, unless another stream was there first. */
static inline struct dft_inlined *dft_inlined_place(const FILE *stream)
{
    const uintptr_t last = sizeof dft_inlined_streams - sizeof *dft_inlined_streams;

    return (struct dft_inlined *)((uintptr_t)dft_inlined_streams + ((uintptr_t)stream & last));
}

/* What the mark is set to. The stream's address is a part of it, so that no other stream's mark is the
 * same. */
static inline __attribute__((always_inline)) int64_t dft_inlined_distance(const FILE *stream,
                                                                          const struct dft_open *open)
{
    return (int64_t)((uintptr_t)DFT_STREAM_POINTER(stream, read_ptr) +
                     (uintptr_t)DFT_STREAM_POINTER(stream, write_ptr) + (uintptr_t)stream) -
           atomic_load_explicit(&((struct dft_open *)(uintptr_t)open)->offset, memory_order_relaxed);
}

/* tickets: that the caller has on the description (offset.h). */
struct dft_inlined *dft_inlined_count(FILE *stream, struct dft_open *open, uint64_t word, int64_t moved,
                                      uint32_t tickets);
struct dft_inlined *dft_inlined_mark_slow(FILE *stream, struct dft_open *open, uint64_t word, uint32_t tickets);

/* Before a call on the stream, or when it has moved a pointer so far: counts what inlined code moved
 * before it. Returns the stream's place; NULL: it has none that holds. */
static inline __attribute__((always_inline)) struct dft_inlined *
dft_inlined_sync(FILE *stream, struct dft_open *open, uint64_t word, int64_t moved, uint32_t tickets)
{
    struct dft_inlined *at = dft_inlined_place(stream);

    return __builtin_expect(
               dft_inlined_distance(stream, open) - moved == atomic_load_explicit(&at->mark, memory_order_relaxed), 1)
               ? at
               : dft_inlined_count(stream, open, word, moved, tickets);
}

/* A quick call that does not tell how much it read may have read whole buffers more than the pointers tell:
 * counts them, by the kernel's offset, before a call of another kind. Since then the pointers and the
 * stream have moved by so much. */
void dft_inlined_count_scanned(FILE *stream, struct dft_open *open, uint64_t word, int64_t pointers, int64_t moved,
                               uint32_t tickets);
/* The two in their order, where there may be such a call. */
struct dft_inlined *dft_inlined_sync_slow(FILE *stream, struct dft_open *open, uint64_t word, uint32_t tickets);

/* After it. `at`: what was returned before. A seek and a flush drop what was pushed back. */
static inline __attribute__((always_inline)) void dft_inlined_mark(enum dft_op op, struct dft_inlined *at, FILE *stream,
                                                                   struct dft_open *open, uint64_t word,
                                                                   uint32_t tickets)
{
    if (__builtin_expect(!at || !dft_is_single(), 0))
        at = dft_inlined_mark_slow(stream, open, word, tickets);
    else
        atomic_store_explicit(&at->mark, dft_inlined_distance(stream, open), memory_order_relaxed);
    if ((op == DFT_OP_FSEEK || op == DFT_OP_FFLUSH) && at)
        atomic_store_explicit(&at->back, 0, memory_order_relaxed);
}

/* After a call that left the stream less far than it is counted: so many bytes were pushed back, or
 * one character waits in the buffer of a call that is counted. */
void dft_inlined_pushed_back(const FILE *stream, int64_t bytes);
void dft_inlined_waits(const FILE *stream);

/* The offset of the description went so far ahead, and no stream on it did. */
void dft_inlined_shift(const struct dft_open *open, int64_t by);

/* The stream ends. */
void dft_inlined_forget(const FILE *stream);
/* The descriptor with this word ends, and not its stream: what is in the buffer goes to the next file
 * of the same number. That is the second. */
void dft_inlined_detach_slow(uint64_t word);
void dft_inlined_attach_slow(int fd);

extern int dft_inlined_detached DFT_HIDDEN; /* there may be such streams */

static inline void dft_inlined_detach(uint64_t word)
{
    if (__builtin_expect(word & DFT_FD_TRACED &&
                             atomic_load_explicit(&dft_fd_open(word)->flags, memory_order_relaxed) & DFT_OPEN_STREAM,
                         0))
        dft_inlined_detach_slow(word);
}

static inline void dft_inlined_attach(int fd)
{
    if (__builtin_expect(__atomic_load_n(&dft_inlined_detached, __ATOMIC_RELAXED), 0))
        dft_inlined_attach_slow(fd);
}

/* All streams: before they may all be flushed, and after that. The first also at a fork and at the
 * end of the process. */
void dft_inlined_sync_all(void);
void dft_inlined_mark_all(void);

#endif
