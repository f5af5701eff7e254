/* SPDX-License-Identifier: MIT */
/* The state of a query: made and freed. */
#include "query/execution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "query/partial.h"
#include "query/spill.h"
#include "intake/class_table.h"
#include "views/filter.h"
#include "object/object.h"

#define GROUP_BYTES_MIN ((size_t)8 << 10) /* a few groups with their histograms */

static size_t group_bytes(void)
{
    uint64_t bytes = dft_setting(DFT_SETTING_GROUP_BYTES);

    return bytes > GROUP_BYTES_MIN ? bytes : GROUP_BYTES_MIN;
}

/* Does the answer depend on classes that events alone have? */
static int needs_events(const struct dft_execution *execution)
{
    return dft_source_is_classified(execution->source) &&
           (DFT_HAS(execution, DFT_BY_CLASS) || execution->query.classes ||
            dft_filter_has(execution->filter, DFT_FILTER_CLASS));
}

static int init(struct dft_execution *execution, struct dft_source *source, const struct dft_filter *filter,
                const struct dft_query *query)
{
    const unsigned no_self =
        1u << DFT_BY_REGION | DFT_BY_FILES | 1u << DFT_BY_STACK | 1u << DFT_BY_LINE | 1u << DFT_BY_TIME;
    const unsigned tell_regions = 1u << DFT_BY_CAT | 1u << DFT_BY_NAME | 1u << DFT_BY_OP | 1u << DFT_BY_CLASS;
    const int no_regions = query->classes && !(query->classes >> DFT_IO_NONE & 1);
    uint64_t start, end;

    *execution = (struct dft_execution){.source = source, .own_filter = *filter, .query = *query};
    execution->filter = &execution->own_filter;
    execution->names = dft_source_names_table(source);
    dft_source_span(source, &start, &end);
    if (execution->own_filter.from_ns <= start)
        execution->own_filter.from_ns = 0;
    if (execution->own_filter.to_ns > end)
        execution->own_filter.to_ns = UINT64_MAX;
    for (unsigned i = 0; i < query->nby; i++)
        execution->has |= 1u << query->by[i];
    execution->facets = (DFT_HAS(execution, DFT_BY_ERRNO) ? DFT_FACETS_ERR : 0) |
                        (DFT_HAS(execution, DFT_BY_SIZE) ? DFT_FACETS_SIZE : 0) |
                        (DFT_HAS(execution, DFT_BY_ACCESS) ? DFT_FACETS_ACCESS : 0);
    execution->picks = dft_filter_has_facets(filter) || dft_filter_has(filter, DFT_FILTER_SLOWER);
    /* of regions that are left out, or chosen by what is around them, or by their time, the insides
     * are not */
    execution->want_self = !(execution->has & no_self) && (!no_regions || execution->has & tell_regions) &&
                           !dft_filter_has(filter, DFT_FILTER_REGION) && !dft_filter_has(filter, DFT_FILTER_SLOWER);
    execution->wants_calls =
        DFT_HAS(execution, DFT_BY_CAT) || DFT_HAS(execution, DFT_BY_NAME) || dft_filter_has_calls(execution->filter);
    execution->query.events |= needs_events(execution);
    execution->rows_only = !execution->query.events && !DFT_HAS_FILES(execution) && !DFT_HAS_STACKS(execution) &&
                           !dft_filter_has_files(filter) && dft_source_used(source, DFT_BLOCK_BUCKETS);
    execution->want_busy = query->busy && DFT_HAS(execution, DFT_BY_TIME);
    execution->want_patterns = query->patterns && DFT_HAS(execution, DFT_BY_FILE);
    if (execution->want_busy && (execution->own_filter.from_ns || execution->own_filter.to_ns != UINT64_MAX ||
                                 dft_filter_has(filter, DFT_FILTER_SLOWER)))
        execution->rows_only = 0; /* rows do not know where, or in which calls, the time began that goes on in them */
    pthread_mutex_init(&execution->lock, NULL);
    execution->nworkers = dft_source_threads(source);
    execution->workers = calloc(execution->nworkers, sizeof *execution->workers);
    execution->histograms = query->percentiles;
    execution->budget = group_bytes();
    execution->share = execution->budget / 2 / execution->nworkers;
    return execution->workers ? 0 : -ENOMEM;
}

int dft_execution_create(struct dft_execution **result, struct dft_source *source, const struct dft_filter *filter,
                         const struct dft_query *query)
{
    struct dft_execution *execution = *result = malloc(sizeof *execution);

    return execution ? init(execution, source, filter, query) : -ENOMEM;
}

void dft_execution_destroy(struct dft_execution *execution)
{
    dft_spill_clear(execution);
    dft_partial_fini(&execution->total);
    pthread_mutex_destroy(&execution->lock);
    free(execution->workers);
    free(execution->process_group_of);
    free(execution->process_group);
    free(execution);
}
