/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: sums over all calls of a kind in a rank and bucket. They are the same however a
 * rank's events are cut into rows, blocks, threads and files, so what is learnt from them does not
 * depend on that either. */
#include "ranks/ranks_sums.h"

#include <errno.h>
#include <stdlib.h>

/* Where rows answer, sizes are known when the sums are complete. */
static uint32_t bit_of(const struct dft_ranks_job *job, const struct dft_piece *piece)
{
    uint32_t size = dft_piece_size(piece);

    return job->from_rows && size != DFT_USUAL_META ? 0 : size;
}

static uint32_t size_of(const struct dft_ranks_job *job, uint32_t bit, const struct dft_sum *sum)
{
    return job->from_rows && bit != DFT_USUAL_META ? dft_usual_size(sum->bytes, sum->data) : bit;
}

void dft_sums_kind(const struct dft_ranks_job *job, struct dft_rank_call *call, const struct dft_piece *piece)
{
    call->sizes |= UINT64_C(1) << bit_of(job, piece);
}

uint32_t dft_sums_kinds(struct dft_ranks_job *job)
{
    uint32_t most = 0;

    for (uint32_t r = 0; r < job->nranks; r++) {
        struct dft_rank *rank = &job->ranks[r];

        for (uint32_t c = 0; c < rank->ncalls; c++) {
            rank->calls[c].kinds = rank->nkinds;
            rank->nkinds += (uint32_t)__builtin_popcountll(rank->calls[c].sizes);
        }
        most = rank->nkinds > most ? rank->nkinds : most;
    }
    return most;
}

int dft_sums_begin(struct dft_ranks_job *job, uint32_t from)
{
    size_t count = 0, more;

    for (job->sums_from = job->sums_to = from; job->sums_to < job->nranks; job->sums_to++) {
        struct dft_rank *rank = &job->ranks[job->sums_to];

        more = (size_t)rank->nkinds * job->nbuckets;
        if (count && count + more > DFT_RANKS_SUMS)
            break;
        rank->sums_at = count;
        count += more;
    }
    free(job->sums);
    job->nsums = count;
    job->sums = calloc(count + 1, sizeof *job->sums);
    return job->sums ? 0 : -ENOMEM;
}

static const struct dft_rank_call *find_call(const struct dft_rank *rank, uint64_t call)
{
    uint32_t low = 0, high = rank->ncalls;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (rank->calls[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->ncalls && rank->calls[low].call == call ? &rank->calls[low] : NULL;
}

void dft_sums_add(struct dft_ranks_job *job, uint32_t rank, uint32_t bucket, const struct dft_piece *piece)
{
    const struct dft_rank_call *call = find_call(&job->ranks[rank], piece->call);
    uint64_t bit = UINT64_C(1) << bit_of(job, piece);
    struct dft_sum *sum;
    uint32_t kind;

    if (!call || !(call->sizes & bit)) /* a file that grew between the visits */
        return;
    kind = call->kinds + (uint32_t)__builtin_popcountll(call->sizes & (bit - 1));
    sum = &job->sums[job->ranks[rank].sums_at + (size_t)kind * job->nbuckets + bucket];
    sum->samples += piece->samples;
    sum->ns += piece->ns;
    sum->bytes += piece->bytes;
    sum->data += piece->data;
}

/* Calls `take` with the sums of each kind. */
static int each_kind(struct dft_ranks_job *job, int (*take)(struct dft_ranks_job *job, struct dft_rank_cell *cells,
                                                            uint64_t call, uint32_t bit, const struct dft_sum *sums))
{
    int rc = 0;

    for (uint32_t r = job->sums_from; !rc && r < job->sums_to; r++) {
        const struct dft_rank *rank = &job->ranks[r];
        const struct dft_sum *sums = &job->sums[rank->sums_at];

        for (uint32_t c = 0; !rc && c < rank->ncalls; c++)
            for (uint64_t bits = rank->calls[c].sizes; !rc && bits; bits &= bits - 1, sums += job->nbuckets)
                rc = take(job, dft_rank_cells(job, r), rank->calls[c].call, (uint32_t)__builtin_ctzll(bits), sums);
    }
    return rc;
}

static int learn(struct dft_ranks_job *job, struct dft_rank_cell *cells, uint64_t call, uint32_t bit,
                 const struct dft_sum *sums)
{
    int rc = 0;

    (void)cells;
    for (uint32_t b = 0; !rc && b < job->nbuckets; b++)
        rc = dft_usual_add(&job->usual, call, size_of(job, bit, &sums[b]), sums[b].samples, sums[b].ns);
    return rc;
}

static int judge(struct dft_ranks_job *job, struct dft_rank_cell *cells, uint64_t call, uint32_t bit,
                 const struct dft_sum *sums)
{
    int kind = bit == DFT_USUAL_META ? DFT_LOST_META : DFT_LOST_DATA;

    for (uint32_t b = 0; b < job->nbuckets; b++)
        if (sums[b].samples)
            cells[b].usual_ns[kind] += sums[b].samples * dft_usual_ns(&job->usual, call, size_of(job, bit, &sums[b]));
    return 0;
}

int dft_sums_learn(struct dft_ranks_job *job)
{
    return each_kind(job, learn);
}

void dft_sums_judge(struct dft_ranks_job *job)
{
    each_kind(job, judge);
}
