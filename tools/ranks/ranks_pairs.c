/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the calls on files that a first suspect made. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "mpi/comm.h"
#include "mpi/pack.h"
#include "ranks/ranks_pairs.h"

#define PAIRS_MAX (1u << 18) /* of calls and files; further files are as none */

int dft_pair_at(struct dft_looking *looking, uint64_t call, uint64_t file, uint64_t time, struct dft_pair **pair)
{
    struct dft_pair new = {.call = call, .file = looking->count < PAIRS_MAX ? file : 0, .time = time};
    uint64_t *number = dft_map_put(&looking->numbers, dft_map_join(dft_map_join(call, new.file), time));

    if (!number || (!*number && DFT_ARRAY_PUSH(looking->pairs, looking->capacity, looking->count, new)))
        return -ENOMEM;
    if (!*number)
        *number = looking->count;
    *pair = &looking->pairs[*number - 1];
    return 0;
}

void dft_pairs_fini(struct dft_looking *looking)
{
    dft_map_fini(&looking->numbers);
    free(looking->pairs);
}

void dft_pair_add(struct dft_pair *pair, const struct dft_pair *more)
{
    pair->weight += more->weight;
    pair->count += more->count;
    pair->ns += more->ns;
    pair->usual_ns += more->usual_ns;
    pair->sum.samples += more->sum.samples;
    pair->sum.ns += more->sum.ns;
    pair->sum.bytes += more->sum.bytes;
    pair->sum.data += more->sum.data;
    pair->last_ns = more->last_ns > pair->last_ns ? more->last_ns : pair->last_ns;
}

static int take_pairs(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end) {
        struct dft_pair more, *pair;

        dft_unpack_get(&unpack, &more, sizeof more);
        rc = dft_pair_at(context, more.call, more.file, more.time, &pair);
        if (!rc)
            dft_pair_add(pair, &more);
    }
    return rc;
}

int dft_pairs_share(struct dft_looking *looking)
{
    struct dft_pack pack = {0};

    if (dft_comm_size() == 1)
        return 0;
    if (looking->count)
        dft_pack_put(&pack, looking->pairs, looking->count * sizeof *looking->pairs);
    return dft_pack_exchange(&pack, take_pairs, looking);
}
