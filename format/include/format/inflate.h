/* SPDX-License-Identifier: MIT */
/* Inflating what is in memory whole: payloads of blocks, and gzip members (RFC 1952). For tools;
 * allocates. */
#ifndef DFT_INFLATE_H
#define DFT_INFLATE_H

#include <stddef.h>

struct dft_inflate;                                    /* one thread at a time */
struct dft_inflate *dft_inflate_create(void);          /* NULL: no memory */
void dft_inflate_destroy(struct dft_inflate *inflate); /* harmless on NULL */

/* Writes to `out` the `raw` bytes that a raw deflate stream holds. Returns 0, or -EBADMSG: the
 * stream is damaged, or holds another number of bytes. */
int dft_inflate(struct dft_inflate *inflate, const void *bytes, size_t length, void *out, size_t raw);

/* Inflates the gzip member at the beginning of `bytes`. Returns 0 with the member's size in *used
 * and the size of its text in *got; -ENOSPC: the text is longer than `capacity`; -EBADMSG: the member
 * is damaged, or goes on behind `bytes`. */
int dft_inflate_gzip(struct dft_inflate *inflate, const void *bytes, size_t length, size_t *used, void *out,
                     size_t capacity, size_t *got);

#endif
