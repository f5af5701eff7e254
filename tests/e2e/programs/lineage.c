/* SPDX-License-Identifier: MIT */
/* A small pipeline with entities, by dftrace/entity.h. Process N makes the samples of its own shard,
 * and trains with them; all relate to one model. */
#include <dftrace/dftrace.h>
#include <dftrace/entity.h>
#include <stdio.h>
#include <stdlib.h>

static void prepare(int rank, int samples)
{
    char key[64];

    snprintf(key, sizeof key, "raw-%d", rank);
    DFTRACE_BEGIN("prepare");
    DFTRACE_USES("raw", key);
    for (int i = 0; i < samples; i++) {
        snprintf(key, sizeof key, "%d-%d", rank, i);
        DFTRACE_GENERATES("sample", key);
    }
    DFTRACE_INVALIDATES("cache", "old");
    DFTRACE_END("prepare");
}

/* Regions of one name within each other: each keeps its own. */
static void train(int rank, int epoch, int samples, int within)
{
    char key[64];

    DFTRACE_BEGIN("train");
    for (int i = 0; i < samples; i++) {
        snprintf(key, sizeof key, "%d-%d", rank, i);
        DFTRACE_USES("sample", key);
    }
    if (within)
        train(rank, epoch + 100, 1, 0);
    DFTRACE_UPDATES("model", "net");
    snprintf(key, sizeof key, "epoch-%d-%d", epoch, rank);
    DFTRACE_GENERATES("checkpoint", key);
    DFTRACE_END("train");
}

int main(int argc, char **argv)
{
    int rank = argc > 1 ? atoi(argv[1]) : 0, samples = argc > 2 ? atoi(argv[2]) : 3;
    char key[64];
    EntityID archive;

    prepare(rank, samples);
    for (int epoch = 0; epoch < 2; epoch++)
        train(rank, epoch, samples, epoch);
    snprintf(key, sizeof key, "epoch-1-%d", rank);
    archive = dftrace_entity("archive", "a.tar", "/p/\"out\"/a.tar");
    dftrace_entity_relate(DFT_REL_CONTAINS, archive, dftrace_entity("checkpoint", key, NULL));
    dftrace_entity_relate(DFT_REL_CONTAINS, archive, archive);
    if (rank == 1)
        dftrace_entity("archive", "a.tar", "/other/a.tar");
    return 0;
}
