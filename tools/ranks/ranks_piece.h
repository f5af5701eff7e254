/* SPDX-License-Identifier: MIT */
/* What a row, or an event, adds: the same for both. */
#ifndef DFT_RANKS_PIECE_H
#define DFT_RANKS_PIECE_H

#include "ranks/ranks_job.h"

int dft_piece_of_event(struct dft_piece *piece, const struct dft_batch *batch, const struct dft_event *event,
                       int64_t shift);
int dft_piece_of_row(struct dft_piece *piece, const struct dft_buckets *buckets, const struct dft_row *row,
                     int64_t shift);

#endif
