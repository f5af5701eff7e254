/* SPDX-License-Identifier: MIT */
/* Finding the inputs of a source. */
#ifndef DFT_SOURCE_FIND_H
#define DFT_SOURCE_FIND_H

#include <stddef.h>

#include "object/object.h"

/* Is the path, by its name, a trace of ours, or of DFTracer? */
int dft_trace_name(const char *path);
/* Paths of all inputs, sorted, each path once. The caller owns *paths and its strings. Returns 0 or
 * -ENOMEM. */
int dft_find_inputs(struct dft_source *source, char *const *given, int count, char ***paths, size_t *found);

#endif
