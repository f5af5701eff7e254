/* SPDX-License-Identifier: MIT */
/* Queries: decides where the answer comes from, has it counted, and puts it together. */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_groups.h"
#include "query/answer_pages.h"
#include "query/answer_sort.h"
#include "query/busy_union.h"
#include "query/count_pass.h"
#include "query/execution.h"
#include "query/file_facts.h"
#include "query/plan_processes.h"
#include "query/plan_times.h"
#include "query/query_types.h"
#include "query/spill.h"
#include "views/filter.h"
#include "intake/source_names.h"
#include "object/source_notes.h"
#include "object/object.h"

#define EACH_BYTES      ((size_t)32 << 20) /* the same of answers that are taken part by part */
#define GROUP_BYTES_MIN ((size_t)8 << 10)  /* a few groups with their histograms */

/* --- the whole -------------------------------------------------------------------------------- */

/* What is needed while counting. */
static int fetch_texts(struct dft_execution *execution)
{
    const enum dft_file_facts_by by = DFT_HAS(execution, DFT_BY_PATTERN) ? DFT_FILES_PATTERN
                                      : DFT_HAS(execution, DFT_BY_DIR)   ? DFT_FILES_DIR
                                      : DFT_HAS(execution, DFT_BY_EXT)   ? DFT_FILES_EXT
                                      : DFT_HAS(execution, DFT_BY_MOUNT) ? DFT_FILES_MOUNT
                                                                         : DFT_FILES_ALONE;
    int rc = 0;

    execution->may_fold = DFT_HAS_FILES(execution) && dft_source_kept(execution->source) != DFT_KEPT_ALL;
    if (by != DFT_FILES_ALONE || dft_filter_has_files(execution->filter) || execution->may_fold)
        rc = dft_file_facts_create(&execution->files, execution->source, execution->filter, by, execution->query.depth);
    if (!rc && by == DFT_FILES_MOUNT && !dft_file_facts_has_mounts(execution->files))
        dft_source_note(execution->source, 0, "no process has recorded its mount points: they are unknown");
    if (!rc && dft_filter_lacks_mounts(execution->filter))
        dft_source_note(execution->source, 0, "--mount: no process has recorded its mount points: they are unknown");
    if (rc)
        return rc;
    if (DFT_HAS_STACKS(execution))
        return dft_source_names(execution->source, NULL, 0);
    return dft_filter_has_names(execution->filter) ? dft_source_names_of_rows(execution->source) : 0;
}

/* Everything but counting. */
static int begin(struct dft_execution **result, struct dft_source *source, const struct dft_filter *filter,
                 const struct dft_query *query, struct dft_answer *answer)
{
    struct dft_execution *execution;
    int rc = dft_execution_create(result, source, filter, query);

    execution = *result;
    memset(answer, 0, sizeof *answer);
    if (!execution)
        return rc;
    if (!rc)
        rc = fetch_texts(execution);
    answer->files = execution->files;
    if (!rc)
        rc = dft_number_processes(execution);
    if (!rc)
        rc = dft_choose_times(execution);
    answer->query = execution->query;
    answer->dft_source = source;
    answer->process_group = execution->process_group;
    execution->process_group = NULL;
    return rc;
}

