/* SPDX-License-Identifier: MIT */
/* Deflate and inflate by zlib, for builds without libdeflate. */
#include "deflate.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/inflate.h"

enum { RAW = -15, GZIP = 15 + 16 }; /* windowBits */

/* zlib's allocations, one behind the other; they all end with the stream. */
struct zlib_workspace {
    z_stream stream;
    size_t used;
    uint8_t memory[DFT_DEFLATE_BYTES - sizeof(z_stream) - 64] __attribute__((aligned(16)));
};
_Static_assert(sizeof(struct zlib_workspace) <= DFT_DEFLATE_BYTES, "zlib's memory is the workspace");

static voidpf allocate(voidpf opaque, uInt items, uInt size)
{
    struct zlib_workspace *zlib = opaque;
    size_t bytes = ((size_t)items * size + 15) & ~(size_t)15;
    void *memory = zlib->memory + zlib->used;

    if (bytes > sizeof zlib->memory - zlib->used)
        return Z_NULL;
    zlib->used += bytes;
    return memory;
}

static void release(voidpf opaque, voidpf memory)
{
    (void)opaque;
    (void)memory;
}

size_t dft_deflate(void *workspace, const void *bytes, size_t length, void *out, size_t capacity)
{
    struct zlib_workspace *zlib = workspace;
    z_stream *stream = &zlib->stream;
    int window_bits = 9;

    /* Windows and tables no larger than the input can use: zlib clears them before it begins. */
    while (window_bits < MAX_WBITS && (size_t)1 << window_bits < length)
        window_bits++;
    memset(stream, 0, sizeof *stream);
    zlib->used = 0;
    stream->zalloc = allocate;
    stream->zfree = release;
    stream->opaque = zlib;
    if (deflateInit2(stream, 1, Z_DEFLATED, -window_bits, window_bits < 14 ? window_bits - 6 : 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return 0;
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    stream->next_out = out;
    stream->avail_out = (uInt)capacity;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END || stream->total_out >= capacity)
        return 0;
    return stream->total_out;
}

struct dft_inflate {
    z_stream stream;
};

struct dft_inflate *dft_inflate_create(void)
{
    struct dft_inflate *state = calloc(1, sizeof *state);

    if (state && inflateInit2(&state->stream, RAW) == Z_OK)
        return state;
    free(state);
    return NULL;
}

void dft_inflate_destroy(struct dft_inflate *state)
{
    if (state)
        inflateEnd(&state->stream);
    free(state);
}

/* Inflates one stream of the kind that zlib's windowBits name, at most `capacity` bytes of it. Returns
 * what zlib returned. */
static int inflate_stream(z_stream *stream, int kind, const void *bytes, size_t length, void *out, size_t capacity)
{
    inflateReset2(stream, kind);
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    stream->next_out = out;
    stream->avail_out = (uInt)capacity;
    return inflate(stream, Z_FINISH);
}

int dft_inflate(struct dft_inflate *state, const void *bytes, size_t length, void *out, size_t raw)
{
    int result = inflate_stream(&state->stream, RAW, bytes, length, out, raw);

    return result == Z_STREAM_END && !state->stream.avail_out ? 0 : -EBADMSG;
}

int dft_inflate_gzip(struct dft_inflate *state, const void *bytes, size_t length, size_t *used, void *out,
                     size_t capacity, size_t *got)
{
    int result = inflate_stream(&state->stream, GZIP, bytes, length, out, capacity);

    *used = length - state->stream.avail_in;
    *got = capacity - state->stream.avail_out;
    if (result == Z_STREAM_END)
        return 0;
    return result == Z_BUF_ERROR && !state->stream.avail_out ? -ENOSPC : -EBADMSG;
}
