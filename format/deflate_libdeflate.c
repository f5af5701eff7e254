/* SPDX-License-Identifier: MIT */
/* Deflate and inflate by libdeflate, in memory of the caller.
 *
 * libdeflate is linked statically, so it shares nothing with a libdeflate of the traced program.
 * The allocator is ours: malloc is the traced program's, and a drain may interrupt a thread that
 * holds the lock of malloc. */
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>

#include "deflate.h"
#include "format/inflate.h"

#define LEVEL         1
#define INFLATE_BYTES ((size_t)64 << 10)

/* Memory of the caller, and the object that libdeflate made in it. */
struct workspace {
    void *object;
    size_t bytes;
    char memory[] __attribute__((aligned(64)));
};

/* Where this thread creates an object: the allocator gets no argument that could say so. */
static __thread struct workspace *place __attribute__((tls_model("initial-exec")));

static void *allocate(size_t bytes)
{
    return place && bytes <= place->bytes ? place->memory : NULL;
}

static void release(void *memory)
{
    (void)memory;
}

/* The allocator is global, and threads read it without a lock, so it is set before all of them
 * start. */
__attribute__((constructor(101))) static void set_allocator(void)
{
    libdeflate_set_memory_allocator(allocate, release);
}

size_t dft_deflate(void *memory, const void *bytes, size_t length, void *out, size_t capacity)
{
    struct workspace *workspace = memory;

    if (!workspace->object) {
        workspace->bytes = DFT_DEFLATE_BYTES - sizeof *workspace;
        place = workspace;
        workspace->object = libdeflate_alloc_compressor(LEVEL);
        place = NULL;
    }
    return workspace->object && capacity
               ? libdeflate_deflate_compress(workspace->object, bytes, length, out, capacity - 1)
               : 0;
}

struct dft_inflate *dft_inflate_create(void)
{
    struct workspace *workspace = aligned_alloc(64, INFLATE_BYTES);

    if (!workspace)
        return NULL;
    workspace->bytes = INFLATE_BYTES - sizeof *workspace;
    place = workspace;
    workspace->object = libdeflate_alloc_decompressor();
    place = NULL;
    if (workspace->object)
        return (struct dft_inflate *)workspace;
    free(workspace);
    return NULL;
}

void dft_inflate_destroy(struct dft_inflate *inflate)
{
    free(inflate);
}

int dft_inflate(struct dft_inflate *inflate, const void *bytes, size_t length, void *out, size_t raw)
{
    struct workspace *workspace = (struct workspace *)inflate;
    enum libdeflate_result result = libdeflate_deflate_decompress(workspace->object, bytes, length, out, raw, NULL);

    return result == LIBDEFLATE_SUCCESS ? 0 : -EBADMSG;
}

int dft_inflate_gzip(struct dft_inflate *inflate, const void *bytes, size_t length, size_t *used, void *out,
                     size_t capacity, size_t *got)
{
    struct workspace *workspace = (struct workspace *)inflate;

    switch (libdeflate_gzip_decompress_ex(workspace->object, bytes, length, out, capacity, used, got)) {
    case LIBDEFLATE_SUCCESS:
        return 0;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return -ENOSPC;
    default:
        return -EBADMSG;
    }
}
