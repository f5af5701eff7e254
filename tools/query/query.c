/* SPDX-License-Identifier: MIT */
/* Queries: decides where the answer comes from, has its parts counted, and puts it together. */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/query_inside.h"
#include "source/source_names.h"
#include "source/source_notes.h"
#include "base/settings.h"

#define EACH_BYTES      ((size_t)32 << 20) /* the same of answers that are taken part by part */
#define GROUP_BYTES_MIN ((size_t)8 << 10)  /* a few groups with their histograms */

/* --- the whole ------------------------------------------------------------------------------------------------------
 * */

static size_t group_bytes(void)
{
    uint64_t bytes = dft_setting(DFT_SETTING_GROUP_BYTES); /* see README.md */

    return bytes > GROUP_BYTES_MIN ? bytes : GROUP_BYTES_MIN;
}

static int asking_init(struct dft_asking *asking, struct dft_source *source, const struct dft_filter *filter,
                       const struct dft_query *query)
{
    const unsigned no_self = 1u << DFT_BY_REGION | 1u << DFT_BY_FILE | 1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN |
                             1u << DFT_BY_STACK | 1u << DFT_BY_LINE | 1u << DFT_BY_TIME;
    uint64_t start, end;

    *asking = (struct dft_asking){.source = source, .own_filter = *filter, .query = *query};
    asking->filter = &asking->own_filter;
    asking->names = dft_source_names_table(source);
    dft_source_span(source, &start, &end);
    if (asking->own_filter.from_ns <= start)
        asking->own_filter.from_ns = 0;
    if (asking->own_filter.to_ns > end)
        asking->own_filter.to_ns = UINT64_MAX;
    for (unsigned i = 0; i < query->nby; i++)
        asking->has |= 1u << query->by[i];
    asking->want_self = !(asking->has & no_self);
    asking->wants_calls =
        DFT_HAS(asking, DFT_BY_CAT) || DFT_HAS(asking, DFT_BY_NAME) || dft_filter_has_calls(asking->filter);
    asking->rows_only = !query->events && !DFT_HAS_FILES(asking) && !DFT_HAS_STACKS(asking) && !filter->nfiles &&
                        dft_source_used(source, DFT_BLOCK_BUCKETS);
    asking->want_busy = query->busy && DFT_HAS(asking, DFT_BY_TIME);
    if (asking->want_busy && (asking->own_filter.from_ns || asking->own_filter.to_ns != UINT64_MAX))
        asking->rows_only = 0; /* rows do not know where the time began that goes on in them */
    pthread_mutex_init(&asking->lock, NULL);
    asking->nworkers = dft_source_threads(source);
    asking->workers = calloc(asking->nworkers, sizeof *asking->workers);
    asking->histograms = query->percentiles;
    asking->budget = group_bytes();
    asking->share = asking->budget / 2 / asking->nworkers;
    return asking->workers ? 0 : -ENOMEM;
}

/* What is needed while counting. */
static int fetch_texts(struct dft_asking *asking)
{
    const enum dft_file_facts_by by = DFT_HAS(asking, DFT_BY_PATTERN) ? DFT_FILES_PATTERN
                                      : DFT_HAS(asking, DFT_BY_DIR)   ? DFT_FILES_DIR
                                                                      : DFT_FILES_ALONE;
    int rc = 0;

    if (by != DFT_FILES_ALONE || asking->filter->nfiles)
        rc = dft_file_facts_create(&asking->files, asking->source, asking->filter, by, !asking->together);
    if (rc || asking->together) /* has its own texts */
        return rc;
    if (DFT_HAS_STACKS(asking))
        return dft_source_names(asking->source, NULL, 0);
    return dft_filter_has_calls(asking->filter) ? dft_source_names_of_rows(asking->source) : 0;
}

