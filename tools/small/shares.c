/* SPDX-License-Identifier: MIT */
/* What each block type and column costs.
 *
 * The stored share of a column is exact: the deflate stream is inflated column by column, and the
 * bits that were consumed when a column's last byte came out are counted for it (a Huffman table
 * counts for the column in which it stands). */
#include "small/shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const type_names[DFT_SHARE_TYPES] = {
    [DFT_BLOCK_PROCESS] = "PROCESS", [DFT_BLOCK_CLOCK] = "CLOCK",     [DFT_BLOCK_NAMES] = "NAMES",
    [DFT_BLOCK_EVENTS] = "EVENTS",   [DFT_BLOCK_BUCKETS] = "BUCKETS", [DFT_BLOCK_COUNTERS] = "COUNTERS",
    [DFT_BLOCK_STACKS] = "STACKS",   [DFT_BLOCK_END] = "END",         [DFT_BLOCK_INDEX] = "INDEX",
    [DFT_BLOCK_ORIGIN] = "ORIGIN",
};

#define COLUMN(prefix, name) [prefix##name] = #name

static const char *const events_names[DFT_SHARE_COLUMNS] = {
    COLUMN(DFT_COL_, NAMES),    COLUMN(DFT_COL_, CALLS),    COLUMN(DFT_EV_, SHAPES),  COLUMN(DFT_EV_, SHAPE),
    COLUMN(DFT_EV_, GAP),       COLUMN(DFT_EV_, DURATION),  COLUMN(DFT_EV_, FILE),    COLUMN(DFT_EV_, SIZE),
    COLUMN(DFT_EV_, UNIT),      COLUMN(DFT_EV_, CALLS_RUN), COLUMN(DFT_EV_, RESULT),  COLUMN(DFT_EV_, ERRNO),
    COLUMN(DFT_EV_, OFFSET),    COLUMN(DFT_EV_, FD),        COLUMN(DFT_EV_, FLAGS),   COLUMN(DFT_EV_, MODE),
    COLUMN(DFT_EV_, REGION),    COLUMN(DFT_EV_, DEPTH),     COLUMN(DFT_EV_, FILE2),   COLUMN(DFT_EV_, STACK),
    COLUMN(DFT_EV_, ID),        COLUMN(DFT_EV_, ARG_EVENT), COLUMN(DFT_EV_, ARG_KEY), COLUMN(DFT_EV_, ARG_TYPE),
    COLUMN(DFT_EV_, ARG_VALUE),
};

static const char *const buckets_names[DFT_SHARE_COLUMNS] = {
    COLUMN(DFT_COL_, NAMES),     COLUMN(DFT_COL_, CALLS),      COLUMN(DFT_BK_, INTERVAL_NS), COLUMN(DFT_BK_, KIND),
    COLUMN(DFT_BK_, INTERVAL),   COLUMN(DFT_BK_, REGION),      COLUMN(DFT_BK_, SUBJECT),     COLUMN(DFT_BK_, CLASS),
    COLUMN(DFT_BK_, COUNT),      COLUMN(DFT_BK_, SAMPLES),     COLUMN(DFT_BK_, ERRORS),      COLUMN(DFT_BK_, DUR_MIN),
    COLUMN(DFT_BK_, DUR_MAX),    COLUMN(DFT_BK_, DUR_SUM),     COLUMN(DFT_BK_, EDGE),        COLUMN(DFT_BK_, STEP),
    COLUMN(DFT_BK_, DATA),       COLUMN(DFT_BK_, SIZE_MIN),    COLUMN(DFT_BK_, SIZE_MAX),    COLUMN(DFT_BK_, BYTES),
    COLUMN(DFT_BK_, OFFSET_MIN), COLUMN(DFT_BK_, OFFSET_MAX),  COLUMN(DFT_BK_, FIRST),       COLUMN(DFT_BK_, LAST),
    COLUMN(DFT_BK_, SEQUENTIAL), COLUMN(DFT_BK_, CONSECUTIVE), COLUMN(DFT_BK_, BINS),
};

