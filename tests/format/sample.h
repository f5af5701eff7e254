/* SPDX-License-Identifier: MIT */
/* Random but reproducible batches, rows and records for the tests of the format, and their
 * comparison. */
#ifndef DFT_TESTS_SAMPLE_H
#define DFT_TESTS_SAMPLE_H

#include "format/decode.h"
#include "format/encode.h"

uint64_t sample_random(void);
void sample_seed(uint64_t seed);
static inline uint64_t sample_below(uint64_t n)
{
    return sample_random() % n;
}
/* A number of any magnitude. */
uint64_t sample_wild(void);

/* A batch of `count` events. wild: any value a field can hold, else what programs do. What it
 * points to belongs to it: freed by sample_batch_free. */
struct dft_batch sample_batch(uint32_t count, int wild);
void sample_batch_free(struct dft_batch *batch);

/* Pieces of both: memory that is there, a name, a call, the id of one of the names. */
void *sample_must(void *memory);
struct dft_name sample_make_name(void);
struct dft_call sample_make_call(const struct dft_name *names, uint32_t nnames);
uint64_t sample_pick_id(const struct dft_name *names, uint32_t nnames);

/* `count` rows of all kinds. */
struct dft_buckets sample_buckets(uint32_t count, int wild);
void sample_buckets_free(struct dft_buckets *buckets);

/* Same events (calls by id and op), arguments, and every text of `before`'s names. NULL: yes; else
 * what differs. */
const char *sample_batch_differs(const struct dft_batch *before, const struct dft_batch *after);
const char *sample_buckets_differ(const struct dft_buckets *before, const struct dft_buckets *after);
int sample_text_differs(struct dft_text a, struct dft_text b);

/* An encoder in fresh memory. */
struct dft_encoder *sample_encoder(enum dft_compression compression);
void sample_encoder_free(struct dft_encoder *encoder);

/* The decoder of a suite, from its beginning to its end. */
extern struct dft_decoder *sample_decoder;
int sample_decoder_begin(void);
int sample_decoder_end(void);

/* Finds the one block in `bytes`. Returns its payload, or NULL. */
const void *sample_block(const void *bytes, size_t length, struct dft_block_header *header);

#endif
