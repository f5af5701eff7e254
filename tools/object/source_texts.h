/* SPDX-License-Identifier: MIT */
/* Texts from records of processes, kept for as long as the source lives. */
#ifndef DFT_SOURCE_TEXTS_H
#define DFT_SOURCE_TEXTS_H

#include <stddef.h>

#include "object/object.h"

struct dft_interned_texts;

/* Keeps bytes for as long as the source lives, with a NUL behind them. Equal bytes are kept once.
 * Their address suits 64-bit numbers. NULL: no memory. Any thread. */
const void *dft_source_keep(struct dft_source *source, const void *bytes, size_t length);
/* Returns 0 or -ENOMEM. */
int dft_source_keep_end(struct dft_source *source, const struct dft_end *end, struct dft_source_end *kept);
void dft_source_end_whole(const struct dft_source_end *kept, struct dft_end *end);
/* Room for the content of a record; NULL: no memory. This memory lies apart from blocks, so that
 * whole pages become free together. */
void *dft_source_content(struct dft_source *source, size_t bytes);
void dft_interned_texts_fini(struct dft_interned_texts *texts);

#endif
