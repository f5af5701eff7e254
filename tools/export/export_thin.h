/* SPDX-License-Identifier: MIT */
/* Counter tracks of a part of the time, with all points or with fewer. */
#ifndef DFT_EXPORT_THIN_H
#define DFT_EXPORT_THIN_H

#include "export/export_perfetto_put.h"

/* The points of the tracks in the range of a plan, and the values that hold at its begin. With a
 * width (struct dft_plan), a point is the mean over an interval of that width; the last point of a
 * track stays. *thin borrows from `tracks`; the caller frees thin->points. Returns 0 or -ENOMEM. */
int dft_thin_make(struct dft_tracks *thin, const struct dft_tracks *tracks, const struct dft_plan *plan);

/* Sets plan->width_ns so that the tracks take `most_bytes` at most. *bytes: what they take. Returns 0 or
 * -ENOMEM. */
int dft_thin_fit(struct dft_perfetto *p, struct dft_plan *plan, uint64_t most_bytes, uint64_t *bytes);
/* What the tracks of a plan take. Returns 0 or -ENOMEM. */
int dft_thin_bytes(struct dft_perfetto *p, const struct dft_plan *plan, uint64_t *bytes);

/* A stream that counts what is written to it. NULL: no memory. */
FILE *dft_thin_counter(uint64_t *bytes);

#endif
