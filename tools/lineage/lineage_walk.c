/* SPDX-License-Identifier: MIT */
/* Goes over the graph in steps: each entity, region and relation once. */
#include "lineage/lineage_walk.h"
#include "lineage/lineage_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walking {
    const struct dft_lineage *lineage;
    struct dft_lineage_walk *walk;
    uint32_t *queue, count;
    enum dft_lineage_way way;
};

static void reach(struct walking *walking, uint32_t entity, uint32_t steps)
{
    if (walking->walk->entities[entity] != DFT_LINEAGE_NEVER)
        return;
    walking->walk->entities[entity] = steps;
    walking->queue[walking->count++] = entity;
}

static void through_activity(struct walking *walking, uint32_t number, uint32_t entity, uint32_t steps)
{
    const struct dft_lineage *lineage = walking->lineage;
    const struct dft_lineage_activity *activity = &lineage->activities[number];
    const struct dft_lineage_use *uses = lineage->uses + activity->from;
    int enters = 0, ended = 0;

    if (walking->walk->activities[number] != DFT_LINEAGE_NEVER)
        return;
    for (uint32_t i = 0; i < activity->uses; i++) {
        enters |= uses[i].entity == entity && dft_lineage_enters(walking->way, uses[i].relation);
        ended |= uses[i].entity == entity && uses[i].relation == DFT_LINEAGE_INVALIDATED;
    }
    if (!enters && !(ended && !steps && walking->way == DFT_LINEAGE_DOWN))
        return;
    walking->walk->activities[number] = steps;
    walking->walk->nactivities++;
    for (uint32_t i = 0; enters && i < activity->uses; i++)
        if (dft_lineage_leaves(walking->way, uses[i].relation))
            reach(walking, uses[i].entity, steps + 1);
}

static void through_all(struct walking *walking, uint32_t entity, uint32_t steps)
{
    const struct dft_lineage *lineage = walking->lineage;
    const struct dft_lineage_index *activities = &lineage->of_activities, *links = &lineage->of_links;

    for (uint32_t i = activities->from[entity]; i < activities->from[entity + 1]; i++)
        through_activity(walking, activities->list[i], entity, steps);
    for (uint32_t i = links->from[entity]; i < links->from[entity + 1]; i++) {
        uint32_t to = dft_lineage_follow(&lineage->links[links->list[i]], entity, walking->way);

        if (to == UINT32_MAX)
            continue;
        if (walking->walk->links[links->list[i]] == DFT_LINEAGE_NEVER)
            walking->walk->links[links->list[i]] = steps;
        reach(walking, to, steps + 1);
    }
}

static uint32_t *nevers(uint32_t count)
{
    uint32_t *list = malloc((count + 1u) * sizeof *list);

    if (list)
        memset(list, 0xff, (count + 1u) * sizeof *list);
    return list;
}

int dft_lineage_walk(const struct dft_lineage *lineage, uint32_t from, enum dft_lineage_way way, uint32_t depth,
                     struct dft_lineage_walk *walk)
{
    struct walking walking = {.lineage = lineage, .walk = walk, .way = way};

    *walk = (struct dft_lineage_walk){.entities = nevers(lineage->nentities),
                                      .activities = nevers(lineage->nactivities),
                                      .links = nevers(lineage->nlinks)};
    walking.queue = malloc((lineage->nentities + 1u) * sizeof *walking.queue);
    if (!walk->entities || !walk->activities || !walk->links || !walking.queue) {
        free(walking.queue);
        return -ENOMEM;
    }
    reach(&walking, from, 0);
    for (uint32_t i = 0; i < walking.count; i++) {
        uint32_t steps = walk->entities[walking.queue[i]];

        walk->steps = steps;
        if (steps < depth)
            through_all(&walking, walking.queue[i], steps);
    }
    walk->nentities = walking.count - 1;
    free(walking.queue);
    return 0;
}

void dft_lineage_walk_fini(struct dft_lineage_walk *walk)
{
    free(walk->entities);
    free(walk->activities);
    free(walk->links);
    memset(walk, 0, sizeof *walk);
}
