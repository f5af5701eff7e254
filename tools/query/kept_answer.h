/* An answer as bytes that mean the same to whoever reads them: ids are those of names, processes are keys. */
#ifndef DFT_KEPT_ANSWER_H
#define DFT_KEPT_ANSWER_H

#include "mpi/pack.h"
#include "query/query.h"

/* Puts all of an answer that is in order: its groups, their texts as far as they are known, the processes they name. pack->rc is
 * -ENOMEM where there was no memory. */
void dft_kept_answer_put(struct dft_pack *pack, const struct dft_answer *answer);
/* Fills the answer to `query`; its texts go into the source's table. Returns 1; 0: these bytes are no answer that the source could
 * give (nothing is left of it); or -ENOMEM. */
int dft_kept_answer_get(const char *bytes, size_t length, struct dft_source *source, const struct dft_query *query,
                        struct dft_answer *answer);

#endif
