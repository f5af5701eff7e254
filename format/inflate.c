/* Inflate for readers: igzip (ISA-L) where there is one, else zlib. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "decoder.h"

#ifdef DFT_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

struct dft_inflate {
#ifdef DFT_HAVE_ISAL
    struct inflate_state igzip;
#endif
    z_stream zlib;
    int zlib_ready;
};

struct dft_inflate *dft_inflate_create(void)
{
    return calloc(1, sizeof(struct dft_inflate));
}

void dft_inflate_destroy(struct dft_inflate *state)
{
    if (state && state->zlib_ready)
        inflateEnd(&state->zlib);
    free(state);
}

int dft_inflate_zlib(struct dft_inflate *state, const void *bytes, size_t length, void *out, size_t raw)
{
    z_stream *stream = &state->zlib;

    if (state->zlib_ready ? inflateReset(stream) != Z_OK : inflateInit2(stream, -15) != Z_OK)
        return -ENOMEM;
    state->zlib_ready = 1;
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    stream->next_out = out;
    stream->avail_out = (uInt)raw;
    return inflate(stream, Z_FINISH) == Z_STREAM_END && !stream->avail_out ? 0 : -EBADMSG;
}

int dft_inflate(struct dft_inflate *state, const void *bytes, size_t length, void *out, size_t raw)
{
#ifdef DFT_HAVE_ISAL
    struct inflate_state *igzip = &state->igzip;

    isal_inflate_init(igzip);
    igzip->next_in = (uint8_t *)(uintptr_t)bytes;
    igzip->avail_in = (uint32_t)length;
    igzip->next_out = out;
    igzip->avail_out = (uint32_t)raw;
    if (isal_inflate_stateless(igzip) != ISAL_DECOMP_OK)
        return -EBADMSG;
    return igzip->block_state == ISAL_BLOCK_FINISH && !igzip->avail_out ? 0 : -EBADMSG;
#else
    return dft_inflate_zlib(state, bytes, length, out, raw);
#endif
}
