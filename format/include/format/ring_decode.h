/* SPDX-License-Identifier: MIT */
/* Records of a ring as batches of events. */
#ifndef DFT_FORMAT_RING_DECODE_H
#define DFT_FORMAT_RING_DECODE_H

#include "format/calls.h"
#include "format/clock.h"
#include "format/event.h"
#include "format/live_format.h"

/* Who takes events as they come, instead of finding them in a batch: the drain. Only events of
 * the decoder's key go there. */
struct dft_ring_sink {
    void *context;
    /* Takes common records from `sequence` on, at most up to `end`: of one slot, of this lap and
     * state VALID. Returns where it ended. */
    uint64_t (*run)(void *context, const struct dft_batch *batch, const struct dft_ring *ring, uint64_t sequence,
                    uint64_t end);
    /* May any other event go into this batch? 0: the batch ends before it. */
    int (*is_ready)(void *context, const struct dft_batch *batch);
    /* That event, in the batch's only element. */
    void (*put)(void *context, const struct dft_event *event);
};

/* Scratch for taking records out of a ring; arrays are the caller's. */
struct dft_ring_decoder {
    const struct dft_ring_sink *sink; /* NULL: there is none */
    struct dft_event *events;
    struct dft_call *calls; /* room for as many as events */
    uint32_t ncalls;        /* with a sink the calls stay from batch to batch, until they are forgotten */
    struct dft_name *names;
    struct dft_arg *args;
    char *text;        /* where texts are put together; batch texts point into it */
    uint64_t *taken;   /* bit set over slots, capacity / 64 words: those whose record is in a batch */
    uint32_t *call_of; /* hash of call positions, DFT_RING_DECODER_HASH words */
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
    int classed;   /* and direct ones of calls that have a class of their own */
};
#define DFT_RING_DECODER_HASH 8192u

/* Direct places: those of calls of their operation's class, then those of each other class. */
#define DFT_RING_DECODER_DIRECT ((uint32_t)DFT_CALL_COUNT * (DFT_IO_COUNT + 1u))
_Static_assert(DFT_RING_DECODER_DIRECT < DFT_RING_DECODER_HASH / 2, "there is room for annotations");

static inline int dft_slot_has_class(uint32_t call)
{
    return (call & DFT_SLOT_KEY_MASK) >= 1u << DFT_SLOT_IO_SHIFT;
}

/* That of a record of a call, whose number is below DFT_CALL_COUNT. */
static inline uint32_t dft_ring_decoder_place(uint32_t call)
{
    return dft_slot_number(call) + (call >> DFT_SLOT_IO_SHIFT & 7) * (uint32_t)DFT_CALL_COUNT;
}

/* Takes the records from *sequence up to `end` that may stand in one block: stops before a sequence
 * number that is pending (so that no block's range covers an event that it does not hold), when the
 * scratch is full, or at the end; *sequence is set to where to go on. The batch covers [first,
 * last]; with nothing to take its count and nnames are 0. A record of an older lap (it was pending
 * in an earlier drain) comes as a batch of its own. Nothing is freed: the caller does that after
 * the block is written, for the slots in `taken` (which accumulates over calls). Whatever the bytes
 * of the ring are: bounded, no crash. */
void dft_ring_decode(const struct dft_ring *ring, uint64_t *sequence, uint64_t end, struct dft_ring_decoder *decoder,
                     struct dft_batch *batch);

/* Forgets the calls of earlier batches. */
void dft_ring_decoder_forget(struct dft_ring_decoder *decoder);

/* Position of the record's call among the decoder's, added when it is new. There is room for it
 * where ncalls is below events_max. */
uint32_t dft_ring_decoder_call_slow(struct dft_ring_decoder *decoder, const struct dft_slot *slot);

static inline uint32_t dft_ring_decoder_call(struct dft_ring_decoder *decoder, const struct dft_slot *slot)
{
    uint32_t at =
        dft_slot_number(slot->call) < DFT_CALL_COUNT ? decoder->call_of[dft_ring_decoder_place(slot->call)] : 0;

    return __builtin_expect(at != 0, 1) ? at - 1 : dft_ring_decoder_call_slow(decoder, slot);
}

#endif
