/* SPDX-License-Identifier: MIT */
/* A table that is read in a thread of its own, batch by batch. */
#ifndef DFT_VTAB_FEED_H
#define DFT_VTAB_FEED_H

#include "tables/tables.h"

struct dft_feed;

/* Begins to read. The source and the filter must stay until dft_feed_stop. NULL: no memory, or no
 * thread. */
struct dft_feed *dft_feed_start(struct dft_source *source, const struct dft_table_request *request);

/* Waits for the next batch, which is valid until the next call. *batch is NULL behind the last one.
 * `interrupted` is called from time to time while this waits. Returns 0, the error of
 * dft_table_read, or -EINTR. */
int dft_feed_next(struct dft_feed *feed, const struct dft_table_batch **batch, int (*interrupted)(void *context),
                  void *context);

/* Ends the reading, wherever it is, and its thread; after -EINTR all readings of the source. NULL:
 * does nothing. */
void dft_feed_stop(struct dft_feed *feed);

#endif
