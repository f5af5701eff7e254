/* SPDX-License-Identifier: MIT */
/* Records of a ring as batches of events. */
#ifndef DFT_FORMAT_RING_DECODE_H
#define DFT_FORMAT_RING_DECODE_H

#include "format/clock.h"
#include "format/event.h"
#include "format/live_format.h"

/* Scratch for taking records out of a ring; arrays are the caller's. */
struct dft_ring_decoder {
    struct dft_event *events;
    struct dft_call *calls; /* room for as many as events */
    struct dft_name *names;
    struct dft_arg *args;
    char *text;                 /* where texts are put together; batch texts point into it */
    struct dft_repeat *repeats; /* NULL: none are made, each event is whole; room for half as many as events */
    struct dft_when *when;      /* room for as many as events */
    uint64_t *taken;            /* bit set over slots, capacity / 64 words: those whose record is in a batch */
    uint32_t *call_of;          /* hash of call positions, DFT_RING_DECODER_HASH words */
    uint32_t events_max, names_max, args_max, text_max;
    const struct dft_clock *clock;
    enum dft_time_metric metric;
    uint64_t key;
    int torn_ok; /* off line: the owner is dead, what is half-written never gets whole: count it, do not wait for it */
    uint64_t torn; /* records passed over as half-written */
    /* Off line: is this sequence number in a block already? Such records are passed over. NULL:
     * none is. */
    int (*covered)(void *context, uint64_t key, uint32_t stream, uint64_t sequence);
    void *context;
    int annotated; /* call_of holds entries beyond the direct ones: clear it whole */
};
#define DFT_RING_DECODER_HASH 8192u

/* Takes the records from *sequence up to `end` that may stand in one block: stops before a sequence
 * number that is pending (so that no block's range covers an event that it does not hold), when the
 * scratch is full, or at the end; *sequence is set to where to go on. The batch covers [first,
 * last]; with nothing to take its count and nnames are 0. A record of an older lap (it was pending
 * in an earlier drain) comes as a batch of its own. Nothing is freed: the caller does that after
 * the block is written, for the slots in `taken` (which accumulates over calls). Whatever the bytes
 * of the ring are: bounded, no crash. */
void dft_ring_decode(const struct dft_ring *ring, uint64_t *sequence, uint64_t end, struct dft_ring_decoder *decoder,
                     struct dft_batch *batch);

#endif
