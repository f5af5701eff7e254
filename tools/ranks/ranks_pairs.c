/* dftmerge ranks: the calls on files that a first suspect made. */
#include <errno.h>
#include <stdlib.h>

#include "mpi/comm.h"
#include "mpi/pack.h"
#include "ranks/ranks_pairs.h"

#define PAIRS_MAX (1u << 18) /* of calls and files; further files are as none */

int dft_pair_at(struct dft_looking *looking, uint64_t call, uint64_t file, uint64_t time, struct dft_pair **pair)
{
    struct dft_group_key key = {.call = call, .file = looking->map.count < PAIRS_MAX ? file : 0, .time = time};
    uint32_t number, before = looking->map.count;
    int rc = dft_group_map_get(&looking->map, &key, &number);

    if (rc)
        return rc;
    if (number >= looking->capacity) {
        uint32_t capacity = looking->capacity ? 2 * looking->capacity : 256;
        struct dft_pair *bigger = realloc(looking->pairs, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        looking->pairs = bigger;
        looking->capacity = capacity;
    }
    if (number == before)
        looking->pairs[number] = (struct dft_pair){0};
    *pair = &looking->pairs[number];
    return 0;
}

void dft_pair_add(struct dft_pair *pair, const struct dft_pair *more)
{
    pair->weight += more->weight;
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
        struct dft_group_key key;
        struct dft_pair more, *pair;

        dft_unpack_get(&unpack, &key, sizeof key);
        dft_unpack_get(&unpack, &more, sizeof more);
        rc = dft_pair_at(context, key.call, key.file, key.time, &pair);
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
    for (uint32_t i = 0; i < looking->map.count; i++) {
        dft_pack_put(&pack, &looking->map.keys[i], sizeof looking->map.keys[i]);
        dft_pack_put(&pack, &looking->pairs[i], sizeof looking->pairs[i]);
    }
    return dft_pack_exchange(&pack, take_pairs, looking);
}