void dft_asking_end(struct dft_asking *asking)
{
    dft_spill_clear(asking);
    dft_tally_fini(&asking->total);
    pthread_mutex_destroy(&asking->lock);
    free(asking->workers);
    free(asking->who_of);
    free(asking->who);
    free(asking);
}

/* Everything but counting. */
static int asking_begin(struct dft_asking **result, struct dft_source *source, const struct dft_filter *filter,
                        const struct dft_query *query, struct dft_answer *answer)
{
    struct dft_asking *asking = malloc(sizeof *asking);
    int rc = -ENOMEM;

    memset(answer, 0, sizeof *answer);
    *result = asking;
    if (!asking)
        return rc;
    rc = asking_init(asking, source, filter, query);
    if (!rc)
        rc = dft_together_begin(asking);
    if (!rc)
        rc = fetch_texts(asking);
    answer->files = asking->files;
    if (!rc)
        rc = dft_number_processes(asking);
    if (!rc)
        rc = dft_choose_times(asking);
    answer->query = asking->query;
    answer->dft_source = source;
    answer->who = asking->who;
    asking->who = NULL;
    return rc;
}

int dft_asking_begin_all(struct dft_asking **result, struct dft_source *source, const struct dft_filter *filter,
                         const struct dft_query *query)
{
    struct dft_asking *asking = *result = malloc(sizeof *asking);
    int rc = asking ? asking_init(asking, source, filter, query) : -ENOMEM;

    if (!rc) {
        asking->all_events = 1;
        rc = dft_number_processes(asking);
    }
    return rc;
}

static void note_inexact(struct dft_asking *asking, struct dft_answer *answer)
{
    if (asking->met.inexact || asking->met.coarse)
        answer->has_percentiles = 0;
    if (asking->met.coarse)
        dft_source_note(
            asking->source, 0,
            "percentiles are not known: of events that were kept only as aggregates they are of 64 intervals "
            "together");
    if (asking->met.inexact)
        dft_source_note(asking->source, 0,
                        "some events were kept only as aggregates, and these have whole intervals: times are rounded");
    if (asking->met.shared)
        dft_source_note(asking->source, 0,
                        "some calls are known only by their number in a period: each part of it has an even share");
    if (answer->unsplit) /* without other events the answer is empty */
        dft_source_note(
            asking->source, asking->met.batches ? DFT_BAD_NOTHING : DFT_BAD_OTHER,
            "%llu events were kept only as aggregates, which know calls and files, but not which call was on "
            "which file, nor stacks: they are in no group (ask by file, dir or pattern without calls, or by call "
            "without files)",
            (unsigned long long)answer->unsplit);
}

/* What is so of the answer whatever its groups are; when they have been counted. */
void dft_answer_describe(struct dft_asking *asking, struct dft_answer *answer)
{
    const struct dft_met *met = &asking->met;

    answer->events = met->events;
    answer->events_kept = met->events_kept;
    answer->unsplit = met->unsplit;
    answer->source = asking->together ? DFT_ANSWER_BUCKETS
                     : met->file_rows ? DFT_ANSWER_FILES
                     : !asking->rows_only && (met->batches || !dft_source_used(asking->source, DFT_BLOCK_BUCKETS))
                         ? DFT_ANSWER_EVENTS
                         : DFT_ANSWER_BUCKETS;
    answer->has_self = asking->want_self;
    answer->has_busy = !DFT_HAS(asking, DFT_BY_TIME) || (asking->want_busy && !met->busy_unknown && !met->inexact);
    answer->has_percentiles = asking->query.percentiles && answer->source != DFT_ANSWER_FILES;
    answer->has_union = asking->query.busy_union && answer->source == DFT_ANSWER_EVENTS &&
                        dft_source_kept(asking->source) == DFT_KEPT_ALL;
    note_inexact(asking, answer);
}

static int done(struct dft_asking *asking, struct dft_answer *answer, int rc)
{
    if (asking)
        dft_asking_end(asking);
    if (rc)
        dft_answer_fini(answer);
    return rc;
}