static void note_inexact(struct dft_execution *execution, const struct dft_answer *answer)
{
    if (execution->stats.coarse)
        dft_source_note(
            execution->source, 0,
            "percentiles of some groups are not known: aggregates have them of 64 intervals together, of which the "
            "question takes a part");
    if (execution->stats.inexact)
        dft_source_note(execution->source, 0,
                        "some events were kept only as aggregates, and these have whole intervals: times are rounded");
    if (execution->stats.shared)
        dft_source_note(execution->source, 0,
                        "some calls are known only by their number in a period: each part of it has an even share");
    if (execution->stats.folded)
        dft_source_note(execution->source, 0,
                        "%llu calls are on more files than aggregates tell apart: these calls are counted by the "
                        "directory of the file",
                        (unsigned long long)execution->stats.folded);
    if (execution->stats.second_hidden)
        dft_source_note(
            execution->source, 0,
            "%llu renames and links were kept only as aggregates, which know the first file of a call: those "
            "whose second file alone passes are in no group",
            (unsigned long long)execution->stats.second_hidden);
    if (execution->stats.undecided)
        dft_source_note(execution->source,
                        answer->placed_rows || answer->placed_events ? DFT_BAD_NOTHING : DFT_BAD_OTHER,
                        "%llu events were kept only as aggregates, which know the shortest and the longest of several "
                        "calls: --slower-than lies between, so they are in no group",
                        (unsigned long long)execution->stats.undecided);
    if (execution->stats.unsplit) /* without other events the answer is empty */
        dft_source_note(
            execution->source, execution->stats.batches ? DFT_BAD_NOTHING : DFT_BAD_OTHER,
            "%llu events were kept only as aggregates, which know calls and files, but not which call was on "
            "which file, nor stacks: they are in no group (ask by file, dir or pattern without calls, or by call "
            "without files)",
            (unsigned long long)execution->stats.unsplit);
}

/* What is so of the answer whatever its groups are; when they have been counted. */
static void describe(struct dft_execution *execution, struct dft_answer *answer)
{
    const struct dft_stats *stats = &execution->stats;

    answer->events = stats->events;
    answer->events_kept = stats->events_kept;
    answer->unsplit = stats->unsplit + stats->undecided;
    answer->placed_events = stats->placed_events;
    answer->placed_rows = stats->placed_rows;
    answer->source =
        stats->file_rows ? DFT_ANSWER_FILES
        : !execution->rows_only && (stats->batches || !dft_source_used(execution->source, DFT_BLOCK_BUCKETS))
            ? DFT_ANSWER_EVENTS
            : DFT_ANSWER_BUCKETS;
    answer->has_accesses = execution->query.accesses && (!stats->file_rows || !stats->placed_rows);
    answer->has_self = execution->want_self;
    answer->has_busy =
        !DFT_HAS(execution, DFT_BY_TIME) || (execution->want_busy && !stats->busy_unknown && !stats->inexact);
    answer->has_percentiles = execution->query.percentiles;
    answer->has_union = execution->query.busy_union && answer->source == DFT_ANSWER_EVENTS &&
                        dft_source_kept(execution->source) == DFT_KEPT_ALL;
    note_inexact(execution, answer);
}

static int done(struct dft_execution *execution, struct dft_answer *answer, int rc)
{
    if (execution)
        dft_execution_destroy(execution);
    if (rc)
        dft_answer_fini(answer);
    return rc;
}

/* Counts all groups, and says what is so of the answer. Collective. */
static int count(struct dft_execution *execution, struct dft_answer *answer)
{
    int rc = dft_count(&execution, 1);

    if (!rc)
        describe(execution, answer);
    return rc;
}

/* All ranks must know. */
static int check_bound(const struct dft_execution *execution, const struct dft_answer *answer)
{
    uint64_t bytes = answer->count * sizeof *answer->groups + answer->nbins * sizeof *answer->bins;

    return execution->query.bounded ? dft_comm_agree(bytes > execution->budget / 4 * 3 ? -E2BIG : 0) : 0;
}

int dft_query_run(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                  struct dft_answer *answer)
{
    struct dft_execution *execution;
    int rc = begin(&execution, source, filter, query, answer);

    if (!rc)
        rc = count(execution, answer);
    while (!rc && (rc = dft_next_groups(execution)) > 0) {
        rc = dft_query_finish(execution, answer);
        if (!rc)
            rc = check_bound(execution, answer);
    }
    for (uint32_t i = 0; i < answer->count; i++) /* they have stopped moving */
        answer->groups[i].bins = answer->bins ? answer->bins + answer->groups[i].bins_at : NULL;
    if (!rc && answer->has_union)
        rc = dft_count_union(execution, answer);
    if (!rc && execution->has & DFT_BY_FILE_GROUPS)
        rc = dft_answer_texts(answer, execution->names, answer->groups, answer->count);
    return done(execution, answer, rc);
}

