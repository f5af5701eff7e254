/* SPDX-License-Identifier: MIT */
/* Blocks with other names and texts: everything else is copied as it stands. For tools. */
#ifndef DFT_FORMAT_REWRITE_H
#define DFT_FORMAT_REWRITE_H

#include "format/decode.h"
#include "format/encode.h"

/* What stands for what. Each function returns 0 or -errno, which ends the block. */
struct dft_rewriting {
    void *context;
    /* The new id of a name. `text`: as the block has it; no bytes: only the id stands there. */
    int (*name)(void *context, uint64_t id, struct dft_text text, uint64_t *other);
    /* The new text of a name of a counter, valid as that of a call. */
    int (*counter)(void *context, struct dft_text text, struct dft_text *other);
    /* The new text of a call, valid until the next call of any of these. */
    int (*call)(void *context, struct dft_text text, struct dft_text *other);
    /* Changes the value of an argument in place; arg->key is the old id. A text is valid as above. */
    int (*arg)(void *context, struct dft_arg *arg);
    uint64_t (*process)(void *context, uint64_t key);
    int without_texts; /* texts of arguments become empty */
};

/* Rewrites an EVENTS, BUCKETS, COUNTERS or CLOCK block. Names are written as ids alone, so their texts
 * must stand in NAMES blocks. Names of counters keep their texts, for readers have these from the block
 * alone. Columns that this version does not know are left out, and counted in *unknown. Returns the
 * bytes at *block, valid until the encoder is used again, or -E2BIG, -ENOMEM, -EBADMSG with *reason, or
 * what a function returned. */
long dft_rewrite_block(struct dft_decoder *decoder, struct dft_encoder *encoder, const struct dft_block_header *header,
                       const void *payload, const struct dft_rewriting *rewriting, const void **block,
                       uint64_t *unknown, const char **reason);

#endif
