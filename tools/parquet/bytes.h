/* SPDX-License-Identifier: MIT */
/* Bytes that grow. A failure is kept, so that a writer of many small pieces asks once, at the end. */
#ifndef DFT_PARQUET_BYTES_H
#define DFT_PARQUET_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/leb128.h"

struct dft_bytes {
    unsigned char *bytes;
    size_t length, capacity;
    int failed; /* there was no memory; nothing is appended any more */
};

static inline void dft_bytes_fini(struct dft_bytes *bytes)
{
    free(bytes->bytes);
    *bytes = (struct dft_bytes){0};
}

/* Makes room for `count` more bytes. Returns their place; NULL: no memory. The caller adds to
 * `length` what it writes. */
static inline unsigned char *dft_bytes_room(struct dft_bytes *bytes, size_t count)
{
    if (bytes->failed || DFT_ARRAY_RESERVE(bytes->bytes, bytes->capacity, bytes->length + count))
        return bytes->failed = 1, NULL;
    return bytes->bytes + bytes->length;
}

static inline void dft_bytes_put(struct dft_bytes *bytes, const void *from, size_t count)
{
    unsigned char *room = dft_bytes_room(bytes, count);

    if (room && count)
        memcpy(room, from, count);
    bytes->length += room ? count : 0;
}

/* The low `count` bytes of a number. */
static inline void dft_bytes_number(struct dft_bytes *bytes, uint64_t number, unsigned count)
{
    dft_bytes_put(bytes, &number, count);
}

static inline void dft_bytes_varint(struct dft_bytes *bytes, uint64_t number)
{
    unsigned char *room = dft_bytes_room(bytes, DFT_LEB_MAX);

    if (room)
        bytes->length += (size_t)(dft_leb_put(room, number) - room);
}

#endif
