/* SPDX-License-Identifier: MIT */
/* Gives events together with the texts of their names. */
#ifndef DFT_SOURCE_GIVE_H
#define DFT_SOURCE_GIVE_H

#include <stddef.h>

#include "object/object.h"

/* Gives `count` events with the texts of their names. at(from, i, ...) says what event i is; it
 * returns 0 to leave the event out. */
typedef int dft_at_fn(const void *from, size_t i, struct dft_event_at *at);
int dft_source_emit(struct dft_source *source, size_t count, dft_at_fn *at, const void *from,
                    int (*emit)(void *context, const struct dft_event_at *at), void *context);
/* The same without the texts. */
int dft_source_emit_bare(size_t count, dft_at_fn *at, const void *from,
                         int (*emit)(void *context, const struct dft_event_at *at), void *context);

#endif
