/* SPDX-License-Identifier: MIT */
/* A libFuzzer target over the reading of DFTracer's traces: text, plain or compressed, becomes
 * blocks; each of them is whole, and all that was counted is in them. The first byte says what the
 * rest is:
 *   bit 0   is compressed first: mutations of text reach what lies behind the inflater
 *   bit 1   in two members
 *   bit 2   is read twice, plain and compressed: both must come to the same blocks */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "format/block.h"
#include "format/decode.h"
#include "format/hash.h"
#include "dftracer/pfw.h"

#define COMPRESSED 1u
#define MEMBERS    2u
#define TWICE      4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What one reading came to. */
struct found {
    uint64_t hash, blocks, complete, others; /* events: of that phase */
};

static struct dft_pfw_worker *worker;
static struct dft_decoder *decoder;
static char path[32];
static int fd;

static void demand(int condition)
{
    if (!condition)
        abort();
}

static void begin(void)
{
    worker = dft_pfw_worker_create();
    decoder = dft_decoder_create();
    fd = memfd_create("input", 0);
    demand(worker && decoder && fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

static void take_events(struct found *found, const struct dft_block_header *header, const void *payload)
{
    struct dft_batch batch;
    const char *why;

    demand(!dft_decode_events(decoder, header, payload, &batch, &why));
    for (uint32_t i = 0; i < batch.count; i++)
        if (batch.events[i].phase == DFT_PHASE_COMPLETE)
            found->complete++;
        else
            found->others++;
}

static int put(void *context, const void *block, size_t bytes)
{
    struct found *found = context;
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    struct dft_buckets buckets;
    struct dft_process process;
    const struct dft_name *names;
    struct dft_end end;
    const char *payload, *why;
    size_t offset = 0, at;
    uint32_t count;

    demand(dft_block_next(block, bytes, &offset, &header, &at, &skipped) == 1 && !skipped.damaged && offset == bytes);
    payload = (const char *)block + at + sizeof header;
    if (header.type == DFT_BLOCK_EVENTS)
        take_events(found, &header, payload);
    else if (header.type == DFT_BLOCK_BUCKETS)
        demand(!dft_decode_buckets(decoder, &header, payload, &buckets, &why));
    else if (header.type == DFT_BLOCK_NAMES)
        demand(!dft_decode_names(decoder, &header, payload, &names, &count, &why));
    else if (header.type == DFT_BLOCK_PROCESS)
        demand(!dft_decode_process(decoder, &header, payload, &process, &why));
    else
        demand(header.type == DFT_BLOCK_END && !dft_decode_end(decoder, &header, payload, &end, &why));
    found->hash = found->hash * 31 + dft_name_id(block, bytes);
    found->blocks++;
    return 0;
}

static int again(void *context)
{
    *(struct found *)context = (struct found){0};
    return 0;
}

static void read_it(const void *bytes, size_t length, struct found *found, struct dft_pfw_counts *counts)
{
    struct dft_pfw_job job = {.path = path, .identity = 1, .put = put, .again = again, .context = found};

    *found = (struct found){0};
    demand(!ftruncate(fd, 0) && pwrite(fd, bytes, length, 0) == (ssize_t)length);
    demand(!dft_pfw_convert(worker, &job, counts));
    demand(counts->records >= counts->metadata + counts->aggregated + counts->unknown);
    demand(counts->invalid >= counts->torn && !counts->invalid == !counts->first_invalid);
    /* An event that no block could take was counted. */
    demand(found->complete <= counts->events && found->complete + counts->not_kept >= counts->events);
}

/* Appends a member; returns the bytes that are used. */
static size_t compress_member(uint8_t *room, size_t capacity, size_t used, const uint8_t *text, size_t length)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)text,
                       .avail_in = (uInt)length,
                       .next_out = room + used,
                       .avail_out = (uInt)(capacity - used)};

    demand(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    demand(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    used = capacity - stream.avail_out;
    deflateEnd(&stream);
    return used;
}

static void read_compressed(const uint8_t *text, size_t length, unsigned how, struct found *found,
                            struct dft_pfw_counts *counts)
{
    size_t capacity = 2 * compressBound(length) + 64, used = 0, first = how & MEMBERS ? length / 2 : length;
    uint8_t *room = malloc(capacity);

    demand(room != NULL);
    used = compress_member(room, capacity, used, text, first);
    if (first < length)
        used = compress_member(room, capacity, used, text + first, length - first);
    read_it(room, used, found, counts);
    demand(!counts->reason);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dft_pfw_counts counts, other_counts;
    struct found found, other;
    unsigned how;

    if (!size)
        return 0;
    if (!worker)
        begin();
    how = *data++;
    size--;
    if (how & COMPRESSED)
        read_compressed(data, size, how, &found, &counts);
    else
        read_it(data, size, &found, &counts);
    if (how & TWICE && !(size >= 2 && data[0] == 0x1f && data[1] == 0x8b)) {
        if (how & COMPRESSED)
            read_it(data, size, &other, &other_counts);
        else
            read_compressed(data, size, how, &other, &other_counts);
        demand(!memcmp(&found, &other, sizeof found) && !memcmp(&counts, &other_counts, sizeof counts));
    }
    return 0;
}
