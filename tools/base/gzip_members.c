/* SPDX-License-Identifier: MIT */
/* Text into gzip members; see gzip_members.h. */
#include "base/gzip_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"

#define MEMBER_BYTES (1u << 20)
#define LONGEST      ((size_t)64 << 20) /* longest line that stays whole: zlib counts in 32 bits */

struct dft_gzip {
    dft_gzip_sink_fn *sink;
    void *context;
    z_stream z;
    unsigned char *text, *packed;
    size_t used, capacity, packed_capacity;
};

void dft_gzip_destroy(struct dft_gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->z);
    free(gzip->text);
    free(gzip->packed);
    free(gzip);
}

struct dft_gzip *dft_gzip_create(dft_gzip_sink_fn *sink, void *context)
{
    struct dft_gzip *gzip = calloc(1, sizeof *gzip);

    if (!gzip)
        return NULL;
    gzip->sink = sink;
    gzip->context = context;
    gzip->capacity = 2 * MEMBER_BYTES;
    gzip->text = malloc(gzip->capacity);
    if (gzip->text && deflateInit2(&gzip->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return gzip;
    dft_gzip_destroy(gzip);
    return NULL;
}

/* Turns the first `length` bytes of the text into a member. */
static int put_member(struct dft_gzip *gzip, size_t length)
{
    size_t bound = deflateBound(&gzip->z, length);
    int rc;

    if (DFT_ARRAY_RESERVE(gzip->packed, gzip->packed_capacity, bound))
        return -ENOMEM;
    deflateReset(&gzip->z);
    gzip->z.next_in = gzip->text;
    gzip->z.avail_in = (uInt)length;
    gzip->z.next_out = gzip->packed;
    gzip->z.avail_out = (uInt)gzip->packed_capacity;
    if (deflate(&gzip->z, Z_FINISH) != Z_STREAM_END)
        return -EIO;
    rc = gzip->sink(gzip->context, gzip->packed, gzip->z.total_out);
    if (rc)
        return rc;
    memmove(gzip->text, gzip->text + length, gzip->used - length);
    gzip->used -= length;
    return 0;
}

/* Finds the end of the text's first member: behind the last line that fits, else behind the first
 * line. The result is 0 when the end is not known yet. */
static size_t member_end(const struct dft_gzip *gzip)
{
    size_t seen = gzip->used < LONGEST ? gzip->used : LONGEST;
    const unsigned char *end;

    if (gzip->used < MEMBER_BYTES)
        return 0;
    end = memrchr(gzip->text, '\n', MEMBER_BYTES);
    if (!end)
        end = memchr(gzip->text + MEMBER_BYTES, '\n', seen - MEMBER_BYTES);
    if (end)
        return (size_t)(end - gzip->text) + 1;
    return seen == LONGEST ? LONGEST : 0;
}

int dft_gzip_put(struct dft_gzip *gzip, const void *bytes, size_t length)
{
    while (length) {
        size_t n = length < MEMBER_BYTES ? length : MEMBER_BYTES, end;

        if (DFT_ARRAY_RESERVE(gzip->text, gzip->capacity, gzip->used + n))
            return -ENOMEM;
        memcpy(gzip->text + gzip->used, bytes, n);
        gzip->used += n;
        bytes = (const char *)bytes + n;
        length -= n;
        while ((end = member_end(gzip))) {
            int rc = put_member(gzip, end);

            if (rc)
                return rc;
        }
    }
    return 0;
}

int dft_gzip_end(struct dft_gzip *gzip)
{
    return gzip->used ? put_member(gzip, gzip->used) : 0;
}
