/* SPDX-License-Identifier: MIT */
/* Text into gzip members (RFC 1952), one behind the other: each holds whole lines, about a MiB of them, so readers may
 * decompress members in parallel or begin in the middle. Where members end depends on the text alone, not on how it comes. */
#ifndef DFT_GZIP_MEMBERS_H
#define DFT_GZIP_MEMBERS_H

#include <stddef.h>

/* Where the compressed bytes go. Returns 0 or -errno. */
typedef int dft_gzip_sink_fn(void *context, const void *bytes, size_t length);

struct dft_gzip;
struct dft_gzip *dft_gzip_create(dft_gzip_sink_fn *sink, void *context); /* NULL: no memory */
/* What is not in a member yet is forgotten. Harmless on NULL. */
void dft_gzip_destroy(struct dft_gzip *gzip);

int dft_gzip_put(struct dft_gzip *gzip, const void *bytes, size_t length); /* 0 or -errno */
/* All so far goes into members; what follows begins a new one. */
int dft_gzip_end(struct dft_gzip *gzip); /* 0 or -errno */

#endif
