/* SPDX-License-Identifier: MIT */
/* A made job for `ranks`: the time that each rank took in each bucket, in data calls. */
#ifndef DFT_TESTS_UNIT_JOBS_H
#define DFT_TESTS_UNIT_JOBS_H

#include <stdlib.h>

#include "ranks/ranks_job.h"

#define JOB_RANKS   8u
#define JOB_BUCKETS 64u

struct made_job {
    struct dft_ranks_job job;
    struct dft_rank ranks[JOB_RANKS];
    struct dft_rank_cell cells[JOB_RANKS * JOB_BUCKETS];
};

static inline void job_init(struct made_job *made, uint32_t ranks, uint32_t buckets)
{
    *made = (struct made_job){
        .job = {.nranks = ranks, .nbuckets = buckets, .bucket_ns = 1000, .origin_ns = 0, .by_rank = 1}};
    made->job.ranks = made->ranks;
    made->job.cells = made->cells;
    made->job.wall_ns = buckets * made->job.bucket_ns;
    for (uint32_t r = 0; r < ranks; r++)
        made->ranks[r] = (struct dft_rank){.rank = (int32_t)r, .start_ns = 0, .end_ns = made->job.wall_ns};
}

static inline void job_set(struct made_job *made, uint32_t rank, uint32_t bucket, uint64_t ns, uint64_t usual_ns)
{
    struct dft_rank_cell *cell = &dft_rank_cells(&made->job, rank)[bucket];

    made->ranks[rank].io_ns += ns - (uint64_t)cell->part_ns[DFT_LOST_DATA];
    cell->part_ns[DFT_LOST_DATA] = (int64_t)ns;
    cell->usual_ns[DFT_LOST_DATA] = usual_ns;
}

static inline void job_fini(struct made_job *made)
{
    free(made->job.slow);
    free(made->job.stragglers);
}

#endif
