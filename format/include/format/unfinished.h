/* SPDX-License-Identifier: MIT */
/* What a ring holds besides records, as batches of events: open runs, open regions, outstanding
 * requests, the call in flight. */
#ifndef DFT_FORMAT_UNFINISHED_H
#define DFT_FORMAT_UNFINISHED_H

#include "format/ring_decode.h"

struct dft_live_reader; /* live_read.h */

/* The open runs of a ring as a batch, and if the process has ended its open regions, which are
 * claimed; with a reader, without runs that have become records. */
void dft_unfinished_batch(struct dft_ring *ring, struct dft_ring_decoder *decoder, const struct dft_live_reader *reader,
                          const struct dft_ended *ended, struct dft_batch *batch);
/* Off line, on a copy: regions that were claimed by whoever ended the process, and whose events did
 * not get into a block, are open. */
void dft_unclaim_regions(struct dft_ring *ring, const struct dft_live_reader *reader);
/* The outstanding requests of one thread in a ring of requests, which are taken out of it: it is a
 * copy. Empty when there are no more. */
void dft_requests_batch(struct dft_ring *ring, const struct dft_ring_decoder *decoder, struct dft_batch *batch);
/* The regions that are open, from the outermost, then the call in flight: what is not known to have
 * ended. */
void dft_open_batch(struct dft_ring *ring, const struct dft_ring_decoder *decoder, struct dft_batch *batch);

#endif
