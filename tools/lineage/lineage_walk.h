/* SPDX-License-Identifier: MIT */
/* What an entity came from, and what was made of it, over any number of steps. */
#ifndef DFT_LINEAGE_WALK_H
#define DFT_LINEAGE_WALK_H

#include "lineage/lineage.h"

#define DFT_LINEAGE_NEVER UINT32_MAX

/* Steps from an entity, by place; DFT_LINEAGE_NEVER: no way leads there. */
struct dft_lineage_walk {
    uint32_t *entities, *activities, *links;
    uint32_t nentities, nactivities; /* reached; the entity itself does not count */
    uint32_t steps;                  /* of the farthest */
};

/* At most `depth` steps. Returns 0 or -ENOMEM; the caller frees the walk in any case. */
int dft_lineage_walk(const struct dft_lineage *lineage, uint32_t from, enum dft_lineage_way way, uint32_t depth,
                     struct dft_lineage_walk *walk);
void dft_lineage_walk_fini(struct dft_lineage_walk *walk);

#endif
