/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: totals of calls over all ranks, and which ranks took longest in each. */
#include "ranks/ranks_calls.h"

#include <errno.h>
#include <stdlib.h>

/* One rank's part of one call. */
struct part {
    uint64_t call, ns;
    uint32_t rank;
    const struct dft_rank_call *of;
};

static int by_call_and_time(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* What all would gain if the slowest were as the mean; ties by id. */
static double gain_of(const struct dft_job_call *call, uint32_t nranks)
{
    return (double)call->slowest_ns[0] - (double)call->ns / nranks;
}

struct ordered {
    double gain;
    struct dft_job_call call;
};

static int by_gain(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return a->call.call < b->call.call ? -1 : 1;
}

static void add_part(struct dft_job_call *call, const struct part *part)
{
    call->call = part->call;
    call->op = part->of->op > call->op ? part->of->op : call->op;
    call->ranks += part->of->count != 0;
    call->ns += part->ns;
    call->count += part->of->count;
    call->max_ns = part->of->max_ns > call->max_ns ? part->of->max_ns : call->max_ns;
    if (call->nslowest < DFT_RANKS_SLOWEST) {
        call->lags[call->nslowest].from = DFT_NO_BUCKET;
        call->slowest[call->nslowest] = part->rank;
        call->slowest_ns[call->nslowest++] = part->ns;
    }
}

static int order_calls(struct dft_ranks_job *job)
{
    struct ordered *ordered = malloc((job->ncalls + 1u) * sizeof *ordered);

    if (!ordered)
        return -ENOMEM;
    for (uint32_t c = 0; c < job->ncalls; c++)
        ordered[c] = (struct ordered){gain_of(&job->calls[c], job->nranks), job->calls[c]};
    if (job->ncalls)
        qsort(ordered, job->ncalls, sizeof *ordered, by_gain);
    for (uint32_t c = 0; c < job->ncalls; c++)
        job->calls[c] = ordered[c].call;
    free(ordered);
    return 0;
}

static int by_call(const void *left, const void *right)
{
    uint64_t a = ((const struct dft_rank_call *)left)->call, b = ((const struct dft_rank_call *)right)->call;

    return a < b ? -1 : a > b;
}

static void sum_calls(struct dft_ranks_job *job)
{
    for (uint32_t r = 0; r < job->nranks; r++) {
        struct dft_rank *rank = &job->ranks[r];

        dft_map_fini(&rank->numbers);
        if (rank->ncalls)
            qsort(rank->calls, rank->ncalls, sizeof *rank->calls, by_call);
        for (uint32_t i = 0; i < rank->ncalls; i++) {
            const struct dft_rank_call *call = &rank->calls[i];
            enum dft_class class = dft_op_class(call->op);

            *(class == DFT_CLASS_READ    ? &rank->read_ns
              : class == DFT_CLASS_WRITE ? &rank->write_ns
                                         : &rank->meta_ns) += call->io_ns;
            rank->io_ns += call->io_ns;
            rank->bytes += call->bytes;
            rank->errors += dft_lost_of(call->op) >= 0 ? call->errors : 0;
        }
    }
}

int dft_ranks_calls(struct dft_ranks_job *job)
{
    struct part *parts;
    size_t n = 0, count = 0;

    sum_calls(job);
    for (uint32_t r = 0; r < job->nranks; r++)
        count += job->ranks[r].ncalls;
    parts = malloc((count + 1) * sizeof *parts);
    if (!parts)
        return -ENOMEM;
    for (uint32_t r = 0; r < job->nranks; r++)
        for (uint32_t i = 0; i < job->ranks[r].ncalls; i++)
            parts[n++] =
                (struct part){job->ranks[r].calls[i].call, job->ranks[r].calls[i].ns, r, &job->ranks[r].calls[i]};
    if (n)
        qsort(parts, n, sizeof *parts, by_call_and_time);
    count = 0;
    for (size_t i = 0; i < n; i++)
        count += !i || parts[i].call != parts[i - 1].call;
    job->calls = calloc(count + 1, sizeof *job->calls);
    for (size_t i = 0; job->calls && i < n; i++) {
        job->ncalls += !i || parts[i].call != parts[i - 1].call;
        add_part(&job->calls[job->ncalls - 1], &parts[i]);
    }
    free(parts);
    return job->calls ? order_calls(job) : -ENOMEM;
}
