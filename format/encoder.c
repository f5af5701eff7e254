/* SPDX-License-Identifier: MIT */
/* Encoders: their memory, lists of columns, and blocks from them.
 *
 * The memory is one piece of address space, most of it never touched: the arena (what one block
 * needs while it is made), the columns, the block, hash maps and the compressor's workspace, each
 * used from its beginning on. */
#include "encoder.h"

#include <errno.h>

#include "deflate.h"
#include "format/crc32c.h"

#define RAW_BYTES(share)   ((size_t)DFT_ENCODER_RAW_MAX >> (share))
#define BLOCK_BYTES(share) (sizeof(struct dft_block_header) + RAW_BYTES(share) + (64u << 10) + 64)
#define MAP_BYTES(share)   (((2u << DFT_IDMAP_BITS) >> (share)) * sizeof(struct dft_idmap_slot))
#define ARENA_BYTES(share) ((size_t)DFT_ARENA_BYTES >> (share))
#define ALIGN              64u
#define SMALL_BYTES        384u /* deflating fewer saves little, and takes as long as a hundred events do */

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

size_t dft_encoder_share_bytes(unsigned share)
{
    return rounded(sizeof(struct dft_encoder)) + ARENA_BYTES(share) + rounded(RAW_BYTES(share)) +
           rounded(BLOCK_BYTES(share)) + 3 * rounded(MAP_BYTES(share)) + DFT_DEFLATE_BYTES;
}

size_t dft_encoder_bytes(void)
{
    return dft_encoder_share_bytes(0);
}

static void *take(uint8_t **at, size_t bytes)
{
    void *piece = *at;

    *at += rounded(bytes);
    return piece;
}

struct dft_encoder *dft_encoder_share_init(void *memory, unsigned share)
{
    uint8_t *at = memory;
    struct dft_encoder *encoder = take(&at, sizeof *encoder);

    encoder->arena = take(&at, ARENA_BYTES(share));
    encoder->arena_end = encoder->arena + ARENA_BYTES(share);
    encoder->raw_capacity = RAW_BYTES(share);
    encoder->raw_bytes = take(&at, RAW_BYTES(share));
    encoder->block = take(&at, BLOCK_BYTES(share));
    encoder->names.slots = take(&at, MAP_BYTES(share));
    encoder->calls.slots = take(&at, MAP_BYTES(share));
    encoder->shapes.slots = take(&at, MAP_BYTES(share));
    encoder->names.bits = encoder->calls.bits = encoder->shapes.bits = DFT_IDMAP_BITS - share;
    encoder->workspace = at;
    encoder->compression = DFT_DEFLATE;
    return encoder;
}

struct dft_encoder *dft_encoder_init(void *memory)
{
    return dft_encoder_share_init(memory, 0);
}

void dft_encoder_inherit(struct dft_encoder *encoder, const struct dft_encoder *from)
{
    encoder->coarse_times = from->coarse_times;
    encoder->store_first = from->store_first;
}

void dft_encoder_coarse_times(struct dft_encoder *encoder, int coarse)
{
    encoder->coarse_times = coarse != 0;
}

void dft_encoder_set_compression(struct dft_encoder *encoder, enum dft_compression compression)
{
    encoder->compression = compression;
}

void dft_encoder_store_first(struct dft_encoder *encoder, uint32_t bytes)
{
    encoder->store_first = bytes;
}

void dft_block_begin(struct dft_encoder *encoder)
{
    encoder->arena_at = encoder->arena;
    encoder->raw.start = encoder->raw.at = encoder->raw_bytes;
    encoder->raw.end = encoder->raw_bytes + encoder->raw_capacity;
    encoder->raw.full = 0;
}

void dft_raw_open(struct dft_raw *raw, unsigned id, enum dft_encoding encoding)
{
    raw->before = raw->at;
    dft_raw_leb(raw, id);
    dft_raw_leb(raw, encoding);
    if (raw->at == raw->end)
        raw->full = 1;
    else
        raw->at++; /* the length, if it is below 128 */
    raw->column = raw->at;
}

