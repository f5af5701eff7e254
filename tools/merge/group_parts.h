/* SPDX-License-Identifier: MIT */
/* Cuts one EVENTS block into its parts. Each group gets an EVENTS block with its events, and the
 * BUCKETS block of these events. */
#ifndef DFT_GROUP_PARTS_H
#define DFT_GROUP_PARTS_H

#include "format/event.h"
#include "merge/group_rules.h"
#include "object/object.h"

/* The result for one block: the bytes of new blocks, in pieces, and the names in these blocks. */
struct dft_parts {
    struct dft_parts_piece {
        uint32_t group, events, blocks;
        size_t from, bytes; /* in `bytes` */
        size_t names_from, names;
    } * pieces;
    char *bytes;
    uint64_t *names;
    size_t npieces, pieces_capacity, used, capacity, nnames, names_capacity;
};

void dft_parts_fini(struct dft_parts *parts);

/* What one thread needs. is_mine: by group; the parts of these groups are made. NULL: no memory. */
struct dft_parter;
struct dft_parter *dft_parter_create(const struct dft_group_rules *rules, const struct dft_names *names,
                                     uint32_t division, const uint8_t *is_mine);
void dft_parter_destroy(struct dft_parter *parter);

/* `interval_ns`: width of the rows; 0: no rows. Returns 0, -ENOMEM, or the error of an encoder. */
int dft_parter_run(struct dft_parter *parter, const struct dft_block *block, const struct dft_batch *batch,
                   uint64_t interval_ns, struct dft_parts *parts);

#endif