static const char *const counters_names[DFT_SHARE_COLUMNS] = {
    COLUMN(DFT_COL_, NAMES),  COLUMN(DFT_CN_, SERIES), COLUMN(DFT_CN_, TIME),
    COLUMN(DFT_CN_, MEMBERS), COLUMN(DFT_CN_, VALUE),
};

static const char *const process_names[DFT_SHARE_COLUMNS] = {
    COLUMN(DFT_PR_, PID),           COLUMN(DFT_PR_, PPID),         COLUMN(DFT_PR_, PARENT_KEY),
    COLUMN(DFT_PR_, RANK),          COLUMN(DFT_PR_, LOCAL_RANK),   COLUMN(DFT_PR_, WORLD_SIZE),
    COLUMN(DFT_PR_, START_NS),      COLUMN(DFT_PR_, CLOCK_OFFSET), COLUMN(DFT_PR_, HOST),
    COLUMN(DFT_PR_, JOB_ID),        COLUMN(DFT_PR_, EXE),          COLUMN(DFT_PR_, COMMAND),
    COLUMN(DFT_PR_, CWD),           COLUMN(DFT_PR_, VERSION),      COLUMN(DFT_PR_, OPTIONS),
    COLUMN(DFT_PR_, LIVE_PATH),     COLUMN(DFT_PR_, NOTES),        COLUMN(DFT_PR_, BOOT_ID),
    COLUMN(DFT_PR_, PID_NAMESPACE), COLUMN(DFT_PR_, RUN_ID),       COLUMN(DFT_PR_, ROLE),
    COLUMN(DFT_PR_, MOUNTS),        COLUMN(DFT_PR_, KEPT),
};

static const char *const end_names[DFT_SHARE_COLUMNS] = {
    COLUMN(DFT_END_, EVENTS), COLUMN(DFT_END_, DROPPED), COLUMN(DFT_END_, OVERHEAD_NS),
    COLUMN(DFT_END_, HOW),    COLUMN(DFT_END_, STATUS),  COLUMN(DFT_END_, TIME_NS),
    COLUMN(DFT_END_, MISUSE), COLUMN(DFT_END_, UNMET),   COLUMN(DFT_END_, OUTSIDE),
};

static const char *const clock_names[DFT_SHARE_COLUMNS] = {COLUMN(DFT_CLOCK_, SAMPLES)};
static const char *const names_names[DFT_SHARE_COLUMNS] = {COLUMN(DFT_COL_, NAMES)};

const char *dft_share_type_name(unsigned type)
{
    return type < DFT_SHARE_TYPES ? type_names[type] : NULL;
}

const char *dft_share_column_name(unsigned type, unsigned column)
{
    static const char *const *const names[DFT_SHARE_TYPES] = {
        [DFT_BLOCK_PROCESS] = process_names,   [DFT_BLOCK_CLOCK] = clock_names,     [DFT_BLOCK_NAMES] = names_names,
        [DFT_BLOCK_EVENTS] = events_names,     [DFT_BLOCK_BUCKETS] = buckets_names, [DFT_BLOCK_END] = end_names,
        [DFT_BLOCK_COUNTERS] = counters_names,
    };

    return type < DFT_SHARE_TYPES && column < DFT_SHARE_COLUMNS && names[type] ? names[type][column] : NULL;
}

/* The raw bytes of a block as they come out, with the bits consumed so far. */
struct flow {
    z_stream z;
    int deflated;
    const unsigned char *stored; /* when not deflated */
    size_t left;                 /* raw bytes that are to come */
    uint64_t bits;
};

