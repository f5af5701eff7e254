/* SPDX-License-Identifier: MIT */
/* Relations for which their region had no room. A relation is of the innermost region of that name
 * and thread that goes on at its time. */
#include "lineage/lineage_apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "lineage/lineage_graph.h"

static int by_thread(const void *left, const void *right)
{
    const struct dft_lineage_apart_relation *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->tid, b->tid);
    DFT_ORDER(a->call, b->call);
    DFT_ORDER(a->time_ns, b->time_ns);
    DFT_ORDER(a->relate.entity, b->relate.entity);
    DFT_ORDER(a->relate.relation, b->relate.relation);
    return 0;
}

static int by_region(const void *left, const void *right)
{
    const struct dft_lineage_apart_relation *a = left, *b = right;

    DFT_ORDER(a->region, b->region);
    return by_thread(left, right);
}

int dft_lineage_apart_add(struct dft_lineage_apart *apart, const struct dft_lineage_apart_relation *relation)
{
    return DFT_ARRAY_PUSH(apart->relations, apart->relations_capacity, apart->nrelations, *relation);
}

void dft_lineage_apart_sort(struct dft_lineage_apart *apart)
{
    if (apart->nrelations)
        qsort(apart->relations, apart->nrelations, sizeof *apart->relations, by_thread);
}

/* The first relation that is not before the beginning of the region. */
static uint32_t first_of(const struct dft_lineage_apart *apart, const struct dft_lineage_apart_relation *begin)
{
    uint32_t low = 0, high = apart->nrelations;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (by_thread(&apart->relations[middle], begin) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int claim(struct dft_lineage_apart *apart, const struct dft_lineage_region *region, uint32_t tid)
{
    const struct dft_lineage_apart_relation begin = {
        .call = region->call, .time_ns = region->start_ns, .process = region->process, .tid = tid};
    int claimed = 0;

    for (uint32_t i = first_of(apart, &begin); i < apart->nrelations; i++) {
        struct dft_lineage_apart_relation *it = &apart->relations[i];

        if (it->process != begin.process || it->tid != tid || it->call != begin.call ||
            it->time_ns - region->start_ns > region->dur_ns + apart->slack_ns)
            break;
        if (it->region && apart->regions[it->region - 1].region.start_ns > region->start_ns)
            continue;
        it->region = apart->nregions + 1;
        claimed = 1;
    }
    return claimed;
}

int dft_lineage_apart_take(struct dft_lineage_apart *apart, const struct dft_lineage_region *region, uint32_t tid,
                           const struct dft_lineage_relate *own, uint32_t count)
{
    struct dft_lineage_apart_region taken = {.region = *region, .from = apart->nown, .count = count};

    if (!apart->nrelations || !claim(apart, region, tid))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (DFT_ARRAY_PUSH(apart->own, apart->own_capacity, apart->nown, own[i]))
            return -ENOMEM;
    return DFT_ARRAY_PUSH(apart->regions, apart->regions_capacity, apart->nregions, taken) ? -ENOMEM : 1;
}

static int give(struct dft_lineage_apart *apart, uint32_t number, uint32_t from, uint32_t to,
                struct dft_lineage *lineage)
{
    const struct dft_lineage_apart_region *region = &apart->regions[number];
    uint32_t count = region->count + to - from;
    struct dft_lineage_relate *all = malloc((count + 1u) * sizeof *all);
    int rc = -ENOMEM;

    if (all) {
        if (region->count)
            memcpy(all, apart->own + region->from, region->count * sizeof *all);
        for (uint32_t i = from; i < to; i++)
            all[region->count + i - from] = apart->relations[i].relate;
        rc = count ? dft_lineage_region(lineage, &region->region, all, count) : 0;
    }
    free(all);
    return rc;
}

int dft_lineage_apart_finish(struct dft_lineage_apart *apart, struct dft_lineage *lineage)
{
    uint32_t at = 0;
    int rc = 0;

    if (apart->nrelations)
        qsort(apart->relations, apart->nrelations, sizeof *apart->relations, by_region);
    while (at < apart->nrelations && !apart->relations[at].region)
        at++;
    lineage->troubles.unmatched += at;
    for (uint32_t i = 0; !rc && i < apart->nregions; i++) {
        uint32_t from = at;

        while (at < apart->nrelations && apart->relations[at].region == i + 1)
            at++;
        rc = give(apart, i, from, at, lineage);
    }
    return rc;
}

void dft_lineage_apart_fini(struct dft_lineage_apart *apart)
{
    free(apart->relations);
    free(apart->regions);
    free(apart->own);
    memset(apart, 0, sizeof *apart);
}
