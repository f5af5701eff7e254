/* SPDX-License-Identifier: MIT */
/* Events in the order of the files: block after block. */
#ifndef DFT_SOURCE_UNORDERED_H
#define DFT_SOURCE_UNORDERED_H

#include "object/object.h"

struct dft_filter;

/* Gives the events that pass the filter, in one thread, without sorting: for --unsorted. */
int dft_source_unordered(struct dft_source *source, const struct dft_filter *filter,
                         int (*emit)(void *context, const struct dft_event_at *at), void *context);

#endif
