/* Time in stretches that hold about as many events each, from the headers of blocks alone: as if the events of a block were
 * spread evenly over its time. What is written of one stretch does not depend on who writes it. */
#include "source/source_stretch.h"

#include <errno.h>
#include <stdlib.h>

#include "source/filter.h"
#include "source/source_inside.h"
#include "source/source_order.h"

#define STRETCH_EVENTS (UINT32_C(1) << 17)

/* At this time so many events begin to come in each nanosecond, or no longer come (less than 0). */
struct edge {
    uint64_t ns;
    size_t number;
    double events;
};

struct stretching {
    struct edge *edges;
    size_t nedges;
    uint64_t *starts;
    size_t count, room;
    double wanted;
};

static int add_start(struct stretching *stretching, uint64_t start)
{
    uint64_t *bigger;

    if (stretching->count && stretching->starts[stretching->count - 1] >= start)
        return 0;
    if (stretching->count == stretching->room) {
        stretching->room = 2 * stretching->room + 16;
        bigger = reallocarray(stretching->starts, stretching->room, sizeof *bigger);
        if (!bigger)
            return -ENOMEM;
        stretching->starts = bigger;
    }
    stretching->starts[stretching->count++] = start;
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void add_edges(struct stretching *stretching, const struct dft_filter *filter, const struct dft_block *block)
{
    uint64_t from = block->start, to = block->end > block->start ? block->end : block->start;
    double events = block->count / ((double)(to - from) + 1);

    if (filter && filter->from_ns > from)
        from = filter->from_ns;
    if (filter && filter->to_ns < to)
        to = filter->to_ns;
    if (from > to)
        return;
    stretching->edges[stretching->nedges] = (struct edge){from, stretching->nedges, events};
    stretching->nedges++;
    stretching->edges[stretching->nedges] = (struct edge){to < UINT64_MAX ? to + 1 : to, stretching->nedges, -events};
    stretching->nedges++;
}

static int cut_time(struct stretching *stretching)
{
    double density = 0, sum = 0;
    int rc = stretching->nedges ? add_start(stretching, stretching->edges[0].ns) : 0;

    for (size_t i = 0; i + 1 < stretching->nedges && !rc; i++) {
        uint64_t at = stretching->edges[i].ns, until = stretching->edges[i + 1].ns;

        density += stretching->edges[i].events;
        while (!rc && density > 0 && at < until && sum + density * (double)(until - at) >= stretching->wanted) {
            double more = (stretching->wanted - sum) / density;

            at = more < (double)(until - at) ? at + (uint64_t)more + 1 : until;
            at = at < until ? at : until;
            sum = 0;
            rc = add_start(stretching, at);
        }
        if (density > 0)
            sum += density * (double)(until - at);
    }
    return rc;
}

static int cut_blocks(struct stretching *stretching, const struct dft_source *source, const struct dft_filter *filter)
{
    double sum = 0;
    int rc = 0;

    for (size_t i = 0; i < source->nblocks && !rc; i++) {
        if (!dft_source_wants(source, filter, &source->blocks[i]))
            continue;
        if (!stretching->count || sum >= stretching->wanted) {
            rc = add_start(stretching, i);
            sum = 0;
        }
        sum += source->blocks[i].count;
    }
    return rc;
}

int dft_source_stretches(const struct dft_source *source, const struct dft_filter *filter, int by_block,
                         uint64_t **starts, size_t *count)
{
    const char *wanted = getenv("DFTMERGE_STRETCH_EVENTS"); /* for the tests; only members of gzip depend on it */
    struct stretching stretching = {.wanted = wanted ? strtod(wanted, NULL) : STRETCH_EVENTS};
    int rc;

    stretching.edges = malloc((2 * source->nblocks + 1) * sizeof *stretching.edges);
    if (!stretching.edges)
        return -ENOMEM;
    for (size_t i = 0; i < source->nblocks && !by_block; i++)
        if (dft_source_wants(source, filter, &source->blocks[i]))
            add_edges(&stretching, filter, &source->blocks[i]);
    qsort(stretching.edges, stretching.nedges, sizeof *stretching.edges, by_time);
    rc = by_block ? cut_blocks(&stretching, source, filter) : cut_time(&stretching);
    free(stretching.edges);
    *starts = stretching.starts;
    *count = stretching.count;
    return rc;
}