/* Is it a column that only events know? */
static int is_swept(const char *column)
{
    for (int c = 0; column && c < DFT_COLUMNS; c++)
        if (dft_column_is_swept(c) && !strcmp(column, dft_column_name((enum dft_column)c)))
            return 1;
    return 0;
}

/* Puts the answer of what was counted in order. */
static int sort_answer(struct dft_execution *execution, const struct dft_order *order, struct dft_answer *answer)
{
    int rc;

    describe(execution, answer);
    answer->sorted = order->column;
    if (order->in_parts) {
        rc = dft_pages_hold(execution, answer);
        return rc ? done(execution, answer, rc) : 0;
    }
    if (execution->spilled) {
        rc = dft_pages_begin(execution, order, answer);
        return rc ? done(execution, answer, rc) : 0;
    }
    rc = dft_query_finish(execution, answer);
    if (!rc && answer->has_union)
        rc = dft_count_union(execution, answer);
    if (!rc)
        rc = dft_answer_sort(answer, order->column, order->top);
    return done(execution, answer, rc);
}

static int begin_all(struct dft_source *source, const struct dft_filter *filter,
                     const struct dft_query_request *requests, unsigned count, struct dft_execution **executions)
{
    int rc = 0;

    for (unsigned i = 0; i < count && !rc; i++) {
        struct dft_query asked = requests[i].query;

        asked.events |= asked.busy_union && is_swept(requests[i].order.column);
        rc = begin(&executions[i], source, filter, &asked, requests[i].answer);
        if (rc || !requests[i].order.in_parts)
            continue;
        executions[i]->in_parts = 1;
        if (executions[i]->budget / count > EACH_BYTES) {
            executions[i]->budget = EACH_BYTES;
            executions[i]->share = executions[i]->budget / 2 / executions[i]->nworkers;
        }
    }
    return rc;
}

int dft_query_many(struct dft_source *source, const struct dft_filter *filter, const struct dft_query_request *requests,
                   unsigned count)
{
    struct dft_execution *executions[DFT_QUERIES_MAX] = {NULL};
    unsigned answered = 0;
    int rc = 0;

    for (unsigned i = 0; i < count && !rc; i++)
        rc = dft_order_check(&requests[i].order, &requests[i].query);
    if (rc)
        return rc;
    rc = begin_all(source, filter, requests, count, executions);
    if (!rc)
        rc = dft_count(executions, count);
    for (; answered < count && !rc; answered++) {
        rc = sort_answer(executions[answered], &requests[answered].order, requests[answered].answer);
        executions[answered] = NULL;
    }
    for (unsigned i = 0; i < count && rc; i++)
        if (executions[i])
            done(executions[i], requests[i].answer, rc);
        else if (i + 1 < answered) /* the last one has gone already */
            dft_answer_fini(requests[i].answer);
    return rc;
}

int dft_query_sorted(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                     const struct dft_order *order, struct dft_answer *answer)
{
    const struct dft_query_request request = {*query, *order, answer};

    return dft_query_many(source, filter, &request, 1);
}

int dft_query_each(struct dft_source *source, const struct dft_filter *filter, const struct dft_query *query,
                   int (*take)(void *context, const struct dft_answer *answer), void *context,
                   struct dft_answer *answer)
{
    const struct dft_query_request request = {*query, {.in_parts = 1}, answer};
    int rc = dft_query_many(source, filter, &request, 1);

    if (rc)
        return rc;
    rc = dft_answer_each(answer, take, context);
    if (rc)
        dft_answer_fini(answer);
    return rc;
}
