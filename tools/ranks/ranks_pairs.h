/* SPDX-License-Identifier: MIT */
/* Calls on files of a first suspect, while it is looked for where it lost its time; private to
 * ranks_where.c. */
#ifndef DFT_RANKS_PAIRS_H
#define DFT_RANKS_PAIRS_H

#include "base/map.h"
#include "ranks/ranks_job.h"

/* A call on a file. */
struct dft_pair {
    uint64_t call, file, time;
    double weight; /* ns beyond the usual, or bytes */
    uint64_t count, ns, usual_ns;
    struct dft_sum sum; /* of rows, for one bucket: weighed when all of them are in it */
    uint64_t last_ns;
};

struct dft_looking {
    struct dft_ranks_job *job;
    enum dft_ranks_measure measure;
    uint32_t rank;
    uint64_t from_ns; /* aligned */
    pthread_mutex_t lock;
    struct dft_pair *pairs;
    uint32_t count, capacity;
    struct dft_map numbers; /* of call, file and time -> position in pairs + 1 */
};

/* The numbers of a call on a file. Returns 0 or -ENOMEM. */
int dft_pair_at(struct dft_looking *looking, uint64_t call, uint64_t file, uint64_t time, struct dft_pair **pair);
void dft_pairs_fini(struct dft_looking *looking);
void dft_pair_add(struct dft_pair *pair, const struct dft_pair *more);
/* All ranks of dftmerge-mpi know what each has met. Collective; returns an agreed 0 or -ENOMEM. */
int dft_pairs_share(struct dft_looking *looking);

#endif
