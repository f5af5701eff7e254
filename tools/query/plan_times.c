/* SPDX-License-Identifier: MIT */
/* Time groups: how wide they are, and where the first begins (query.h). */
#include "query/plan_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/execution.h"
#include "object/source_notes.h"
#include "object/source_inside.h"
#include "intake/source_visit.h"

#define WIDTH_DEFAULT_NS UINT64_C(1000000000)

/* Our rows, and those that another tracer counted. */
enum kind { OWN, COUNTED, KINDS };

struct widths {
    uint8_t *seen;              /* by process: bits of kinds */
    uint64_t widest[64][KINDS]; /* by worker */
};

static enum kind kind_of(const struct dft_block *block)
{
    return block->stream & DFT_STREAM_COUNTED ? COUNTED : OWN;
}

static int first_of_process(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    struct widths *widths = context;
    uint8_t kind = (uint8_t)(1u << kind_of(block));

    if (block->type != DFT_BLOCK_BUCKETS || !block->use || widths->seen[process->number] & kind)
        return 0;
    widths->seen[process->number] |= kind;
    return 1;
}

static int widest_of(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_buckets *buckets)
{
    struct widths *widths = context;
    uint64_t *widest = &widths->widest[worker][kind_of(block)];

    (void)process;
    if (buckets->interval_ns > *widest && buckets->interval_ns <= DFT_INTERVAL_NS_MAX)
        *widest = buckets->interval_ns;
    return 0;
}

static int take_wider(void *context, unsigned rank, const void *bytes, size_t length)
{
    uint64_t widths[KINDS], *widest = context;

    (void)rank;
    memcpy(widths, bytes, length);
    for (int kind = 0; kind < KINDS; kind++)
        widest[kind] = widths[kind] > widest[kind] ? widths[kind] : widest[kind];
    return 0;
}

/* The widest interval that the rows of each kind have, so that all can answer if their intervals
 * are multiples of each other; 0: there are none. Reads a block of each process, once. */
static int find_widest(struct dft_source *source)
{
    struct widths widths = {0};
    struct dft_visit visit = {.context = &widths, .select = first_of_process, .buckets = widest_of};
    uint32_t count;
    int rc;

    if (source->has_widest)
        return 0;
    dft_source_processes(source, &count);
    widths.seen = calloc(count + 1u, 1);
    if (!widths.seen)
        return -ENOMEM;
    rc = dft_source_visit(source, &visit);
    free(widths.seen);
    for (unsigned i = 1; i < sizeof widths.widest / sizeof *widths.widest; i++)
        take_wider(widths.widest[0], 0, widths.widest[i], sizeof widths.widest[i]);
    rc = rc ? rc : dft_comm_exchange(widths.widest[0], sizeof widths.widest[0], take_wider, source->widest_ns);
    source->has_widest = !rc;
    return rc;
}

int dft_query_interval(struct dft_source *source, uint64_t *interval_ns)
{
    int rc = find_widest(source);

    *interval_ns = source->widest_ns[OWN];
    return rc;
}

int dft_query_period(struct dft_source *source, uint64_t *period_ns)
{
    int rc = find_widest(source);

    *period_ns = source->widest_ns[COUNTED];
    return rc;
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

/* What aggregates alone cannot split they do not pretend to: the width becomes a multiple of what
 * they have. */
static void widen(struct dft_execution *execution, uint64_t grid_ns)
{
    struct dft_query *query = &execution->query;

    if (!(query->width_ns % grid_ns))
        return;
    query->width_ns = (query->width_ns / grid_ns + 1) * grid_ns;
    dft_source_note(execution->source, 0,
                    "some events were kept only as aggregates, %s in intervals of %.9g s: time groups are %.9g s wide",
                    DFT_HAS_FILES(execution) || dft_filter_has_files(execution->filter) ? "of files" : "which are",
                    (double)grid_ns / 1e9, (double)query->width_ns / 1e9);
}

/* Periods that another tracer counted are put together, or shared out: the groups' edges are among
 * those of both. */
static void fit_period(struct dft_query *query, uint64_t period_ns)
{
    if (query->width_ns < period_ns && !(period_ns % query->width_ns))
        query->grid_ns = query->width_ns;
    else if (!(query->width_ns % period_ns) && (!query->grid_ns || !(period_ns % query->grid_ns)))
        query->grid_ns = period_ns;
}

int dft_choose_times(struct dft_execution *execution)
{
    struct dft_query *query = &execution->query;
    uint64_t interval, period, origin, end;
    int alone, rc;

    if (!DFT_HAS(execution, DFT_BY_TIME))
        return 0;
    rc = find_widest(execution->source);
    if (rc)
        return rc;
    interval = execution->source->widest_ns[OWN];
    period = execution->source->widest_ns[COUNTED];
    alone = has_rows_alone(execution->source);
    dft_source_lives(execution->source, &origin, &end);
    query->grid_ns = alone && (DFT_HAS_FILES(execution) || dft_filter_has_files(execution->filter))
                         ? interval * DFT_COARSE
                         : interval;
    if (!query->width_ns)
        query->width_ns = query->grid_ns > period ? query->grid_ns : period;
    if (!query->width_ns)
        query->width_ns = WIDTH_DEFAULT_NS;
    if (alone && query->grid_ns)
        widen(execution, query->grid_ns);
    if ((alone || query->bins) && interval && !(query->width_ns % (interval * DFT_COARSE)))
        query->grid_ns = interval * DFT_COARSE;
    if (interval && query->width_ns % interval)
        execution->rows_only = 0;
    if (period)
        fit_period(query, period);
    if (query->grid_ns && query->width_ns % query->grid_ns)
        query->grid_ns = 0;
    query->origin_ns = origin;
    query->base_ns = query->grid_ns ? origin / query->grid_ns * query->grid_ns : origin;
    return 0;
}
