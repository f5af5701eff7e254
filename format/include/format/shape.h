/* SPDX-License-Identifier: MIT */
/* What encoder and decoder of EVENTS share: the flags of a shape and the prediction state. */
#ifndef DFT_SHAPE_H
#define DFT_SHAPE_H

#include "format/event.h"

enum dft_shape_result { DFT_RESULT_SIZE = 0, DFT_RESULT_ZERO = 1, DFT_RESULT_FAILED = 2, DFT_RESULT_EXPLICIT = 3 };
enum dft_shape_offset { DFT_OFFSET_NONE = 0, DFT_OFFSET_END = 1, DFT_OFFSET_EXPLICIT = 2 };
enum dft_shape_errno { DFT_ERRNO_NONE = 0, DFT_ERRNO_LAST = 1, DFT_ERRNO_EXPLICIT = 2 };
enum dft_shape_file { DFT_FILE_RECENT = 0, DFT_FILE_NEW = 4, DFT_FILE_EXPLICIT = 5, DFT_FILE_NONE = 6 };

#define DFT_RECENT 4u
#define DFT_BITS_KNOWN                                                                                                 \
    (DFT_BIT_SEQUENTIAL | DFT_BIT_CONSECUTIVE | DFT_BIT_VFORK | DFT_BIT_CUT | DFT_BIT_OPEN | DFT_BIT_TURN)
#define DFT_BITS_SHIFT  16 /* SEQUENTIAL, CONSECUTIVE */
#define DFT_BITS_SHIFT2 25 /* VFORK, CUT, OPEN */
#define DFT_BITS_SHIFT3 26 /* TURN */

_Static_assert(DFT_BIT_SEQUENTIAL << DFT_BITS_SHIFT == DFT_F_SEQUENTIAL, "bits are moved together");
_Static_assert(DFT_BIT_CONSECUTIVE << DFT_BITS_SHIFT == DFT_F_CONSECUTIVE, "bits are moved together");
_Static_assert(DFT_BIT_VFORK << DFT_BITS_SHIFT2 == DFT_F_VFORK, "bits are moved together");
_Static_assert(DFT_BIT_CUT << DFT_BITS_SHIFT2 == DFT_F_CUT, "bits are moved together");
_Static_assert(DFT_BIT_OPEN << DFT_BITS_SHIFT2 == DFT_F_OPEN, "bits are moved together");
_Static_assert(DFT_BIT_TURN << DFT_BITS_SHIFT3 == DFT_F_TURN, "the bit is moved");

static inline uint32_t dft_shape_of_bits(uint8_t bits)
{
    return (uint32_t)(bits & 3) << DFT_BITS_SHIFT | (uint32_t)(bits & 0x1c) << DFT_BITS_SHIFT2 |
           (uint32_t)(bits & DFT_BIT_TURN) << DFT_BITS_SHIFT3;
}

static inline uint8_t dft_bits_of_shape(uint32_t flags)
{
    return (uint8_t)((flags >> DFT_BITS_SHIFT & 3) | (flags >> DFT_BITS_SHIFT2 & 0x1c) |
                     (flags >> DFT_BITS_SHIFT3 & DFT_BIT_TURN));
}

/* Prediction state of one call. */
struct dft_call_state {
    uint64_t size;
    uint32_t unit, calls, flags, mode;
    uint32_t position;    /* in CALLS; encoder: DFT_NO_POSITION before the call's first event */
    uint32_t index;       /* encoder: the caller's own number of the call */
    uint32_t shape;       /* encoder: its last shape ... */
    uint32_t shape_flags; /* ... and the flags of it */
    uint32_t other_shape; /* the one before that was different */
    uint32_t other_flags;
    uint16_t err;
    uint8_t op;
    uint8_t bytes;      /* enum dft_bytes_rule of the op */
    uint8_t opens;      /* its results are descriptors */
    uint8_t without_fd; /* the last event had none */
};

#define DFT_NO_POSITION UINT32_MAX

/* Prediction state of the whole block. */
struct dft_block_state {
    uint64_t region; /* name id */
    int32_t fd;
    uint16_t depth;
};

static inline void dft_call_state_init(struct dft_call_state *state, uint32_t position, uint8_t op)
{
    *state = (struct dft_call_state){.unit = 1,
                                     .calls = 1,
                                     .position = position,
                                     .op = op,
                                     .bytes = (uint8_t)dft_op_bytes(op),
                                     .opens = op == DFT_OP_OPEN || op == DFT_OP_FOPEN,
                                     .shape_flags = UINT32_MAX,
                                     .other_flags = UINT32_MAX};
}

/* The result that goes without saying: all that was requested. */
static inline int64_t dft_result_of_size(uint64_t size, uint32_t unit)
{
    return (int64_t)(unit == 1 ? size : size / unit);
}

static inline int32_t dft_fd_predict(const struct dft_call_state *call, int32_t file_fd, int32_t block_fd)
{
    return call->without_fd ? -1 : file_fd != -1 ? file_fd : block_fd;
}

/* Takes notice of the descriptor of an event, or of the one that an open gave. */
static inline void dft_fd_learn(struct dft_call_state *call, int32_t fd, int64_t result, int32_t *file_fd,
                                int32_t *block_fd)
{
    call->without_fd = fd == -1;
    if (call->opens && result >= 0 && result <= INT32_MAX)
        fd = (int32_t)result;
    if (fd != -1)
        *file_fd = *block_fd = fd;
}

#endif
