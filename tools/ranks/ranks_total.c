/* dftmerge ranks: the totals of each rank, by call: a hash table while they are counted. */
#include <errno.h>
#include <stdlib.h>

#include "ranks/ranks_job.h"

#define CALL_SLOTS_MIN 16u

static struct dft_rank_call *find_call(const struct dft_rank *rank, uint64_t call)
{
    uint32_t i = (uint32_t)(call ^ call >> 32) & (rank->call_slots - 1);

    while (rank->calls[i].call && rank->calls[i].call != call)
        i = (i + 1) & (rank->call_slots - 1);
    return &rank->calls[i];
}

static int grow_calls(struct dft_rank *rank)
{
    struct dft_rank bigger = {.call_slots = rank->call_slots ? 2 * rank->call_slots : CALL_SLOTS_MIN};

    bigger.calls = calloc(bigger.call_slots, sizeof *bigger.calls);
    if (!bigger.calls)
        return -ENOMEM;
    for (uint32_t i = 0; i < rank->call_slots; i++)
        if (rank->calls[i].call)
            *find_call(&bigger, rank->calls[i].call) = rank->calls[i];
    free(rank->calls);
    rank->calls = bigger.calls;
    rank->call_slots = bigger.call_slots;
    return 0;
}

static int call_at(struct dft_rank *rank, uint64_t id, struct dft_rank_call **call)
{
    if (2 * rank->ncalls >= rank->call_slots && grow_calls(rank))
        return -ENOMEM;
    *call = find_call(rank, id);
    if (!(*call)->call) {
        (*call)->call = id;
        rank->ncalls++;
    }
    return 0;
}

int dft_rank_add(struct dft_rank *rank, const struct dft_rank_call *more)
{
    struct dft_rank_call *call;

    if (call_at(rank, more->call, &call))
        return -ENOMEM;
    call->op = more->op > call->op ? more->op : call->op;
    call->count += more->count;
    call->errors += more->errors;
    call->ns += more->ns;
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
