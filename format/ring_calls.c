/* SPDX-License-Identifier: MIT */
/* What a decoder of rings knows from record to record: which calls it met, which slots it took. */
#include <string.h>

#include "format/hash.h"
#include "ring_record.h"

static uint32_t call_add(struct dft_ring_decoder *decoder, const char *text, uint8_t length, uint64_t id, uint8_t op,
                         uint8_t io)
{
    struct dft_call *call = &decoder->calls[decoder->ncalls];

    call->op = op;
    call->io = io;
    call->text.bytes = text;
    call->text.length = length;
    call->id = text ? dft_name_id(text, length) : id;
    return decoder->ncalls++;
}

/* Annotations: by their op and name, in the hash behind the calls. */
static uint32_t annotation_of(struct dft_ring_decoder *decoder, const struct dft_slot *slot)
{
    const uint32_t places = DFT_RING_DECODER_HASH - DFT_RING_DECODER_DIRECT;
    uint32_t number = dft_slot_number(slot->call);
    uint64_t spread = (slot->file ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    uint8_t op = (uint8_t)(number - DFT_CALL_ANNOTATION);

    decoder->annotated = 1;
    for (uint32_t i = (uint32_t)((spread >> 32) * places >> 32);; i = i + 1 < places ? i + 1 : 0) {
        uint32_t *at = &decoder->call_of[DFT_RING_DECODER_DIRECT + i];
        const struct dft_call *call;

        if (!*at) {
            *at = 1 + call_add(decoder, NULL, 0, slot->file, op, (uint8_t)dft_op_io(op));
            return *at - 1;
        }
        call = &decoder->calls[*at - 1];
        if (!call->text.bytes && call->id == slot->file && call->op == op)
            return *at - 1;
    }
}

uint32_t dft_ring_decoder_call_slow(struct dft_ring_decoder *decoder, const struct dft_slot *slot)
{
    const struct dft_call_row *row;
    uint32_t *at;

    if (dft_slot_number(slot->call) >= DFT_CALL_COUNT)
        return annotation_of(decoder, slot);
    row = &dft_call_rows[dft_slot_number(slot->call)];
    at = &decoder->call_of[dft_ring_decoder_place(slot->call)];
    decoder->classed |= dft_slot_has_class(slot->call);
    if (!*at)
        *at = 1 + call_add(decoder, dft_call_text(row), row->length, 0, row->op,
                           dft_slot_io(slot->call, (uint8_t)dft_op_io(row->op)));
    return *at - 1;
}

void dft_ring_decoder_forget(struct dft_ring_decoder *decoder)
{
    uint32_t used = decoder->annotated ? DFT_RING_DECODER_HASH
                    : decoder->classed ? DFT_RING_DECODER_DIRECT
                                       : (uint32_t)DFT_CALL_COUNT;

    memset(decoder->call_of, 0, used * sizeof *decoder->call_of);
    decoder->annotated = decoder->classed = 0;
    decoder->ncalls = 0;
}

void dft_ring_decoder_mark(const struct dft_ring_decoder *decoder, const struct dft_ring *ring, uint64_t sequence,
                           uint64_t end)
{
    while (sequence < end) {
        uint32_t index = (uint32_t)sequence & (ring->capacity - 1), bit = index % 64;
        uint64_t n = end - sequence < 64 - bit ? end - sequence : 64 - bit;

        decoder->taken[index / 64] |= (UINT64_MAX >> (64 - n)) << bit;
        sequence += n;
    }
}
