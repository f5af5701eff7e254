/* SPDX-License-Identifier: MIT */
/* Reading a live file off line: its head, its rings, and all of their batches. */
#ifndef DFT_FORMAT_LIVE_READ_H
#define DFT_FORMAT_LIVE_READ_H

#include "format/event.h"
#include "format/live_format.h"

/* Off line. Checks a mapped live file of `length` bytes. Returns 0 and the header, or -EBADMSG with
 * *why. */
int dft_live_check(const void *bytes, size_t length, const struct dft_live **live, const char **reason);

/* The head page of a ring whose owner may be running: what it says of arguments of regions is all
 * of one moment. */
void dft_live_copy_head(struct dft_ring *to, const struct dft_ring *from);

/* The next ring at or behind *offset (start with 0); NULL at the end. Every field that sizes
 * something is checked. */
const struct dft_ring *dft_live_ring(const void *bytes, size_t length, size_t *offset);

/* How long the pauses of this thread were that KEPT does not tell, up to `now_ns` (Unix). */
static inline uint64_t dft_ring_paused_ns(const struct dft_ring *ring, uint64_t now_ns)
{
    struct dft_ring *own = (struct dft_ring *)(uintptr_t)ring;
    uint64_t since_ns = atomic_load_explicit(&own->paused_since, memory_order_relaxed);

    return atomic_load_explicit(&own->paused_ns, memory_order_relaxed) +
           (since_ns && now_ns > since_ns ? now_ns - since_ns : 0);
}

/* In a reader's copy, behind the head: the path of the call in flight, if its reader has found it, with a NUL. The
 * file has zeros there. */
#define DFT_FLIGHT_PATH_ROOM (DFT_LIVE_PAGE - sizeof(struct dft_ring))
_Static_assert(sizeof(struct dft_ring) + 256 <= DFT_LIVE_PAGE, "a path has room");

static inline char *dft_flight_path(struct dft_ring *ring)
{
    return (char *)(ring + 1);
}

/* What a reader wants to know of, and tells about, the batches of a live file. */
struct dft_live_reader {
    const void *bytes; /* the live file */
    size_t length;
    int (*emit)(void *context, const struct dft_batch *batch); /* 0: go on; else it ends and the value is returned */
    int (*covered)(void *context, uint64_t key, uint32_t stream,
                   uint64_t sequence); /* in a block already; may be NULL */
    /* Does the record of a burst that is open in this copy of a ring stand in a block by now? For a copy of a
     * process that goes on; may be NULL. */
    int (*recorded)(void *context, const struct dft_ring *ring, const struct dft_call *call,
                    const struct dft_event *burst);
    void *context;
    uint64_t torn; /* out: records that were half-written */
};

/* All batches of one ring of a dead or running process, one after the other. Returns 0, what emit
 * returned, or -ENOMEM. Open runs come behind the records, in a stream of their own
 * (DFT_BURST_STREAMS). The call in flight and the open regions come last, as events with
 * DFT_BIT_OPEN and phase BEGIN, in a batch with first > last (they have no sequence number). */
int dft_live_batches(const struct dft_live *live, const struct dft_ring *ring, struct dft_live_reader *reader);

#endif
