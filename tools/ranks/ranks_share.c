/* SPDX-License-Identifier: MIT */
/* dftmerge ranks, by all ranks of dftmerge-mpi: each counts its share of the blocks, and all know
 * the sums of what was counted; so whatever follows from them comes out alike everywhere. */
#include "ranks/ranks_share.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "ranks/ranks_total.h"

/* Numbers that add up, as one array. */
_Static_assert(sizeof(struct dft_sum) % sizeof(uint64_t) == 0 && sizeof(struct dft_rank_cell) % sizeof(uint64_t) == 0,
               "nothing but 64-bit numbers");
#define NUMBERS(array) ((uint64_t *)(void *)(array))
#define COUNT(type)    (sizeof(type) / sizeof(uint64_t))

/* --- totals ----------------------------------------------------------------------------------- */

struct totals {
    struct dft_ranks_job *job;
    uint64_t *widest;
};

struct rank_head {
    uint64_t first_event_ns, last_event_ns;
    uint32_t ncalls;
};

static void pack_rank(struct dft_pack *pack, const struct dft_rank *rank)
{
    struct rank_head head = {rank->first_event_ns, rank->last_event_ns, rank->ncalls};

    dft_pack_put(pack, &head, sizeof head);
    if (rank->ncalls)
        dft_pack_put(pack, rank->calls, rank->ncalls * sizeof *rank->calls);
}

static int take_totals(void *context, unsigned from, const void *bytes, size_t length)
{
    struct totals *totals = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    uint64_t widest;
    int rc = 0;

    dft_unpack_get(&unpack, &widest, sizeof widest);
    if (widest > *totals->widest)
        *totals->widest = widest;
    for (uint32_t r = 0; !rc && from != dft_comm_rank() && r < totals->job->nranks; r++) {
        struct dft_rank *rank = &totals->job->ranks[r];
        struct rank_head head;

        dft_unpack_get(&unpack, &head, sizeof head);
        if (head.first_event_ns < rank->first_event_ns)
            rank->first_event_ns = head.first_event_ns;
        if (head.last_event_ns > rank->last_event_ns)
            rank->last_event_ns = head.last_event_ns;
        for (uint32_t i = 0; i < head.ncalls && !rc; i++) {
            struct dft_rank_call call;

            dft_unpack_get(&unpack, &call, sizeof call);
            rc = dft_rank_add(rank, &call);
        }
    }
    return rc;
}

int dft_ranks_share_totals(struct dft_ranks_job *job, uint64_t *widest)
{
    struct totals totals = {job, widest};
    struct dft_pack pack = {0};

    if (dft_comm_size() == 1)
        return 0;
    dft_pack_put(&pack, widest, sizeof *widest);
    for (uint32_t r = 0; r < job->nranks; r++)
        pack_rank(&pack, &job->ranks[r]);
    return dft_pack_exchange(&pack, take_totals, &totals);
}

/* --- over time -------------------------------------------------------------------------------- */

int dft_ranks_share_sums(struct dft_ranks_job *job)
{
    if (dft_comm_size() > 1)
        dft_comm_sum(NUMBERS(job->sums), job->nsums * COUNT(struct dft_sum));
    return 0;
}

int dft_ranks_share_times(struct dft_ranks_job *job)
{
    size_t followed = (size_t)DFT_RANKS_CALLS * job->nbuckets;

    if (dft_comm_size() == 1)
        return 0;
    dft_comm_sum(NUMBERS(job->cells), (size_t)job->nranks * job->nbuckets * COUNT(struct dft_rank_cell));
    dft_comm_sum(job->call_ns, followed);
    dft_comm_sum(job->slow_ns, followed * DFT_RANKS_SLOWEST);
    return 0;
}
