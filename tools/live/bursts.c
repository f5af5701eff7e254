/* SPDX-License-Identifier: MIT */
/* Finds the record of a burst by what cannot change while the burst is open: its call, file and
 * descriptor. Behind the head of the copied ring these are enough: a later burst of the same would
 * have ended this one. A record may have had its number, and not been noted in the burst, when the
 * head was copied. It was the last one then, and as long as the burst in the copy.
 *
 * The number of an event lies within a range. Where the head does, too, the start of the event tells:
 * an earlier burst of the same began before this one. */
#include "live/bursts.h"

#include "format/decode.h"
#include "object/source_inside.h"

#define NEAR_NS    100000u /* the clock of a drain may be corrected against that of the copy */
#define LAST_SLOTS 4u      /* of a record that is being put: a burst has no more */

void dft_live_bursts_fini(struct dft_live_bursts *bursts)
{
    dft_reader_destroy(bursts->reader);
    bursts->reader = NULL;
}

static int is_near(uint64_t a, uint64_t b)
{
    return a < b ? b - a <= NEAR_NS : a - b <= NEAR_NS;
}

/* head: that of the ring when it was copied; 0: its numbers are not those of the event, which lie from `least` to
 * `most`. */
static int is_burst(const struct dft_event *event, uint64_t least, uint64_t most, uint64_t head,
                    const struct dft_event *burst)
{
    if (event->file != burst->file || event->fd != burst->fd || event->calls < burst->calls)
        return 0;
    if (!head)
        return is_near(event->start_ns, burst->start_ns);
    if (least >= head || (most >= head && event->start_ns >= burst->start_ns))
        return 1;
    return most + LAST_SLOTS >= head && event->calls == burst->calls && event->size == burst->size &&
           is_near(event->start_ns, burst->start_ns);
}

static int has_burst(const struct dft_batch *batch, uint64_t head, const struct dft_call *call,
                     const struct dft_event *burst)
{
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->calls[batch->events[i].call].id == call->id &&
            is_burst(&batch->events[i], dft_batch_number(batch, i), dft_batch_number_most(batch, i), head, burst))
            return 1;
    return 0;
}

static int is_in_block(struct dft_live_bursts *bursts, const struct dft_block *block, uint64_t head,
                       const struct dft_call *call, const struct dft_event *burst)
{
    struct dft_block_header header;
    const void *payload;
    const char *reason;
    struct dft_batch batch;

    if (!bursts->reader)
        bursts->reader = dft_reader_create(bursts->source);
    return bursts->reader && !dft_reader_block(bursts->reader, block, &header, &payload) &&
           !dft_decode_events(dft_reader_decoder(bursts->reader), &header, payload, &batch, &reason) &&
           has_burst(&batch, head, call, burst);
}

/* The blocks of a stream stand in the order of their numbers. */
static int is_in_file(struct dft_live_bursts *bursts, const struct dft_scanned *scanned, uint64_t key,
                      const struct dft_ring *ring, const struct dft_call *call, const struct dft_event *burst)
{
    uint64_t head = atomic_load(&((struct dft_ring *)(uintptr_t)ring)->head);

    for (size_t i = scanned->count; i--;) {
        const struct dft_block *block = &scanned->blocks[i];
        int same = block->stream == ring->stream;

        if (block->type != DFT_BLOCK_EVENTS || block->first > block->last || scanned->keys[i] != key ||
            block->tid != ring->tid)
            continue;
        if (same && block->last + LAST_SLOTS < head)
            return 0;
        if ((same || (block->start <= burst->start_ns + NEAR_NS && block->end + NEAR_NS >= burst->start_ns)) &&
            is_in_block(bursts, block, same ? head : 0, call, burst))
            return 1;
    }
    return 0;
}

int dft_live_burst_is_recorded(struct dft_live_bursts *bursts, uint64_t key, const struct dft_ring *ring,
                               const struct dft_call *call, const struct dft_event *burst)
{
    for (uint32_t f = 0; f < bursts->source->nfiles; f++) {
        const struct dft_scanned *scanned = &bursts->scanned[f];

        if (bursts->source->files[f].kind == DFT_FILE_TRACE && scanned->count &&
            (scanned->keys[0] == key || scanned->keys[scanned->count - 1] == key) &&
            is_in_file(bursts, scanned, key, ring, call, burst))
            return 1;
    }
    return 0;
}