static int flow_read(struct flow *flow, unsigned char *bytes, size_t length)
{
    if (length > flow->left)
        return -EBADMSG;
    flow->left -= length;
    if (!flow->deflated) {
        memcpy(bytes, flow->stored, length);
        flow->stored += length;
        flow->bits += length * 8;
        return 0;
    }
    flow->z.next_out = bytes;
    flow->z.avail_out = (uInt)length;
    while (flow->z.avail_out) {
        int state = inflate(&flow->z, Z_SYNC_FLUSH);

        if (state != Z_OK && !(state == Z_STREAM_END && flow->z.avail_out == 0))
            return -EBADMSG;
    }
    flow->bits = (uint64_t)flow->z.total_in * 8 - (unsigned)(flow->z.data_type & 63);
    return 0;
}

/* Reads a LEB128 byte by byte and counts its length. */
static int flow_leb(struct flow *flow, uint64_t *value, uint64_t *used)
{
    unsigned char byte;

    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        int error = flow_read(flow, &byte, 1);

        if (error)
            return error;
        *used += 1;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return 0;
    }
    return -EBADMSG;
}

static int flow_column(struct flow *flow, struct dft_column_share columns[DFT_SHARE_COLUMNS], unsigned char *scratch)
{
    uint64_t id, encoding, length, used = 0, before = flow->bits;
    struct dft_column_share *column;
    int error = flow_leb(flow, &id, &used);

    if (!error)
        error = flow_leb(flow, &encoding, &used);
    if (!error)
        error = flow_leb(flow, &length, &used);
    if (!error)
        error = length > flow->left ? -EBADMSG : flow_read(flow, scratch, (size_t)length);
    if (error)
        return error;
    column = &columns[id < DFT_SHARE_COLUMNS ? id : DFT_SHARE_COLUMNS - 1];
    column->blocks++;
    column->raw_bytes += used + length;
    column->stored_bits += flow->bits - before;
    return 0;
}

static int add_columns(struct dft_type_share *type, const struct dft_block_header *header, const void *payload)
{
    struct dft_column_share columns[DFT_SHARE_COLUMNS] = {0};
    struct flow flow = {.deflated = header->flags & DFT_BLOCK_DEFLATED, .stored = payload, .left = header->raw};
    unsigned char *scratch = malloc(header->raw ? header->raw : 1);
    int error = scratch ? 0 : -ENOMEM;

    flow.z.next_in = (unsigned char *)(uintptr_t)payload;
    flow.z.avail_in = header->stored - header->tail;
    if (!error && flow.deflated && inflateInit2(&flow.z, -15) != Z_OK)
        error = -ENOMEM;
    if (error)
        goto out;
    if (!flow.deflated && header->stored - header->tail != header->raw)
        error = -EBADMSG;
    while (!error && flow.left)
        error = flow_column(&flow, columns, scratch);
    if (flow.deflated)
        inflateEnd(&flow.z);
    if (error)
        goto out;
    type->end_bits += (uint64_t)(header->stored - header->tail) * 8 - flow.bits;
    for (unsigned i = 0; i < DFT_SHARE_COLUMNS; i++) {
        type->columns[i].blocks += columns[i].blocks;
        type->columns[i].raw_bytes += columns[i].raw_bytes;
        type->columns[i].stored_bits += columns[i].stored_bits;
    }
out:
    free(scratch);
    return error;
}

int dft_shares_add(struct dft_type_share types[DFT_SHARE_TYPES], const struct dft_block_header *header,
                   const void *payload)
{
    struct dft_type_share *type = &types[header->type < DFT_SHARE_TYPES ? header->type : DFT_SHARE_TYPES - 1];

    if (header->raw > DFT_RAW_MAX || header->stored > DFT_STORED_MAX || header->tail > header->stored)
        return -EBADMSG;
    type->blocks++;
    type->count += header->count;
    type->header_bytes += sizeof(*header) + (-(uint64_t)header->stored & 7);
    type->stored_bytes += header->stored;
    type->raw_bytes += header->raw;
    type->tail_bytes += header->tail;
    return add_columns(type, header, payload);
}
