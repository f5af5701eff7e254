/* SPDX-License-Identifier: MIT */
/* What rules about ranks look at: facts of which each group has a rank, and files that ranks
 * share. */
#ifndef DFT_FINDING_FACTS_RANKS_H
#define DFT_FINDING_FACTS_RANKS_H

#include "findings/facts_ask.h"

/* Counts the ranks that are requested. Returns 0 or -ENOMEM. */
int dft_facts_count_ranks(struct dft_facts *facts);
/* Adds queries by file, if there are several ranks. */
void dft_facts_put_ranks(struct dft_facts *facts, struct dft_facts_questions *questions);
/* Asks for what depends on these answers. Returns 0 or -ENOMEM. Collective. */
int dft_facts_collect_ranks(struct dft_facts *facts);

/* Calls of one class on a file, of all ranks. */
struct dft_shared_file {
    uint64_t file;
    unsigned class;
    uint32_t ranks;
    uint64_t time_ns, calls, data, bytes;
    uint64_t apart, random; /* accesses that do not follow the one before; of these, to no place in particular */
    int64_t low, high;      /* offsets */
    uint64_t spans;         /* from its lowest to its highest offset, of each rank, together */
};

/* Files that are read or written, those with most time first. The caller frees the list. Returns 0
 * or -ENOMEM. */
int dft_facts_shared(const struct dft_facts *facts, struct dft_shared_file **list, size_t *count);

/* Do small pieces of all ranks lie between each other, which together are the file about once? Those
 * at random are another finding: a rank can sort its own. `by_mpi`: MPI-IO moves them. */
int dft_shared_is_interleaved(const struct dft_rules *rules, const struct dft_shared_file *file, int by_mpi);

#endif
