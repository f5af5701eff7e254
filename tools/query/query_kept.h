/* Answers that took counting many events of indexed traces, kept beside the index for whoever asks the same again.
 *
 * A file holds one answer, with the whole question in front of it, and says of which blocks of events it is (index_beside.h). An
 * answer that came with a note is not kept, so that whoever asks again is told as well. All of a directory take at most an eighth
 * of its index (or 1 MiB): the oldest go. Not with several ranks. */
#ifndef DFT_QUERY_KEPT_H
#define DFT_QUERY_KEPT_H

#include "query/query_inside.h"

/* Returns 1: the answer, in order; 0: there is none; or -ENOMEM. */
int dft_kept_find(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  const struct dft_order *order, struct dft_answer *answer);
/* How many notes the source was told so far, for dft_kept_put. */
uint64_t dft_kept_notes(const struct dft_source *source);
/* Keeps what was answered, in order, to `query`, if it is worth it and nothing was noted since there were `notes`. */
void dft_kept_put(const struct dft_asking *asking, const struct dft_filter *filter, const struct dft_query *query,
                  const struct dft_order *order, uint64_t notes, const struct dft_answer *answer);

#endif