/* Counts all groups, and says what is so of the answer. Collective. */
static int count(struct dft_asking *asking, struct dft_answer *answer)
{
    int rc = dft_count(asking);

    if (!rc)
        dft_answer_describe(asking, answer);
    return rc;
}

/* All ranks must know. */
static int check_bound(const struct dft_asking *asking, const struct dft_answer *answer)
{
    uint64_t bytes = answer->count * sizeof *answer->groups + answer->nbins * sizeof *answer->bins;

    return asking->query.bounded ? dft_comm_agree(bytes > group_bytes() / 4 * 3 ? -E2BIG : 0) : 0;
}

int dft_query_run(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  struct dft_answer *answer)
{
    struct dft_asking *asking;
    int rc = asking_begin(&asking, source, filter, query, answer);

    if (!rc)
        rc = count(asking, answer);
    while (!rc && (rc = dft_next_groups(asking)) > 0) {
        rc = dft_query_finish(asking, answer);
        if (!rc)
            rc = check_bound(asking, answer);
    }
    for (uint32_t i = 0; i < answer->count; i++) /* they have stopped moving */
        answer->groups[i].bins = answer->bins ? answer->bins + answer->groups[i].bins_at : NULL;
    if (!rc && answer->has_union)
        rc = dft_count_union(asking, answer);
    if (!rc && (DFT_HAS(asking, DFT_BY_DIR) || DFT_HAS(asking, DFT_BY_PATTERN)))
        rc = dft_answer_texts(answer, asking->names, answer->groups, answer->count);
    return done(asking, answer, rc);
}

int dft_query_each(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                   int (*take)(void *context, const struct dft_answer *answer), void *context,
                   struct dft_answer *answer)
{
    struct dft_asking *asking;
    int rc = asking_begin(&asking, source, filter, query, answer);

    if (!rc && asking->budget > EACH_BYTES) {
        asking->budget = EACH_BYTES;
        asking->share = asking->budget / 2 / asking->nworkers;
    }
    if (!rc)
        rc = count(asking, answer);
    while (!rc && (rc = dft_next_groups(asking)) > 0) {
        rc = dft_query_finish(asking, answer);
        if (!rc)
            rc = dft_comm_agree(take(context, answer));
        free(answer->groups);
        answer->groups = NULL;
        answer->count = 0;
    }
    return done(asking, answer, rc);
}

/* Is it a column that only events know? */
static int is_swept(const char *column)
{
    for (int c = 0; column && c < DFT_COLUMNS; c++)
        if (dft_column_is_swept(c) && !strcmp(column, dft_column_name((enum dft_column)c)))
            return 1;
    return 0;
}

int dft_query_sorted(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                     const struct dft_order *order, struct dft_answer *answer)
{
    struct dft_query asked = *query;
    struct dft_asking *asking;
    int rc = dft_order_check(order, query);

    if (rc)
        return rc;
    asked.events |= asked.busy_union && is_swept(order->column);
    rc = asking_begin(&asking, source, filter, &asked, answer);
    if (!rc)
        rc = count(asking, answer);
    if (!rc && asking->spilled) {
        rc = dft_pages_begin(asking, order, answer);
        return rc ? done(asking, answer, rc) : 0;
    }
    if (!rc)
        rc = dft_query_finish(asking, answer);
    if (!rc && answer->has_union)
        rc = dft_count_union(asking, answer);
    if (!rc)
        rc = dft_answer_sort(answer, order->column, order->top);
    return done(asking, answer, rc);
}

void dft_answer_fini(struct dft_answer *answer)
{
    dft_pages_end(answer);
    dft_names_destroy(answer->texts);
    dft_file_facts_destroy(answer->files);
    free(answer->groups);
    free(answer->bins);
    free(answer->who);
    memset(answer, 0, sizeof *answer);
}
