/* SPDX-License-Identifier: MIT */
/* Finding blocks in bytes: returns whole ones, passes over and counts all else. */
#include <string.h>

#include "format/block.h"
#include "format/crc32c.h"
#include "format/leb128.h"

#define HEADER      sizeof(struct dft_block_header)
#define MAGIC_BYTES 8u

/* Payloads checked in vain may cost so much more than reading the range once; after that a damaged
 * block is believed in its size and passed over whole. Else bytes made to look like many headers
 * would take quadratic time. */
#define VAIN_BYTES_MAX (UINT64_C(64) << 20)

static int is_magic(const uint8_t *bytes, size_t length, size_t at)
{
    return bytes[at] == (DFT_BLOCK_MAGIC & 255) && length - at >= 8 && dft_load64(bytes + at) == DFT_BLOCK_MAGIC;
}

/* The place of the next magic at or behind `at`, or the end of what is known: more bytes may follow. Zeros and
 * other bytes before it are counted. */
static size_t find_magic(const uint8_t *bytes, size_t length, uint64_t rest, size_t at, struct dft_skipped *skipped)
{
    const size_t end = !rest ? length : length > MAGIC_BYTES - 1 ? length - (MAGIC_BYTES - 1) : 0;

    while (at < end && !is_magic(bytes, length, at)) {
        size_t start = at;

        if (bytes[at]) {
            at++;
            skipped->bytes++;
            continue;
        }
        while (length - at >= 8 && !dft_load64(bytes + at))
            at += 8;
        while (at < length && !bytes[at])
            at++;
        skipped->holes += at - start;
    }
    return at;
}

static const char *header_fault(const struct dft_block_header *header)
{
    struct dft_block_header copy = *header;

    copy.header_crc = 0;
    if (dft_crc32c(0, &copy, HEADER) != header->header_crc)
        return "header checksum differs";
    if (header->version != DFT_FORMAT_VERSION)
        return "version of the format is unknown";
    if (header->flags & ~DFT_BLOCK_DEFLATED)
        return "header has unknown flags";
    if (header->raw > DFT_RAW_MAX || header->stored > DFT_STORED_MAX || header->count > DFT_COUNT_MAX)
        return "larger than the format allows";
    if (header->tail > header->stored ||
        (!(header->flags & DFT_BLOCK_DEFLATED) && header->stored - header->tail != header->raw))
        return "sizes in the header do not agree";
    return NULL;
}

/* What is wrong with the block at the magic; NULL: it is whole, and *header is its header. */
static const char *block_fault(const uint8_t *at, size_t left, struct dft_block_header *header,
                               struct dft_skipped *skipped)
{
    const char *reason;

    if (left < HEADER)
        return "cut short";
    memcpy(header, at, HEADER);
    reason = header_fault(header);
    if (reason)
        return reason;
    if (left - HEADER < header->stored)
        return "cut short";
    if (header->type == DFT_BLOCK_UNFINISHED)
        return NULL;
    if (dft_crc32c(0, at + HEADER, header->stored) == header->payload_crc)
        return NULL;
    skipped->vain += header->stored;
    return "payload checksum differs";
}

/* Do bytes behind the window decide about the block at the magic, or about its padding? */
static int needs_more(const uint8_t *at, size_t left, uint64_t rest)
{
    struct dft_block_header header;

    if (!rest || left < HEADER)
        return rest != 0;
    memcpy(&header, at, HEADER);
    return header.stored <= DFT_STORED_MAX && left - HEADER < header.stored + (-header.stored & 7) &&
           !header_fault(&header);
}

int dft_block_next_of(const void *bytes, size_t length, uint64_t rest, size_t *offset, struct dft_block_header *header,
                      size_t *found, struct dft_skipped *skipped)
{
    const uint8_t *start = bytes;
    size_t at = *offset;

    while (at < length) {
        const char *reason;
        size_t next;

        at = find_magic(start, length, rest, at, skipped);
        if (at == length)
            break;
        if (rest && (length - at < MAGIC_BYTES || needs_more(start + at, length - at, rest)))
            return *offset = at, DFT_BLOCK_MORE;
        reason = block_fault(start + at, length - at, header, skipped);
        if (!reason) {
            size_t end = at + HEADER + header->stored, padding = -header->stored & 7;

            *found = at;
            while (padding-- && end < length && !start[end])
                end++;
            *offset = at = end;
            if (header->type != DFT_BLOCK_UNFINISHED)
                return 1;
            skipped->unfinished++;
            skipped->holes += at - *found;
            continue;
        }
        if (!skipped->damaged++) {
            skipped->first_damaged = at;
            skipped->reason = reason;
        }
        next = at + 8;
        if (skipped->vain > VAIN_BYTES_MAX + 2 * (length + rest) && length - at >= HEADER && !header_fault(header) &&
            length - at - HEADER >= header->stored)
            next = at + HEADER + header->stored;
        skipped->bytes += next - at;
        at = next;
    }
    *offset = length;
    return rest ? DFT_BLOCK_MORE : 0;
}

int dft_block_next(const void *bytes, size_t length, size_t *offset, struct dft_block_header *header, size_t *found,
                   struct dft_skipped *skipped)
{
    return dft_block_next_of(bytes, length, 0, offset, header, found, skipped);
}
