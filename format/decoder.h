/* SPDX-License-Identifier: MIT */
/* The insides of a decoder, for the files that read blocks. */
#ifndef DFT_DECODER_H
#define DFT_DECODER_H

#include "format/decode.h"
#include "columns.h"
#include "format/inflate.h"

/* Memory that grows, and is kept for the next block. */
struct dft_buffer {
    void *bytes;
    size_t size;
};

struct dft_decoder {
    struct dft_inflate *inflate;
    struct dft_columns columns;
    struct dft_buffer raw, tail, names, texts, calls, shapes, call_states, file_states, events, args, times, codes,
        rows, bins, patterns, samples, numbers, shape_bytes;
    uint32_t nnames, ncalls;
};

/* At least `bytes` of memory, its content kept. Returns 0 or -ENOMEM. */
int dft_buffer_reserve(struct dft_buffer *buffer, size_t bytes);

/* Inflates the columns of a block and finds their places. Returns 0, -ENOMEM, or -EBADMSG and
 * *why. */
int dft_decoder_open(struct dft_decoder *decoder, const struct dft_block_header *header, const void *payload,
                     const struct dft_column_spec *specs, unsigned nspecs, const char **reason);

/* The result of a decoding function: what the columns say. */
int dft_decoder_result(const struct dft_decoder *decoder, int status, const char **reason);

/* names.c: reads the columns NAMES and CALLS into the decoder's names and calls. Returns 0, -ENOMEM
 * or -EBADMSG. */
int dft_names_get(struct dft_decoder *decoder);
int dft_calls_get(struct dft_decoder *decoder);

#endif
