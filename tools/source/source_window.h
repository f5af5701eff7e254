/* SPDX-License-Identifier: MIT */
/* One window of time: the events that start in it, in global order. */
#ifndef DFT_SOURCE_WINDOW_H
#define DFT_SOURCE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

struct dft_filter;

#define DFT_WINDOW_BYTES (UINT64_C(256) << 20) /* of arguments' texts */

/* For callers who keep less of an event than the whole: events window by window of time, in no order within one. */
struct dft_sweep {
    void *context;
    size_t most; /* events that a window may hold; more only of one nanosecond */
    /* Keeps what it needs of those events of a batch that start in [from, to] and that it wants. Any thread, told apart by
     * `worker`. Returns their number, or -errno. */
    int64_t (*keep)(void *context, unsigned worker, const struct dft_source_process *process,
                    const struct dft_batch *batch, uint64_t from, uint64_t to);
    int (*window)(void *context); /* the window is complete: what comes starts behind all that was kept so far */
    void (*clear)(void *context); /* forgets what was kept since the last window: it comes again */
};

struct dft_window {
    struct dft_source *source;
    const struct dft_filter *filter; /* NULL: every event */
    const struct dft_sweep *sweep;   /* keeps the events instead of the window; or NULL */
    size_t most;                     /* events it may hold */
    uint64_t from, to;               /* events that start in [from, to] */
    const struct dft_block **blocks; /* in the order of process key, tid, stream, first */
    size_t count;
    struct dft_slice *slices; /* the events of each block; as many as blocks at most, zeroed at first */
    _Atomic size_t kept;      /* events so far */
    _Atomic uint64_t kept_bytes;
    int outer_first; /* of events that start together those that others lie in come first */
    int single;      /* one ns wide: it cannot be made smaller, and may hold more than `most` */
};

struct dft_slice {
    struct dft_window_event *events;
    size_t count;
    struct dft_arena *arena; /* arguments */
};

/* Decodes the blocks, in N threads. Returns 0, -ENOMEM, or -E2BIG: there are more events than a window may hold. */
int dft_window_decode(struct dft_window *window);
/* Gives the events in order. Returns 0, -ENOMEM, or what give returned. */
int dft_window_give(struct dft_window *window, int (*give)(void *context, const struct dft_event_at *at),
                    void *context);
/* Forgets the events. */
void dft_window_clear(struct dft_window *window);

#endif
