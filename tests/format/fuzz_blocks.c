/* SPDX-License-Identifier: MIT */
/* A libFuzzer target over everything that reads blocks. The first byte says what the rest is:
 *   0       a file: blocks are found and decoded
 *   else    a block's payload behind 12 bytes for its header (count, tail, raw), given to the decoder of that type
 *   without any
 *           checksum in the way; what EVENTS and BUCKETS decode to is encoded and decoded again, and must stay the
 *           same. */
#include <stdlib.h>
#include <string.h>

#include "format/block.h"
#include "format/decode.h"
#include "format/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dft_decoder *decoder, *second;
static struct dft_encoder *encoder;

static void demand(int condition)
{
    if (!condition)
        abort();
}

static void events_again(const struct dft_batch *batch)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_batch again;
    const void *block;
    const char *why;
    size_t offset = 0, found;
    long size = dft_encode_events(encoder, batch, &block);

    if (size < 0)
        return; /* too many events, or names that are short in the file and long here */
    demand(dft_block_next(block, (size_t)size, &offset, &header, &found, &skipped) == 1 && !skipped.damaged);
    demand(dft_decode_events(second, &header, (const char *)block + found + sizeof header, &again, &why) == 0);
    demand(again.count == batch->count && again.nargs == batch->nargs);
    for (uint32_t i = 0; i < batch->count; i++) {
        struct dft_event a = batch->events[i], b = again.events[i];

        demand(batch->calls[a.call].id == again.calls[b.call].id && batch->calls[a.call].op == again.calls[b.call].op);
        demand(a.start_ns == b.start_ns && a.dur_ns == b.dur_ns && a.file == b.file && a.file2 == b.file2);
        demand(a.region == b.region && a.size == b.size && a.result == b.result && a.offset == b.offset);
        demand(a.stack == b.stack && a.id == b.id && a.calls == b.calls && a.unit == b.unit && a.flags == b.flags);
        demand(a.mode == b.mode && a.fd == b.fd && a.err == b.err && a.depth == b.depth && a.phase == b.phase);
        demand(a.bits == b.bits);
    }
}

/* A pattern of nothing comes back as none. */
static int is_empty(const struct dft_pattern *pattern)
{
    uint64_t touched = 0;

    for (unsigned i = 0; pattern && i < DFT_TOUCHED_PARTS / 64; i++)
        touched |= pattern->touched.bits[i];
    return pattern && !touched && !pattern->strides[0].count;
}

static void buckets_again(const struct dft_buckets *buckets)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets again;
    const void *block;
    const char *why;
    size_t offset = 0, found;
    long size = dft_encode_buckets(encoder, buckets, &block);

    if (size < 0)
        return;
    demand(dft_block_next(block, (size_t)size, &offset, &header, &found, &skipped) == 1 && !skipped.damaged);
    demand(dft_decode_buckets(second, &header, (const char *)block + found + sizeof header, &again, &why) == 0);
    demand(again.count == buckets->count);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct dft_row *a = &buckets->rows[i], *b = &again.rows[i];

        demand(a->kind == b->kind && a->interval == b->interval && a->region == b->region && a->subject == b->subject);
        demand(a->ndurations == b->ndurations && a->nsizes == b->nsizes && a->nasked == b->nasked);
        demand(!memcmp(a, b, 8)); /* kind and facets */
        demand(!a->pattern == !b->pattern || is_empty(a->pattern));
        demand(!memcmp(&a->metrics, &b->metrics, sizeof a->metrics));
    }
}

static void counters_again(const struct dft_counters *counters)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_counters again;
    const void *block;
    const char *why;
    size_t offset = 0, found;
    long size = dft_encode_counters(encoder, counters, &block);

    if (size < 0)
        return;
    demand(dft_block_next(block, (size_t)size, &offset, &header, &found, &skipped) == 1 && !skipped.damaged);
    demand(dft_decode_counters(second, &header, (const char *)block + found + sizeof header, &again, &why) == 0);
    demand(again.count == counters->count && again.nseries == counters->nseries);
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct dft_counter_sample *a = &counters->samples[i], *b = &again.samples[i];

        demand(a->time_ns == b->time_ns && a->series == b->series && a->value == b->value);
    }
}

static void decode(const struct dft_block_header *header, const void *payload)
{
    const char *why = NULL;
    const struct dft_name *names;
    const uint64_t(*samples)[2];
    struct dft_process process;
    struct dft_counters counters;
    struct dft_buckets buckets;
    struct dft_batch batch;
    struct dft_end end;
    uint32_t count;
    int status = 0;

    switch (header->type) {
    case DFT_BLOCK_PROCESS:
        status = dft_decode_process(decoder, header, payload, &process, &why);
        break;
    case DFT_BLOCK_CLOCK:
        status = dft_decode_clock(decoder, header, payload, &samples, &count, &why);
        break;
    case DFT_BLOCK_NAMES:
        status = dft_decode_names(decoder, header, payload, &names, &count, &why);
        break;
    case DFT_BLOCK_EVENTS:
        status = dft_decode_events(decoder, header, payload, &batch, &why);
        if (!status)
            events_again(&batch);
        break;
    case DFT_BLOCK_BUCKETS:
        status = dft_decode_buckets(decoder, header, payload, &buckets, &why);
        if (!status)
            buckets_again(&buckets);
        break;
    case DFT_BLOCK_COUNTERS:
        status = dft_decode_counters(decoder, header, payload, &counters, &why);
        if (!status)
            counters_again(&counters);
        break;
    case DFT_BLOCK_END:
        status = dft_decode_end(decoder, header, payload, &end, &why);
        break;
    default:
        break;
    }
    demand(!status || why != NULL);
}

static void one_payload(uint8_t type, const uint8_t *data, size_t size)
{
    struct dft_block_header header = {.type = type & 15, .flags = type >> 4 & DFT_BLOCK_DEFLATED};

    if (size < 12)
        return;
    memcpy(&header.count, data, 4);
    memcpy(&header.tail, data + 4, 4);
    memcpy(&header.raw, data + 8, 4);
    header.stored = (uint32_t)(size - 12);
    decode(&header, data + 12);
}

static void one_file(const uint8_t *data, size_t size)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    size_t offset = 0, found, before = 0;

    while (dft_block_next(data, size, &offset, &header, &found, &skipped)) {
        demand(found >= before && found + sizeof header + header.stored <= offset && offset <= size);
        before = offset;
        decode(&header, data + found + sizeof header);
    }
    demand(offset == size && !skipped.damaged == !skipped.reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!decoder) {
        void *memory = calloc(1, dft_encoder_bytes() + 64);

        decoder = dft_decoder_create();
        second = dft_decoder_create();
        demand(memory && decoder && second);
        encoder = dft_encoder_init((void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63));
    }
    if (size && data[0])
        one_payload(data[0], data + 1, size - 1);
    else if (size)
        one_file(data + 1, size - 1);
    return 0;
}
