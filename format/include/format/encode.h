/* SPDX-License-Identifier: MIT */
/* Encoders: blocks from batches, rows and records.
 *
 * Encoders run in a traced process with all signals blocked. They allocate nothing, call nothing of
 * libc but the mem* functions, use at most 4 KiB of stack, and touch memory in proportion to the
 * batch. */
#ifndef DFT_FORMAT_ENCODE_H
#define DFT_FORMAT_ENCODE_H

#include <stddef.h>

#include "format/counter.h"
#include "format/event.h"
#include "format/row.h"

/* Working memory of an encoder: `dft_encoder_bytes()` bytes of zeroed memory from the caller,
 * aligned to 64 (an anonymous mapping: address space of some 20 MB, of which a small batch touches
 * a few pages). The encoder lies at its beginning and may make any number of blocks, one at a time.
 * A copy of the memory (a forked child's) at the same address is an encoder as well. */
struct dft_encoder;
size_t dft_encoder_bytes(void);
struct dft_encoder *dft_encoder_init(void *memory);
/* The same with 2^-share of the room, for blocks that have no more than that share of
 * everything. */
size_t dft_encoder_share_bytes(unsigned share);
struct dft_encoder *dft_encoder_share_init(void *memory, unsigned share);

/* Copies another encoder's settings for the next blocks. */
void dft_encoder_inherit(struct dft_encoder *encoder, const struct dft_encoder *from);

#define DFT_ENCODER_RAW_MAX (4u << 20) /* raw size of the blocks that the encoder makes */

enum dft_compression { DFT_STORE = 0, DFT_DEFLATE = 1 };

/* How the next blocks are compressed; at first: DFT_DEFLATE. */
void dft_encoder_set_compression(struct dft_encoder *encoder, enum dft_compression compression);

/* The next blocks are stored until they hold so many bytes: a compressor would touch some 50 pages
 * of memory for them. */
void dft_encoder_store_first(struct dft_encoder *encoder, uint32_t bytes);

/* Whether the times of the next blocks are expected to be multiples of a microsecond, and written
 * as such where they are. */
void dft_encoder_coarse_times(struct dft_encoder *encoder, int coarse);

/* Sets start and end to the first start and the last end of its rows. */
void dft_buckets_find_times(struct dft_buckets *buckets);

/* Each writes one whole block, header and padding included, into the encoder's own output buffer:
 * *block points there, valid until the next call. Returns the number of bytes, or -EINVAL (more
 * than DFT_BLOCK_EVENTS_MAX events or DFT_COUNT_MAX rows, calls or samples or DFT_ARGS_MAX
 * arguments; a position, phase, kind or bin out of range; arguments not in order), or -E2BIG (raw
 * size over DFT_ENCODER_RAW_MAX, more than DFT_NAMES_MAX names: split the batch). Numbers of events
 * that do not ascend within the range are -EINVAL. What one drain of a ring of 4,096 slots takes
 * always fits.
 *
 * Names and calls: those that events and rows refer to are written in order of their first use,
 * then the other names that have a text. Calls that nothing refers to are left out of EVENTS. Texts
 * over DFT_TEXT_MAX are cut and marked. */
long dft_encode_events(struct dft_encoder *, const struct dft_batch *batch, const void **block);
long dft_encode_buckets(struct dft_encoder *, const struct dft_buckets *buckets, const void **block);
long dft_encode_counters(struct dft_encoder *, const struct dft_counters *counters, const void **block);
long dft_encode_process(struct dft_encoder *, const struct dft_process *process, const void **block);
long dft_encode_clock(struct dft_encoder *, uint64_t key, const uint64_t (*samples)[2], uint32_t count,
                      const void **block);
long dft_encode_end(struct dft_encoder *, const struct dft_end *end, const void **block);
long dft_encode_origin(struct dft_encoder *, const struct dft_origin *origin, const void **block);
long dft_encode_group(struct dft_encoder *, const struct dft_group_record *group, const void **block);
long dft_encode_names(struct dft_encoder *, uint64_t key, const struct dft_name *names, uint32_t count,
                      const void **block);

#endif
