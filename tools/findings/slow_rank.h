/* SPDX-License-Identifier: MIT */
/* The rank that takes longest, against one in the middle. */
#ifndef DFT_FINDING_SLOW_RANK_H
#define DFT_FINDING_SLOW_RANK_H

#include "findings/rank_sums.h"

struct dft_facts;

struct dft_slow_rank {
    unsigned class; /* of calls, in which it is farthest from the middle */
    struct dft_rank_sum rank, median;
    struct dft_rank_sum
        next; /* the one other rank that takes as many times as long; time_ns 0: none, or more of them */
};

/* What the classes of I/O are called here; NULL: it is none of them. */
const char *dft_slow_rank_word(unsigned class);
/* Finds a rank that takes so many times as long as one in the middle (in 1/1000), by what facts say
 * of processes and regions. rank.time_ns is 0 where there is none. Returns 0 or -ENOMEM. */
int dft_slow_rank_find(const struct dft_facts *facts, uint64_t factor, struct dft_slow_rank *slow);

#endif
