/* SPDX-License-Identifier: MIT */
/* Events with the texts of their names at hand. */
#ifndef DFT_SOURCE_GIVE_H
#define DFT_SOURCE_GIVE_H

#include <stddef.h>

#include "source/source_object.h"

/* Gives `count` events, as at(from, i, ...) says what they are (0: it is left out), with the texts of their names. */
typedef int dft_at_fn(const void *from, size_t i, struct dft_event_at *at);
int dft_source_give(struct dft_source *source, size_t count, dft_at_fn *at, const void *from,
                    int (*give)(void *context, const struct dft_event_at *at), void *context);

#endif
