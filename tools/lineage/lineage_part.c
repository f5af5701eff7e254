/* SPDX-License-Identifier: MIT */
/* The part of the graph that an answer for programs holds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage_output.h"
#include "lineage/lineage_walk.h"

static int add_walk(const struct dft_lineage_answer *answer, enum dft_lineage_way way, struct dft_lineage_part *part)
{
    const struct dft_lineage *lineage = answer->lineage;
    struct dft_lineage_walk walk;
    int rc = dft_lineage_walk(lineage, answer->entity, way, answer->depth, &walk);

    for (uint32_t i = 0; !rc && i < lineage->nentities; i++)
        part->entities[i] |= walk.entities[i] != DFT_LINEAGE_NEVER;
    for (uint32_t i = 0; !rc && i < lineage->nactivities; i++)
        part->activities[i] |= walk.activities[i] != DFT_LINEAGE_NEVER;
    for (uint32_t i = 0; !rc && i < lineage->nlinks; i++)
        part->links[i] |= walk.links[i] != DFT_LINEAGE_NEVER;
    dft_lineage_walk_fini(&walk);
    return rc;
}

int dft_lineage_part(const struct dft_lineage_answer *answer, struct dft_lineage_part *part)
{
    const struct dft_lineage *lineage = answer->lineage;
    int rc = 0;

    *part = (struct dft_lineage_part){calloc(lineage->nentities + 1u, 1), calloc(lineage->nactivities + 1u, 1),
                                      calloc(lineage->nlinks + 1u, 1), calloc(answer->nprocesses + 1u, 1)};
    if (!part->entities || !part->activities || !part->links || !part->processes)
        return -ENOMEM;
    if (answer->entity == DFT_LINEAGE_ALL) {
        memset(part->entities, 1, lineage->nentities);
        memset(part->activities, 1, lineage->nactivities);
        memset(part->links, 1, lineage->nlinks);
    } else {
        if (answer->up)
            rc = add_walk(answer, DFT_LINEAGE_UP, part);
        if (!rc && answer->down)
            rc = add_walk(answer, DFT_LINEAGE_DOWN, part);
    }
    for (uint32_t i = 0; i < lineage->nactivities; i++)
        if (part->activities[i])
            part->processes[lineage->activities[i].process] = 1;
    return rc;
}

void dft_lineage_part_fini(struct dft_lineage_part *part)
{
    free(part->entities);
    free(part->activities);
    free(part->links);
    free(part->processes);
    memset(part, 0, sizeof *part);
}
