/* SPDX-License-Identifier: MIT */
/* Blocks from batches and back: the encoders (no allocation, for the traced process too) and the decoders (for tools).
 *
 * Encoders run in a stranger's process with all signals blocked: they allocate nothing, call nothing of libc but the
 * mem* functions, use at most 4 KiB of stack outside the compressor, and touch only memory in proportion to the
 * batch. */
#ifndef DFT_CODEC_H
#define DFT_CODEC_H

#include <stddef.h>

#include "format/event.h"
#include "format/row.h"

/* Working memory of an encoder: `dft_encoder_bytes()` bytes of zeroed memory from the caller, aligned to 64 (an
 * anonymous mapping: address space of some 20 MB, of which a small batch touches a few pages). The encoder lies at its
 * beginning and may make any number of blocks, one at a time. A copy of the memory (a forked child's) at the same
 * address is an encoder as well. */
struct dft_encoder;
size_t dft_encoder_bytes(void);
struct dft_encoder *dft_encoder_init(void *memory);
/* The same with 2^-share of the room, for blocks that have no more than that share of everything. */
size_t dft_encoder_share_bytes(unsigned share);
struct dft_encoder *dft_encoder_share_init(void *memory, unsigned share);

/* Goes on with what another encoder has found out about the process's times, instead of trying anew. */
void dft_encoder_inherit(struct dft_encoder *encoder, const struct dft_encoder *from);

#define DFT_ENCODER_RAW_MAX (4u << 20) /* raw size of the blocks that the encoder makes */

enum dft_compression { DFT_STORE = 0, DFT_DEFLATE = 1 };

/* How the next blocks are compressed; at first: DFT_DEFLATE. */
void dft_encoder_set_compression(struct dft_encoder *encoder, enum dft_compression compression);

/* The next blocks are stored until they hold so many bytes: a compressor would touch some 50 pages of memory for them. */
void dft_encoder_store_first(struct dft_encoder *encoder, uint32_t bytes);

/* Forgets what it learnt from earlier blocks, so that the next one does not depend on them. */
void dft_encoder_forget(struct dft_encoder *encoder);
/* The same, and from now on times are expected to be multiples of a microsecond, and written as such where they are. */
void dft_encoder_coarse_times(struct dft_encoder *encoder);

/* Each writes one whole block, header and padding included, into the encoder's own output buffer: *block points there,
 * valid until the next call. Returns the number of bytes, or -EINVAL (more than DFT_BLOCK_EVENTS_MAX events or
 * DFT_COUNT_MAX rows, calls or samples or DFT_ARGS_MAX arguments; a position, phase, kind or bin out of range;
 * arguments not in order), or -E2BIG (raw size over DFT_ENCODER_RAW_MAX, more than DFT_NAMES_MAX names: split the
 * batch). Numbers of events that do not ascend within the range are -EINVAL. What one drain of a ring of 4,096 slots takes always fits.
 *
 * Names and calls: those that events and rows refer to are written in order of their first use, then the other names
 * that have a text. Calls that nothing refers to are left out of EVENTS. Texts over DFT_TEXT_MAX are cut and marked. */
long dft_encode_events(struct dft_encoder *, const struct dft_batch *batch, const void **block);
long dft_encode_buckets(struct dft_encoder *, const struct dft_buckets *buckets, const void **block);
long dft_encode_process(struct dft_encoder *, const struct dft_process *process, const void **block);
long dft_encode_clock(struct dft_encoder *, uint64_t key, const uint64_t (*samples)[2], uint32_t count,
                      const void **block);
long dft_encode_end(struct dft_encoder *, const struct dft_end *end, const void **block);
long dft_encode_origin(struct dft_encoder *, const struct dft_origin *origin, const void **block);
long dft_encode_group(struct dft_encoder *, const struct dft_group_record *group, const void **block);
long dft_encode_names(struct dft_encoder *, uint64_t key, const struct dft_name *names, uint32_t count,
                      const void **block);

