/* SPDX-License-Identifier: MIT */
/* Writes text into gzip members (RFC 1952), one behind the other. Each member holds whole lines,
 * about a MiB of them. Readers may therefore decompress members in parallel or begin in the middle.
 * The text alone decides where members end. The sizes of the caller's pieces do not matter. */
#ifndef DFT_GZIP_MEMBERS_H
#define DFT_GZIP_MEMBERS_H

#include <stddef.h>

/* Takes the compressed bytes. Returns 0 or -errno. */
typedef int dft_gzip_sink_fn(void *context, const void *bytes, size_t length);

struct dft_gzip;
struct dft_gzip *dft_gzip_create(dft_gzip_sink_fn *sink, void *context); /* NULL: no memory */
/* Forgets the text that no member holds yet. Harmless on NULL. */
void dft_gzip_destroy(struct dft_gzip *gzip);

int dft_gzip_put(struct dft_gzip *gzip, const void *bytes, size_t length); /* 0 or -errno */
/* Puts all text so far into members. Later text begins a new member. */
int dft_gzip_end(struct dft_gzip *gzip); /* 0 or -errno */

#endif
