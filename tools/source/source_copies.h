/* SPDX-License-Identifier: MIT */
/* Copies: the same process out of two files of DFTracer. */
#ifndef DFT_SOURCE_COPIES_H
#define DFT_SOURCE_COPIES_H

#include "source/source_object.h"

/* The same process out of another file? */
int dft_source_is_copy(const struct dft_source *source, const struct dft_source_process *a,
                       const struct dft_source_process *b);
/* Says so where there are some. Returns 0 or -ENOMEM. */
int dft_source_note_copies(struct dft_source *source);

#endif