/* Decoders. `decoder` owns all memory that the results point into; it is valid until the next call with the same
 * decoder. Memory is bounded by the limits of format.h whatever the bytes are. Each returns 0, -ENOMEM, or -EBADMSG
 * with *why a static text ("column SIZE ends early"). `payload` has header->stored bytes whose checksum was
 * verified. */
struct dft_decoder;
struct dft_decoder *dft_decoder_create(void); /* NULL: no memory */
void dft_decoder_destroy(struct dft_decoder *);
int dft_decode_events(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                      struct dft_batch *batch, const char **why);
int dft_decode_buckets(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                       struct dft_buckets *buckets, const char **why);
int dft_decode_process(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                       struct dft_process *process, const char **why);
int dft_decode_clock(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     const uint64_t (**samples)[2], uint32_t *count, const char **why);
int dft_decode_end(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                   struct dft_end *end, const char **why);
int dft_decode_origin(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                      struct dft_origin *origin, const char **why);
int dft_decode_group(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     struct dft_group_record *group, const char **why);
/* Just the names of any block that has the column NAMES (EVENTS, BUCKETS, NAMES). */
int dft_decode_names(struct dft_decoder *, const struct dft_block_header *header, const void *payload,
                     const struct dft_name **names, uint32_t *count, const char **why);

/* Bytes moved by one event, by the rule of its op. */
static inline uint64_t dft_event_bytes(const struct dft_event *event, uint8_t op);
/* The id of a name. */
uint64_t dft_name_id(const void *bytes, size_t length);
/* CRC32C of bytes, continuing from crc (0 at first). */
uint32_t dft_crc32c(uint32_t crc, const void *bytes, size_t length);

/* Finding blocks in a byte range (a mapped file, or a window of one). Starts at *offset; on success *offset stands
 * behind the block found at *found (its header is copied to *header, already checked: magic, version, checksums,
 * limits), and what was passed over is added to *skipped (zeroed by the caller at first). */
struct dft_skipped {
    uint64_t holes;         /* bytes of zeros, and of unfinished blocks */
    uint32_t unfinished;    /* blocks of that type: no damage */
    uint64_t bytes;         /* other bytes that belong to no whole block */
    uint32_t damaged;       /* blocks with a magic whose checksum or limits do not fit, or that are cut by the end */
    uint64_t first_damaged; /* offset of the first of them */
    const char *why;        /* of the first: "header checksum differs", "payload checksum differs", "cut short" ... */
    uint64_t vain;          /* payload bytes checked without success: bounds the time that hostile bytes can take */
};
/* Returns 1: found, 0: end of the range. Blocks of unknown types are found too: the caller passes over them and counts
 * them. A block that the end of the range cuts is damaged: a window must hold whole blocks. */
int dft_block_next(const void *bytes, size_t length, size_t *offset, struct dft_block_header *header, size_t *found,
                   struct dft_skipped *skipped);

#include "format/ops.h"

static inline uint64_t dft_event_bytes(const struct dft_event *event, uint8_t op)
{
    enum dft_bytes_rule rule = dft_op_bytes(op);

    if (event->result <= 0 || rule == DFT_BYTES_NOTHING)
        return 0;
    return rule == DFT_BYTES_ITEMS ? (uint64_t)event->result * event->unit : (uint64_t)event->result;
}

/* The i-th event of a batch, which is in this streak; `bytes` moved each of them. */
static inline void dft_streak_event(const struct dft_batch *batch, const struct dft_streak *streak, uint32_t i,
                                    uint64_t bytes, struct dft_event *event)
{
    *event = batch->events[streak->first];
    if (event->offset != -1)
        event->offset += (int64_t)((i - streak->first) * bytes);
    if (i > streak->first) {
        event->start_ns = batch->when[i].start_ns;
        event->dur_ns = batch->when[i].dur_ns;
    }
}

#endif
