/* SPDX-License-Identifier: MIT */
/* One window of time: the events that start in the window, in global order. */
#ifndef DFT_SOURCE_WINDOW_H
#define DFT_SOURCE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "format/event.h"
#include "object/object.h"

struct dft_filter;

#define DFT_WINDOW_BYTES (UINT64_C(256) << 20) /* bound for texts of arguments */

/* For callers who keep only a part of each event. The events come window by window, and in no order
 * within a window. */
struct dft_sweep {
    void *context;
    size_t most; /* events that a window may hold; a window of one nanosecond may hold more */
    /* Keeps what the caller needs of a batch's events that start in [from, to]. Any thread;
     * `worker` tells the threads apart. Returns the number of kept events, or -errno. */
    int64_t (*keep)(void *context, unsigned worker, const struct dft_source_process *process,
                    const struct dft_batch *batch, uint64_t from, uint64_t to);
    /* the window is complete: later events start behind all that was kept so far */
    int (*window)(void *context);
    /* forgets what was kept since the last window, because these events come again */
    void (*clear)(void *context);
};

struct dft_window {
    struct dft_source *source;
    const struct dft_filter *filter; /* NULL: every event */
    const struct dft_sweep *sweep;   /* keeps the events in place of the window; or NULL */
    size_t most;                     /* events that the window may hold */
    uint64_t from, to;               /* the window holds the events that start in [from, to] */
    const struct dft_block **blocks; /* in the order of process key, tid, stream, first */
    size_t count;
    /* the events of each block; zeroed at first. There are as many slices as blocks at most */
    struct dft_slice *slices;
    _Atomic size_t kept; /* number of events so far */
    _Atomic uint64_t kept_bytes;
    int without_texts; /* gives events without the texts of their names */
    int outer_first;   /* puts the enclosing event first among events that start together */
    /* the window is one ns wide: it cannot become smaller, and may hold more than `most` */
    int single;
};

struct dft_slice {
    struct dft_window_event *events;
    size_t count;
    struct dft_arena *arena; /* memory for arguments */
};

/* Decodes the blocks in N threads. Returns 0, -ENOMEM, or -E2BIG: the blocks have more events than
 * a window may hold. */
int dft_window_decode(struct dft_window *window);
/* Gives the events in order. Returns 0, -ENOMEM, or what `emit` returned. */
int dft_window_emit(struct dft_window *window, int (*emit)(void *context, const struct dft_event_at *at),
                    void *context);
/* Forgets the events. */
void dft_window_clear(struct dft_window *window);

#endif
