/* SPDX-License-Identifier: MIT */
/* A libFuzzer target over the reading of live files: rings, records, open runs, regions and the
 * call in flight become batches; each of them can be encoded, and is decoded to as many events. */
#include <stdlib.h>
#include <string.h>

#include "format/block.h"
#include "format/decode.h"
#include "format/encode.h"
#include "format/live_read.h"
#include "format/live_table.h"
#include "patches.h"
#include "live/source_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dft_encoder *encoder;
static struct dft_decoder *decoder;
static uint32_t batches;

static void demand(int condition)
{
    if (!condition)
        abort();
}

static int give(void *context, const struct dft_batch *batch)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_batch again;
    const void *block;
    const char *why;
    size_t offset = 0, found;
    long bytes = dft_encode_events(encoder, batch, &block);

    (void)context;
    demand(batch->count <= DFT_BLOCK_EVENTS_MAX && ++batches < 100000);
    if (bytes < 0)
        return 0;
    demand(dft_block_next(block, (size_t)bytes, &offset, &header, &found, &skipped) == 1 && !skipped.damaged);
    demand(dft_decode_events(decoder, &header, (const char *)block + found + sizeof header, &again, &why) == 0);
    demand(again.count == batch->count && again.nargs == batch->nargs);
    return 0;
}

static int give_rows(void *context, const struct dft_buckets *buckets)
{
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets again;
    const void *block;
    const char *why;
    size_t offset = 0, found;
    long bytes = dft_encode_buckets(encoder, buckets, &block);

    (void)context;
    demand(buckets->first <= buckets->last && buckets->count && ++batches < 100000);
    if (bytes < 0)
        return 0;
    demand(dft_block_next(block, (size_t)bytes, &offset, &header, &found, &skipped) == 1 && !skipped.damaged);
    demand(dft_decode_buckets(decoder, &header, (const char *)block + found + sizeof header, &again, &why) == 0);
    demand(again.count == buckets->count && again.first == buckets->first && again.last == buckets->last);
    return 0;
}

/* A table of bytes of the input, whose sizes are in order, so that more than its head is read. */
static void read_table(const uint8_t *data, size_t size)
{
    struct dft_live_table *table;
    char *file = aligned_alloc(DFT_LIVE_PAGE, DFT_LIVE_PAGE + DFT_LIVE_TABLE_BYTES);
    uint64_t bad = 0;

    demand(file != NULL && size != 0);
    for (size_t i = 0; i < DFT_LIVE_PAGE + DFT_LIVE_TABLE_BYTES; i++)
        file[i] = (char)data[i % size];
    table = (struct dft_live_table *)(void *)(file + DFT_LIVE_PAGE);
    table->magic = DFT_LIVE_TABLE_MAGIC;
    table->bytes = DFT_LIVE_TABLE_BYTES;
    table->low = DFT_LIVE_ARENA + table->low % 4096;
    table->high = DFT_LIVE_TABLE_BYTES / 8 - table->high % 1024;
    demand(dft_live_tables(file, DFT_LIVE_PAGE + DFT_LIVE_TABLE_BYTES, 1, give_rows, NULL, &bad) == 0);
    free(file);
}

static int every_third(void *context, uint64_t key, uint32_t stream, uint64_t sequence)
{
    (void)context;
    (void)key;
    return (stream + sequence) % 3 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct dft_live *live;
    const struct dft_ring *ring;
    const char *why = NULL;
    struct patched patched;
    size_t offset = 0, before = 0;
    uint64_t bad = 0;
    void *exact;

    if (!encoder) {
        encoder = dft_encoder_init(aligned_alloc(64, (dft_encoder_bytes() + 63) & ~(size_t)63));
        decoder = dft_decoder_create();
        demand(decoder != NULL);
    }
    patches_apply(data, size, &patched);
    exact = aligned_alloc(4096, (patched.live_bytes + 4095) & ~(size_t)4095); /* as it would be mapped */
    demand(exact != NULL);
    memcpy(exact, patched.live, patched.live_bytes);
    batches = 0;
    if (dft_live_check(exact, patched.live_bytes, &live, &why)) {
        demand(why != NULL);
    } else {
        struct dft_live_reader reader = {
            .bytes = exact, .length = patched.live_bytes, .emit = give, .covered = size & 1 ? every_third : NULL};

        while ((ring = dft_live_ring(exact, patched.live_bytes, &offset))) {
            demand(offset > before && offset <= patched.live_bytes);
            before = offset;
            demand(dft_live_batches(live, ring, &reader) == 0);
        }
    }
    demand(dft_live_tables(exact, patched.live_bytes, 1, give_rows, NULL, &bad) == 0);
    if (size)
        read_table(data, size);
    free(exact);
    return 0;
}
