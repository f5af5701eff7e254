/* Deflate for blocks: igzip (ISA-L) at its level 1, or zlib at level 1, both in memory of the encoder's. */
#include "deflate.h"

#include <string.h>
#include <zlib.h>

/* Bytes of input for which setting up costs more than the work: igzip clears 20 KiB, and at its first use asks the
 * processor what it can do, tens of microseconds in a virtual machine. */
#define SMALL_IGZIP 4096u
#define SMALL       512u

#ifdef DFT_HAVE_ISAL
#include <isa-l/igzip_lib.h>

#include "format/igzip.h"

struct igzip_workspace {
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL1_LARGE] __attribute__((aligned(64)));
};
_Static_assert(sizeof(struct igzip_workspace) <= DFT_DEFLATE_BYTES, "igzip fits into the workspace");

static size_t deflate_igzip(const struct dft_igzip *functions, void *workspace, const void *bytes, size_t length,
                            void *out, size_t room)
{
    struct igzip_workspace *igzip = workspace;
    struct isal_zstream *stream = &igzip->stream;

    functions->init(stream);
    stream->level = 1;
    stream->level_buf = igzip->level;
    stream->level_buf_size = sizeof igzip->level;
    stream->next_in = (uint8_t *)(uintptr_t)bytes;
    stream->avail_in = (uint32_t)length;
    stream->next_out = out;
    stream->avail_out = (uint32_t)room;
    stream->end_of_stream = 1;
    if (functions->stateless(stream) != COMP_OK || stream->total_out >= room)
        return 0;
    return stream->total_out;
}
#endif

/* zlib's allocations, one behind the other; they all end with the stream. */
struct zlib_workspace {
    z_stream stream;
    size_t used;
    uint8_t memory[DFT_DEFLATE_BYTES - sizeof(z_stream) - 64] __attribute__((aligned(16)));
};
_Static_assert(sizeof(struct zlib_workspace) <= DFT_DEFLATE_BYTES, "zlib's memory is the workspace");

static voidpf zlib_take(voidpf opaque, uInt items, uInt size)
{
    struct zlib_workspace *zlib = opaque;
    size_t bytes = ((size_t)items * size + 15) & ~(size_t)15;
    void *memory = zlib->memory + zlib->used;

    if (bytes > sizeof zlib->memory - zlib->used)
        return Z_NULL;
    zlib->used += bytes;
    return memory;
}

static void zlib_give_back(voidpf opaque, voidpf memory)
{
    (void)opaque;
    (void)memory;
}

/* Gives zlib the next piece of input. Returns 0, or -1: the output is full. */
static int zlib_put(z_stream *stream, const uint8_t *bytes, size_t length, int flush)
{
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    return deflate(stream, flush) == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && !stream->avail_in ? 0 : -1;
}

static size_t deflate_zlib(void *workspace, const uint8_t *bytes, size_t length, size_t symbols, void *out, size_t room)
{
    struct zlib_workspace *zlib = workspace;
    z_stream *stream = &zlib->stream;
    size_t searched = length - symbols;
    int window_bits = 9;

    /* Windows and tables no larger than the input can use: zlib clears them before it begins. */
    while (window_bits < MAX_WBITS && (size_t)1 << window_bits < length)
        window_bits++;
    memset(stream, 0, sizeof *stream);
    zlib->used = 0;
    stream->zalloc = zlib_take;
    stream->zfree = zlib_give_back;
    stream->opaque = zlib;
    if (deflateInit2(stream, 1, Z_DEFLATED, -window_bits, window_bits < 14 ? window_bits - 6 : 8,
                     searched ? Z_DEFAULT_STRATEGY : Z_HUFFMAN_ONLY) != Z_OK)
        return 0;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    if (searched && symbols) {
        if (zlib_put(stream, bytes, searched, Z_NO_FLUSH) || deflateParams(stream, 1, Z_HUFFMAN_ONLY) != Z_OK)
            return 0;
        bytes += searched;
        length = symbols;
    }
    if (zlib_put(stream, bytes, length, Z_FINISH) || stream->total_out >= room)
        return 0;
    return stream->total_out;
}

size_t dft_deflate(void *workspace, int small_stack, const void *bytes, size_t length, size_t symbols, void *out,
                   size_t room)
{
#ifdef DFT_HAVE_ISAL
    const struct dft_igzip *igzip = !small_stack && length > SMALL_IGZIP ? dft_igzip_get(length) : NULL;

    if (igzip)
        return deflate_igzip(igzip, workspace, bytes, length, out, room);
#else
    (void)small_stack;
#endif
    return deflate_zlib(workspace, bytes, length, symbols < SMALL ? 0 : symbols, out, room);
}
