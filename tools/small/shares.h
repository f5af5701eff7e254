/* SPDX-License-Identifier: MIT */
/* How many bytes of a trace each kind of block, and each of its columns, takes. */
#ifndef DFT_SHARES_H
#define DFT_SHARES_H

#include "format/format.h"

#define DFT_SHARE_TYPES   16u /* block types beyond are counted as the last */
#define DFT_SHARE_COLUMNS 32u

struct dft_column_share {
    uint64_t blocks;      /* with this column */
    uint64_t raw_bytes;   /* once inflated, with its id, encoding and length */
    uint64_t stored_bits; /* of the deflate stream that give them */
};

struct dft_type_share {
    uint64_t blocks, count; /* count: sum of the headers' count (events, rows ...) */
    uint64_t header_bytes;  /* headers and padding */
    uint64_t stored_bytes;  /* payload */
    uint64_t raw_bytes;
    uint64_t tail_bytes; /* the bit strings of split columns; part of stored_bytes */
    uint64_t end_bits;   /* of deflate streams, behind their last column */
    struct dft_column_share columns[DFT_SHARE_COLUMNS];
};

/* Adds one block, whose checksums are right. Returns 0, -ENOMEM, or -EBADMSG (nothing is added to
 * the columns then). */
int dft_shares_add(struct dft_type_share types[DFT_SHARE_TYPES], const struct dft_block_header *header,
                   const void *payload);

/* "EVENTS", "SIZE"; NULL: not known by name. */
const char *dft_share_type_name(unsigned type);
const char *dft_share_column_name(unsigned type, unsigned column);

#endif
