/* SPDX-License-Identifier: MIT */
/* Relations for which their region had no room, and the regions that they are of. */
#ifndef DFT_LINEAGE_APART_H
#define DFT_LINEAGE_APART_H

#include "lineage/lineage.h"

struct dft_lineage_apart_relation {
    uint64_t call, time_ns;
    uint32_t process, tid;
    uint32_t region; /* place + 1 of its region; 0: not found */
    struct dft_lineage_relate relate;
};

struct dft_lineage_apart_region {
    struct dft_lineage_region region;
    uint32_t from, count; /* in `own` */
};

struct dft_lineage_apart {
    struct dft_lineage_apart_relation *relations;
    struct dft_lineage_apart_region *regions;
    struct dft_lineage_relate *own; /* what the regions had room for */
    uint64_t slack_ns;              /* how much later than its region ends a relation may seem: times were rounded */
    uint32_t nrelations, nregions, nown, relations_capacity, regions_capacity, own_capacity;
};

int dft_lineage_apart_add(struct dft_lineage_apart *apart, const struct dft_lineage_apart_relation *relation);
/* After the last relation, before the first region. */
void dft_lineage_apart_sort(struct dft_lineage_apart *apart);
/* Takes a region of which there are relations. Returns 1: it was taken; 0: there are none; or
 * -ENOMEM. */
int dft_lineage_apart_take(struct dft_lineage_apart *apart, const struct dft_lineage_region *region, uint32_t tid,
                           const struct dft_lineage_relate *own, uint32_t count);
/* Gives the regions, with all their relations, to the graph. Returns 0 or -ENOMEM. */
int dft_lineage_apart_finish(struct dft_lineage_apart *apart, struct dft_lineage *lineage);
void dft_lineage_apart_fini(struct dft_lineage_apart *apart);

#endif
