/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the totals of each rank, by call. */
#include "ranks/ranks_total.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "ranks/ranks_sums.h"

static struct dft_rank_call *call_at(struct dft_rank *rank, uint64_t id)
{
    uint64_t *number = dft_map_find(&rank->numbers, id);

    if (!number) {
        number = dft_map_put(&rank->numbers, id);
        if (!number ||
            DFT_ARRAY_PUSH(rank->calls, rank->calls_capacity, rank->ncalls, (struct dft_rank_call){.call = id}))
            return NULL;
        *number = rank->ncalls;
    }
    return &rank->calls[*number - 1];
}

int dft_rank_add(struct dft_rank *rank, const struct dft_rank_call *more)
{
    struct dft_rank_call *call = call_at(rank, more->call);

    if (!call)
        return -ENOMEM;
    call->op = more->op > call->op ? more->op : call->op;
    call->count += more->count;
    call->errors += more->errors;
    call->ns += more->ns;
    call->io_ns += more->io_ns;
    call->max_ns = more->max_ns > call->max_ns ? more->max_ns : call->max_ns;
    call->bytes += more->bytes;
    call->sizes |= more->sizes;
    return 0;
}

int dft_rank_total(const struct dft_ranks_job *job, struct dft_rank *rank, const struct dft_piece *piece)
{
    struct dft_rank_call more = {.call = piece->call,
                                 .op = piece->count ? piece->op : 0, /* a half that counts no call has no time either */
                                 .count = piece->count,
                                 .errors = piece->errors,
                                 .ns = piece->ns,
                                 .io_ns = dft_is_io(piece->io) ? piece->ns : 0,
                                 .max_ns = piece->max_ns,
                                 .bytes = piece->bytes};

    if (!piece->call)
        return 0;
    rank->first_event_ns = piece->first_ns < rank->first_event_ns ? piece->first_ns : rank->first_event_ns;
    rank->last_event_ns = piece->last_ns > rank->last_event_ns ? piece->last_ns : rank->last_event_ns;
    if (dft_lost_of(piece->op) >= 0)
        dft_sums_kind(job, &more, piece);
    return dft_rank_add(rank, &more);
}
