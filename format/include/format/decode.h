/* SPDX-License-Identifier: MIT */
/* Decoders: batches, rows and records from the payloads of blocks. For tools; they allocate. */
#ifndef DFT_FORMAT_DECODE_H
#define DFT_FORMAT_DECODE_H

#include "format/counter.h"
#include "format/event.h"
#include "format/row.h"

/* Decoders. `decoder` owns all memory that the results point into; it is valid until the next call
 * with the same decoder. Memory is bounded by the limits of format.h whatever the bytes are. Each
 * returns 0, -ENOMEM, or -EBADMSG with *why a static text ("column SIZE ends early"). `payload` has
 * header->stored bytes whose checksum was verified. */
struct dft_decoder;
struct dft_decoder *dft_decoder_create(void); /* NULL: no memory */
void dft_decoder_destroy(struct dft_decoder *);
int dft_decode_events(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                      struct dft_batch *batch, const char **reason);
/* The same where only some blocks are wanted: `wants` is called with a batch that has the block's calls
 * and names alone. When it returns 0, the result has no events, and they cost no work. */
typedef int dft_decode_wants_fn(void *context, const struct dft_batch *batch);
int dft_decode_events_if(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                         dft_decode_wants_fn *wants, void *context, struct dft_batch *batch, const char **reason);
int dft_decode_buckets(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                       struct dft_buckets *buckets, const char **reason);
int dft_decode_counters(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                        struct dft_counters *counters, const char **reason);
int dft_decode_process(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                       struct dft_process *process, const char **reason);
int dft_decode_clock(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     const uint64_t (**samples)[2], uint32_t *count, const char **reason);
int dft_decode_end(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                   struct dft_end *end, const char **reason);
int dft_decode_origin(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                      struct dft_origin *origin, const char **reason);
int dft_decode_group(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     struct dft_group_record *group, const char **reason);
/* Just the names of any block that has the column NAMES (EVENTS, BUCKETS, COUNTERS,
 * NAMES). */
int dft_decode_names(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     const struct dft_name **names, uint32_t *count, const char **reason);

#endif
