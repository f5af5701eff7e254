/* SPDX-License-Identifier: MIT */
/* Decoders: their memory, and the way from a payload to its columns. */
#include "decoder.h"

#include <errno.h>
#include <stdlib.h>

#define RAW_SLACK     64u   /* bytes behind the columns that may be read */
#define DEFLATE_RATIO 1032u /* two bits may stand for 258 bytes */

struct dft_decoder *dft_decoder_create(void)
{
    struct dft_decoder *decoder = calloc(1, sizeof *decoder);

    if (!decoder)
        return NULL;
    decoder->inflate = dft_inflate_create();
    if (decoder->inflate)
        return decoder;
    free(decoder);
    return NULL;
}

void dft_decoder_destroy(struct dft_decoder *decoder)
{
    if (!decoder)
        return;
    dft_inflate_destroy(decoder->inflate);
    free(decoder->raw.bytes);
    free(decoder->tail.bytes);
    free(decoder->names.bytes);
    free(decoder->texts.bytes);
    free(decoder->calls.bytes);
    free(decoder->shapes.bytes);
    free(decoder->shape_bytes.bytes);
    free(decoder->call_states.bytes);
    free(decoder->file_states.bytes);
    free(decoder->events.bytes);
    free(decoder->args.bytes);
    free(decoder->times.bytes);
    free(decoder->codes.bytes);
    free(decoder->rows.bytes);
    free(decoder->bins.bytes);
    free(decoder->patterns.bytes);
    free(decoder->samples.bytes);
    free(decoder->numbers.bytes);
    free(decoder);
}

int dft_buffer_reserve(struct dft_buffer *buffer, size_t bytes)
{
    size_t size = buffer->size + buffer->size / 2;
    void *memory;

    if (bytes <= buffer->size && buffer->bytes)
        return 0;
    if (size < bytes)
        size = bytes;
    if (size < 4096)
        size = 4096;
    memory = realloc(buffer->bytes, size);
    if (!memory)
        return -ENOMEM;
    buffer->bytes = memory;
    buffer->size = size;
    return 0;
}

static const char *header_fault(const struct dft_block_header *header)
{
    if (header->raw > DFT_RAW_MAX || header->stored > DFT_STORED_MAX || header->count > DFT_COUNT_MAX)
        return "header: larger than the format allows";
    if (header->tail > header->stored)
        return "header: bit string longer than the payload";
    if (!(header->flags & DFT_BLOCK_DEFLATED) && header->stored - header->tail != header->raw)
        return "header: sizes do not agree";
    if (header->flags & DFT_BLOCK_DEFLATED && header->raw / DEFLATE_RATIO > header->stored - header->tail)
        return "header: more than its payload can hold";
    return NULL;
}

int dft_decoder_open(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                     const struct dft_column_spec *specs, unsigned nspecs, const char **reason)
{
    size_t first = header->stored - header->tail;
    int status;

    decoder->nnames = decoder->ncalls = 0;
    *reason = header_fault(header);
    if (*reason)
        return -EBADMSG;
    /* Results point into the columns, so that they are copied also when they are stored as they
     * are. */
    status = dft_buffer_reserve(&decoder->raw, header->raw + RAW_SLACK);
    if (status)
        return status;
    if (!(header->flags & DFT_BLOCK_DEFLATED)) {
        memcpy(decoder->raw.bytes, payload, header->raw);
    } else {
        status = dft_inflate(decoder->inflate, payload, first, decoder->raw.bytes, header->raw);
        if (status == -EBADMSG)
            *reason = "the deflate stream is damaged";
        if (status)
            return status;
    }
    status = dft_columns_parse(&decoder->columns, specs, nspecs, decoder->raw.bytes, header->raw);
    return dft_decoder_result(decoder, status, reason);
}

int dft_decoder_result(const struct dft_decoder *decoder, int status, const char **reason)
{
    if (!status && decoder->columns.reason)
        status = -EBADMSG;
    if (status == -EBADMSG)
        *reason = decoder->columns.reason;
    return status;
}
