/* SPDX-License-Identifier: MIT */
/* The insides of an encoder, for the files that make blocks. */
#ifndef DFT_ENCODER_H
#define DFT_ENCODER_H

#include "format/encode.h"
#include "format/events_encoder.h"
#include "idmap.h"
#include "format/leb128.h"

#define DFT_ARENA_BYTES (6u << 20)

/* A list of columns under construction. What does not fit sets `full` and is not written. */
struct dft_raw {
    uint8_t *start, *at, *end;
    uint8_t *before, *column; /* the open column: its beginning, and that of its content */
    int full;
};

struct dft_entries {
    struct dft_idmap *map;
    struct dft_entry *list;
    uint32_t *order; /* position in the column -> entry */
    uint32_t count, capacity;
    uint32_t referred; /* positions assigned */
    const struct dft_name *names;
};

struct dft_encoder {
    enum dft_compression compression;
    uint32_t store_first; /* so many bytes more are stored as they are */
    uint8_t coarse_times; /* multiples of a microsecond are expected */
    struct dft_idmap names, calls, shapes;
    struct dft_raw raw;
    uint8_t *arena, *arena_end;
    uint8_t *arena_at;
    uint8_t *raw_bytes;
    size_t raw_capacity;
    uint8_t *block; /* output: header, payload, padding */
    void *workspace;
};

/* Memory of this block only, not cleared, aligned to 16; NULL: there is no more. */
static inline void *dft_arena_take(struct dft_encoder *encoder, uint64_t bytes)
{
    uint8_t *at = encoder->arena_at;

    if (bytes > (uint64_t)(encoder->arena_end - at) - 15)
        return NULL;
    encoder->arena_at = at + ((bytes + 15) & ~UINT64_C(15));
    return at;
}

/* Begins a block: empties the arena and the list of columns. */
void dft_block_begin(struct dft_encoder *encoder);

/* Ends a block: compresses the columns, appends the bit string, fills in sizes and checksums of the
 * header. Returns the bytes at *block, or -E2BIG. */
long dft_block_end(struct dft_encoder *encoder, struct dft_block_header *header, const uint8_t *tail, size_t tail_bytes,
                   const void **block);

/* Columns: opened and closed around content put in place, or whole. */
void dft_raw_open(struct dft_raw *raw, unsigned id, enum dft_encoding encoding);
void dft_raw_close(struct dft_raw *raw);
/* The same, or the column is left out: it has nothing but zeros, which is what an absent one means. */
void dft_raw_close_or_drop(struct dft_raw *raw);
void dft_raw_column(struct dft_raw *raw, unsigned id, enum dft_encoding encoding, const void *bytes, size_t length);
void dft_raw_bytes(struct dft_raw *raw, const void *bytes, size_t length);
/* A column of numbers, one at least, as distances. Returns 0 or -EINVAL: they must ascend, up to
 * `most`. */
int dft_raw_ascending(struct dft_raw *raw, unsigned id, const uint32_t *numbers, uint32_t count, uint64_t most);

static inline void dft_raw_leb(struct dft_raw *raw, uint64_t value)
{
    if (dft_unlikely(raw->end - raw->at < DFT_LEB_MAX))
        raw->full = 1;
    else
        raw->at = dft_leb_put(raw->at, value);
}

/* names.c: the entries of a block. `bound`: at most so many different ids will be requested.
 * Returns 0 or -E2BIG. */
int dft_entries_begin(struct dft_encoder *encoder, struct dft_entries *entries, uint64_t bound);
/* Takes definitions that are at hand. Once a block. Returns 0 or -E2BIG. */
int dft_entries_define(struct dft_entries *entries, const struct dft_name *names, uint32_t count);
/* Entry of an id, made if need be; NULL: too many. */
struct dft_entry *dft_entries_get(struct dft_entries *entries, uint64_t id);

/* The position of an entry, assigned at the first reference. */
static inline uint32_t dft_entries_refer(struct dft_entries *entries, struct dft_entry *entry)
{
    if (entry->position == DFT_NO_POSITION) {
        entry->position = entries->referred;
        entries->order[entries->referred++] = (uint32_t)(entry - entries->list);
    }
    return entry->position;
}

/* Writes the column NAMES: what was referred to, in order, and then the other definitions at hand.
 * Returns their number. */
uint32_t dft_names_put(struct dft_raw *raw, struct dft_entries *entries);

/* Writes the column CALLS: calls[order[0 .. count - 1]], or the first `count` if order is NULL.
 * Names them through `entries`, so it comes before dft_names_put. Returns 0, -E2BIG, or -EINVAL (a
 * text over DFT_TEXT_MAX). */
int dft_calls_put(struct dft_raw *raw, struct dft_entries *entries, const struct dft_call *calls, const uint32_t *order,
                  uint32_t count);

#endif
