/* Time groups: how wide they are, and where the first begins (query.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "query_inside.h"

#define WIDTH_DEFAULT_NS UINT64_C(1000000000)

struct widths {
    uint8_t *seen;       /* by process: 1, and 2 for rows that another tracer counted */
    uint8_t kinds;       /* which of them are asked for */
    uint64_t widest[64]; /* by worker */
};

static int first_of_process(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct widths *widths = context;

    uint8_t kind = block->stream & DFT_STREAM_COUNTED ? 2 : 1;

    if (block->type != DFT_BLOCK_BUCKETS || !block->use || (~widths->kinds | widths->seen[process->number]) & kind)
        return 0;
    widths->seen[process->number] |= kind;
    return 1;
}

static int widest_of(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_buckets *buckets)
{
    struct widths *widths = context;

    (void)process;
    (void)block;
    if (buckets->interval_ns > widths->widest[worker] && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        widths->widest[worker] = buckets->interval_ns;
    return 0;
}

static int take_wider(void *context, unsigned rank, const void *bytes, size_t length)
{
    uint64_t width, *widest = context;

    (void)rank;
    memcpy(&width, bytes, length);
    if (width > *widest)
        *widest = width;
    return 0;
}

/* The widest interval that the rows of these kinds have, so that all can answer if their intervals are multiples of each other; 0: there
 * are none. */
static int find_widest(struct dft_source *source, uint8_t kinds, uint64_t *widest)
{
    struct widths widths = {.kinds = kinds};
    struct dft_visit visit = {.context = &widths, .select = first_of_process, .buckets = widest_of};
    uint32_t count;
    int rc;

    *widest = 0;
    dft_source_processes(source, &count);
    widths.seen = calloc(count + 1u, 1);
    if (!widths.seen)
        return -ENOMEM;
    rc = dft_source_visit(source, &visit);
    free(widths.seen);
    for (unsigned i = 1; i < sizeof widths.widest / sizeof *widths.widest; i++)
        if (widths.widest[i] > widths.widest[0])
            widths.widest[0] = widths.widest[i];
    return rc ? rc : dft_comm_exchange(&widths.widest[0], sizeof widths.widest[0], take_wider, widest);
}

int dft_query_period(struct dft_source *source, uint64_t *period_ns)
{
    return find_widest(source, 2, period_ns);
}

/* Are there rows without events that are not what another tracer counted? */
static int has_rows_alone(const struct dft_source *source)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(source, &count);

    for (size_t i = 0; i < count; i++)
        if (blocks[i].type == DFT_BLOCK_BUCKETS && (blocks[i].use & DFT_IN_EVENTS) &&
            !(blocks[i].stream & DFT_STREAM_COUNTED))
            return 1;
    return 0;
}

/* What aggregates alone cannot split they do not pretend to: the width becomes a multiple of what they have. */
static void widen(struct dft_asking *asking, uint64_t grid_ns)
{
    struct dft_query *query = &asking->query;

    if (!(query->width_ns % grid_ns))
        return;
    query->width_ns = (query->width_ns / grid_ns + 1) * grid_ns;
    dft_source_note(asking->source, 0,
                    "some events were kept only as aggregates, %s in intervals of %.9g s: time groups are %.9g s wide",
                    DFT_HAS_FILES(asking) || asking->filter->nfiles ? "of files" : "which are", (double)grid_ns / 1e9,
                    (double)query->width_ns / 1e9);
}

/* Periods that another tracer counted are put together, or shared out: the groups' edges are among those of both. */
static void fit_period(struct dft_query *query, uint64_t period_ns)
{
    if (query->width_ns < period_ns && !(period_ns % query->width_ns))
        query->grid_ns = query->width_ns;
    else if (!(query->width_ns % period_ns) && (!query->grid_ns || !(period_ns % query->grid_ns)))
        query->grid_ns = period_ns;
}

int dft_choose_times(struct dft_asking *asking)
{
    struct dft_query *query = &asking->query;
    int alone = has_rows_alone(asking->source);
    uint64_t interval, period, origin, end;
    int rc;

    if (!DFT_HAS(asking, DFT_BY_TIME))
        return 0;
    rc = find_widest(asking->source, 1, &interval);
    if (!rc)
        rc = find_widest(asking->source, 2, &period);
    if (rc)
        return rc;
    dft_source_lives(asking->source, &origin, &end);
    query->grid_ns = alone && (DFT_HAS_FILES(asking) || asking->filter->nfiles) ? interval * DFT_COARSE : interval;
    if (!query->width_ns)
        query->width_ns = query->grid_ns > period ? query->grid_ns : period;
    if (!query->width_ns)
        query->width_ns = WIDTH_DEFAULT_NS;
    if (alone && query->grid_ns)
        widen(asking, query->grid_ns);
    if ((alone || query->bins) && interval && !(query->width_ns % (interval * DFT_COARSE)))
        query->grid_ns = interval * DFT_COARSE;
    if (period)
        fit_period(query, period);
    if (query->grid_ns && query->width_ns % query->grid_ns)
        query->grid_ns = 0;
    query->base_ns = query->grid_ns ? origin / query->grid_ns * query->grid_ns : origin;
    return 0;
}