void dft_raw_close(struct dft_raw *raw)
{
    uint8_t length[DFT_LEB_MAX];
    size_t bytes = (size_t)(raw->at - raw->column), more;

    if (raw->full)
        return;
    more = (size_t)(dft_leb_put(length, bytes) - length) - 1;
    if ((size_t)(raw->end - raw->at) < more) {
        raw->full = 1;
        return;
    }
    if (more)
        memmove(raw->column + more, raw->column, bytes);
    memcpy(raw->column - 1, length, more + 1);
    raw->at += more;
}

void dft_raw_close_or_drop(struct dft_raw *raw)
{
    const uint8_t *at = raw->column;

    while (at < raw->at && !*at)
        at++;
    if (at < raw->at)
        dft_raw_close(raw);
    else if (!raw->full)
        raw->at = raw->before;
}

void dft_raw_bytes(struct dft_raw *raw, const void *bytes, size_t length)
{
    if ((size_t)(raw->end - raw->at) < length) {
        raw->full = 1;
        return;
    }
    if (length)
        memcpy(raw->at, bytes, length);
    raw->at += length;
}

void dft_raw_column(struct dft_raw *raw, unsigned id, enum dft_encoding encoding, const void *bytes, size_t length)
{
    dft_raw_leb(raw, id);
    dft_raw_leb(raw, encoding);
    dft_raw_leb(raw, length);
    dft_raw_bytes(raw, bytes, length);
}

int dft_raw_ascending(struct dft_raw *raw, unsigned id, const uint32_t *numbers, uint32_t count, uint64_t most)
{
    uint64_t next = 0;

    if (numbers[count - 1] > most)
        return -EINVAL;
    dft_raw_open(raw, id, DFT_ENC_LEB128);
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] < next)
            return -EINVAL;
        dft_raw_leb(raw, numbers[i] - next);
        next = (uint64_t)numbers[i] + 1;
    }
    dft_raw_close(raw);
    return 0;
}

/* The first part of the payload: deflated where that helps. Returns its size. */
static size_t put_columns(struct dft_encoder *encoder, uint8_t *out, size_t raw, uint8_t *flags)
{
    size_t stored = 0;

    if (raw <= encoder->store_first)
        encoder->store_first -= (uint32_t)raw;
    else if (encoder->compression == DFT_DEFLATE && raw > SMALL_BYTES)
        stored = dft_deflate(encoder->workspace, encoder->raw.start, raw, out, raw);
    if (stored) {
        *flags |= DFT_BLOCK_DEFLATED;
        return stored;
    }
    memcpy(out, encoder->raw.start, raw);
    return raw;
}

long dft_block_end(struct dft_encoder *encoder, struct dft_block_header *header, const uint8_t *tail, size_t tail_bytes,
                   const void **block)
{
    uint8_t *out = encoder->block, *payload = out + sizeof *header;
    size_t raw = (size_t)(encoder->raw.at - encoder->raw.start), stored, padding;

    if (encoder->raw.full || tail_bytes > 64u << 10)
        return -E2BIG;
    header->magic = DFT_BLOCK_MAGIC;
    header->version = DFT_FORMAT_VERSION;
    header->raw = (uint32_t)raw;
    header->tail = (uint32_t)tail_bytes;
    stored = put_columns(encoder, payload, raw, &header->flags);
    if (tail_bytes)
        memcpy(payload + stored, tail, tail_bytes);
    stored += tail_bytes;
    header->stored = (uint32_t)stored;
    header->payload_crc = dft_crc32c(0, payload, stored);
    header->header_crc = 0;
    header->header_crc = dft_crc32c(0, header, sizeof *header);
    memcpy(out, header, sizeof *header);
    padding = -stored & 7;
    memset(payload + stored, 0, padding);
    *block = out;
    return (long)(sizeof *header + stored + padding);
}
