/* SPDX-License-Identifier: MIT */
/* Copies: two files of DFTracer that hold the same process. */
#ifndef DFT_SOURCE_COPIES_H
#define DFT_SOURCE_COPIES_H

#include "object/object.h"

/* Is `a` the same process as `b`, out of another file? */
int dft_source_is_copy(const struct dft_source *source, const struct dft_source_process *a,
                       const struct dft_source_process *b);
/* Notes the copies, if there are any. Returns 0 or -ENOMEM. */
int dft_source_note_copies(struct dft_source *source);

#endif
