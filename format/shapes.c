/* SPDX-License-Identifier: MIT */
/* The column SHAPE, both directions. Where a loop of a few calls fills a block, only its beginning
 * is written: deflate would make nothing of the rest, but has to look at it. */
#include "shapes.h"

#include <errno.h>

#define PERIOD_MAX 4u   /* calls in a loop that are looked for */
#define REPEATED   32u  /* events for which a rest is left out */
#define ONE_BYTE   128u /* shapes below this are one byte each */

/* The place from which on each byte is the one that is `period` before it. */
static size_t repeats_from(const uint8_t *bytes, size_t length, size_t period)
{
    size_t from = length;

    while (from >= period + 8 && dft_load64(bytes + from - 8) == dft_load64(bytes + from - 8 - period))
        from -= 8;
    while (from > period && bytes[from - 1] == bytes[from - 1 - period])
        from--;
    return from;
}

void dft_shapes_put(struct dft_raw *raw, const uint8_t *bytes, size_t length, uint32_t nshapes)
{
    size_t least = length, period = 0;

    for (size_t i = 1; i <= PERIOD_MAX && nshapes <= ONE_BYTE; i++) {
        size_t from = repeats_from(bytes, length, i);

        if (from < least) {
            least = from;
            period = i;
        }
    }
    if (length - least < REPEATED) {
        dft_raw_column(raw, DFT_EV_SHAPE, DFT_ENC_LEB128, bytes, length);
        return;
    }
    dft_raw_open(raw, DFT_EV_SHAPE, DFT_ENC_REPEATED);
    dft_raw_leb(raw, period);
    dft_raw_bytes(raw, bytes, least);
    dft_raw_close(raw);
}

/* Repeats the last `period` bytes of those present, twice as many at a time. */
static void fill(uint8_t *bytes, size_t given, size_t period, size_t count)
{
    const uint8_t *from = bytes + given - period;

    while (given < count) {
        size_t more = (size_t)(bytes + given - from);

        if (more > count - given)
            more = count - given;
        memcpy(bytes + given, from, more);
        given += more;
    }
}

int dft_shapes_get(struct dft_decoder *decoder, uint32_t count)
{
    struct dft_column *column = &decoder->columns.list[DFT_EV_SHAPE];
    uint64_t period, given;
    uint8_t *bytes, all = 0;

    if (column->encoding != DFT_ENC_REPEATED)
        return 0;
    period = dft_column_leb(&decoder->columns, DFT_EV_SHAPE);
    given = dft_column_left(&decoder->columns, DFT_EV_SHAPE);
    if (dft_buffer_reserve(&decoder->shape_bytes, (size_t)count + 1))
        return -ENOMEM;
    if (!period || period > given || given > count) {
        dft_column_fault(&decoder->columns, DFT_EV_SHAPE);
        return -EBADMSG;
    }
    bytes = decoder->shape_bytes.bytes;
    memcpy(bytes, column->at, given);
    for (uint64_t i = 0; i < given; i++)
        all |= bytes[i];
    fill(bytes, given, period, count);
    if (all >= ONE_BYTE)
        dft_column_fault(&decoder->columns, DFT_EV_SHAPE);
    column->at = bytes;
    column->end = bytes + count;
    return decoder->columns.reason ? -EBADMSG : 0;
}
