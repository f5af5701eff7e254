/* SPDX-License-Identifier: MIT */
/* Counting for a time line: three or four queries, folded into columns and series.
 *
 * Active threads are counted by column, process and thread: a thread has at most one call in flight, so the active
 * threads bound how many there were at once. Sums are counted by interval of the rows, which are finer than columns.
 * Only for these is it known in which 64ths some call was going on. */
#include "analysis/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/facet_words.h"
#include "base/write_text.h"
#include "mpi/comm.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/plan_times.h"
#include "query/query.h"

#define FINE_MAX     (UINT64_C(1) << 18) /* intervals of the rows: beyond them only columns are queried */
#define SERIES_BYTES (UINT64_C(512) << 20)

/* --- columns ---------------------------------------------------------------------------------- */

/* Marks a process in a column. Returns whether it was not marked. */
static int mark_active(struct dft_timeline *timeline, size_t column, uint32_t process)
{
    uint8_t *byte = &timeline->active[column * timeline->active_stride + process / 8],
            bit = (uint8_t)(1u << process % 8);
    int is_new = !(*byte & bit);

    *byte |= bit;
    return is_new;
}

static int reserve_active(struct dft_timeline *timeline, uint32_t before)
{
    size_t stride = timeline->active_stride;
    uint8_t *bigger;

    if (timeline->active && before == timeline->count)
        return 0;
    bigger = realloc(timeline->active, timeline->count * stride);
    if (!bigger)
        return -ENOMEM;
    memset(bigger + before * stride, 0, (timeline->count - before) * stride);
    timeline->active = bigger;
    return 0;
}

static int take_active(void *context, const struct dft_answer *answer)
{
    struct dft_timeline *timeline = context;
    int rc = 0;

    timeline->base_ns = answer->query.base_ns;
    timeline->width_ns = answer->query.width_ns;
    if (timeline->start_ns > timeline->base_ns) /* the first columns before --from are left out */
        timeline->base_ns += (timeline->start_ns - timeline->base_ns) / timeline->width_ns * timeline->width_ns;
    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint32_t before = timeline->count;
        struct dft_timeline_column *column = dft_timeline_column_of(timeline, answer, group, &rc);

        if (!column || (rc = reserve_active(timeline, before)) != 0)
            continue;
        column->threads++;
        column->processes += (uint32_t)mark_active(timeline, (size_t)(column - timeline->columns),
                                                   answer->process_group[group->key.process_group - 1]->number);
    }
    return rc;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Remembers which 64ths of an interval of the rows are busy, and with how much. */
static int add_occupancy(struct dft_timeline *timeline, uint64_t at, const struct dft_metrics *m)
{
    size_t before = timeline->nfine;

    if (at >= 2 * FINE_MAX)
        return 0;
    if (DFT_ARRAY_RESERVE(timeline->fine, timeline->nfine, at + 1))
        return -ENOMEM;
    if (timeline->nfine > before)
        memset(timeline->fine + before, 0, (timeline->nfine - before) * sizeof *timeline->fine);
    if (m->edge && !m->occupancy && m->step <= 0) /* rows of somebody who does not tell */
        timeline->knows_occupancy = 0;
    timeline->fine[at].occupancy |= m->step > 0 ? UINT64_MAX : m->occupancy;
    timeline->fine[at].busy_ns += m->edge;
    return 0;
}

static int take_sums(void *context, const struct dft_answer *answer)
{
    struct dft_timeline *timeline = context;
    int rc = 0;

    timeline->knows_busy &= answer->has_busy;
    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *m = &group->metrics;
        struct dft_timeline_column *column = dft_timeline_column_of(timeline, answer, group, &rc);
        uint64_t start = answer->query.base_ns + group->key.time * answer->query.width_ns;

        if (!column)
            continue;
        column->calls += m->count;
        column->errors += m->errors;
        column->time_ns += m->dur_sum;
        column->busy_ns += answer->has_busy ? m->edge : m->dur_sum;
        *(group->key.class == DFT_IO_WRITE ? &column->written : &column->read) += m->bytes;
        if (timeline->knows_occupancy)
            rc = add_occupancy(timeline, (start - timeline->base_ns) / timeline->fine_ns, m);
    }
    return rc;
}

/* The time in which some call was going on, at most: in an interval of the rows, that of its busy 64ths, and the sum
 * of what lies in it of all calls. */
static void sum_occupancy(struct dft_timeline *timeline)
{
    uint64_t fine_ns = timeline->fine_ns;

    for (size_t i = 0; i < timeline->nfine; i++) {
        uint64_t at = i * fine_ns / timeline->width_ns;
        unsigned parts = (unsigned)__builtin_popcountll(timeline->fine[i].occupancy);
        uint64_t most = fine_ns / 64 * parts + (fine_ns % 64 * parts + 63) / 64;

        if (timeline->knows_busy && timeline->fine[i].busy_ns < most)
            most = timeline->fine[i].busy_ns;
        if (at < timeline->count)
            timeline->columns[at].union_ns += most;
    }
}

static void take_union(struct dft_timeline *timeline, const struct dft_answer *answer)
{
    int rc = 0;

    timeline->is_exact = answer->has_union;
    for (uint32_t i = 0; answer->has_union && i < answer->count; i++) {
        struct dft_timeline_column *column = dft_timeline_column_of(timeline, answer, &answer->groups[i], &rc);

        if (!column)
            continue;
        column->union_ns = answer->groups[i].busy_union_ns;
        column->in_flight_max = answer->groups[i].in_flight_max;
    }
}

/* --- series ----------------------------------------------------------------------------------- */

/* Which series a group belongs to, and what its name is. */
static uint64_t series_id(const struct dft_timeline *timeline, const struct dft_answer *answer,
                          const struct dft_group *group)
{
    struct dft_key_value value;

    if (timeline->by == DFT_BY_CLASS)
        return group->key.class + 1u;
    dft_group_value(answer, group, timeline->by, &value);
    if (timeline->by == DFT_BY_RANK)
        return value.type == DFT_KEY_UINT ? value.number + 2 : 1;
    if (timeline->by == DFT_BY_ROLE && value.type != DFT_KEY_TEXT)
        return 1;
    return answer->process_group[group->key.process_group - 1]->number + UINT64_C(2);
}

static char *series_name(const struct dft_timeline *timeline, const struct dft_answer *answer,
                         const struct dft_group *group, uint64_t id)
{
    const struct dft_source_process *process;
    struct dft_key_value program;
    char *name = NULL, *escaped;

    if (timeline->by == DFT_BY_CLASS)
        return strdup(dft_io_word((uint8_t)(id - 1)));
    if (timeline->by == DFT_BY_RANK)
        return (id == 1 ? asprintf(&name, "no rank") : asprintf(&name, "%llu", (unsigned long long)id - 2)) < 0 ? NULL
                                                                                                                : name;
    process = answer->process_group[group->key.process_group - 1];
    if (timeline->by == DFT_BY_ROLE)
        return id == 1 ? strdup("no role")
                       : dft_text_escaped(process->process.role.bytes, process->process.role.length);
    dft_group_value(answer, group, DFT_BY_PROGRAM, &program);
    escaped = dft_text_escaped(program.type == DFT_KEY_TEXT ? program.text.bytes : "?",
                               program.type == DFT_KEY_TEXT ? program.text.length : 1);
    if (escaped && asprintf(&name, "%s %u", escaped, process->process.pid) < 0)
        name = NULL;
    free(escaped);
    return name;
}

static struct dft_timeline_series *series_of(struct dft_timeline *timeline, const struct dft_answer *answer,
                                             const struct dft_group *group, int *rc)
{
    uint64_t id = series_id(timeline, answer, group), *position = dft_map_put(&timeline->series_of, id);
    struct dft_timeline_series series = {.id = id};

    if (position && *position)
        return &timeline->series[*position - 1];
    *rc = -ENOMEM;
    if (!position)
        return NULL;
    if ((timeline->nseries + 1) * timeline->count * sizeof(uint64_t) > SERIES_BYTES) {
        *rc = -E2BIG;
        return NULL;
    }
    series.name = series_name(timeline, answer, group, id);
    series.values = calloc(timeline->count + 1u, sizeof *series.values);
    if (!series.name || !series.values ||
        DFT_ARRAY_PUSH(timeline->series, timeline->series_capacity, timeline->nseries, series)) {
        free(series.name);
        free(series.values);
        return NULL;
    }
    *position = timeline->nseries;
    *rc = 0;
    return &timeline->series[timeline->nseries - 1];
}

static int take_series(void *context, const struct dft_answer *answer)
{
    struct dft_timeline *timeline = context;
    int rc = 0;

    for (uint32_t i = 0; !rc && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *m = &group->metrics;
        struct dft_timeline_column *column = dft_timeline_column_of(timeline, answer, group, &rc);
        struct dft_timeline_series *series;
        uint64_t *value;

        if (!column || !(series = series_of(timeline, answer, group, &rc)))
            continue;
        series->calls += m->count;
        series->time_ns += m->dur_sum;
        *(group->key.class == DFT_IO_WRITE ? &series->written : &series->read) += m->bytes;
        value = &series->values[column - timeline->columns];
        *value += timeline->measure == DFT_TIMELINE_BYTES   ? m->bytes
                  : timeline->measure == DFT_TIMELINE_CALLS ? m->count
                  : answer->has_busy                        ? m->edge
                                                            : m->dur_sum;
        if (*value > series->largest)
            series->largest = *value;
    }
    return rc;
}

static int by_id(const void *left, const void *right)
{
    const struct dft_timeline_series *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* --- the queries ------------------------------------------------------------------------------ */

static int ask(struct dft_timeline *timeline, const struct dft_query *query,
               int (*take)(void *context, const struct dft_answer *answer))
{
    struct dft_answer answer;
    int rc = dft_query_each(timeline->source, &timeline->options->filter, query, take, timeline, &answer);

    if (rc)
        return rc;
    dft_answer_fini(&timeline->last);
    timeline->last = answer;
    return 0;
}

static int ask_union(struct dft_timeline *timeline, struct dft_query query)
{
    struct dft_answer answer;
    int rc;

    query.by[0] = DFT_BY_TIME;
    query.nby = 1;
    query.busy_union = query.events = 1;
    rc = dft_query_run(timeline->source, &timeline->options->filter, &query, &answer);
    if (rc)
        return rc;
    take_union(timeline, &answer);
    dft_answer_fini(&answer);
    return 0;
}

/* Sums and the columns' widths that are requested must be those of rank 0. */
static void share_times(struct dft_timeline *timeline)
{
    uint64_t times[3] = {timeline->base_ns, timeline->width_ns, timeline->count};

    dft_comm_broadcast(times, sizeof times);
    timeline->width_ns = times[1];
}

static void sum_up(struct dft_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->count; i++) {
        const struct dft_timeline_column *column = &timeline->columns[i];

        timeline->read += column->read;
        timeline->written += column->written;
        timeline->union_ns += column->union_ns;
        for (int m = 0; m < DFT_TIMELINE_MEASURES; m++)
            timeline->total[m] += dft_timeline_value(column, (enum dft_timeline_measure)m);
    }
    if (timeline->nseries)
        qsort(timeline->series, timeline->nseries, sizeof *timeline->series, by_id);
}

int dft_timeline_count(struct dft_timeline *timeline)
{
    struct dft_query query = {.by = {DFT_BY_TIME, DFT_BY_PROCESS, DFT_BY_TID},
                              .nby = 3,
                              .classes = DFT_CLASSES_IO,
                              .width_ns = timeline->width_ns,
                              .busy = 1,
                              .events = timeline->events};
    uint64_t span = timeline->job.wall_ns;
    int from_rows = !timeline->events && timeline->interval_ns && !(timeline->width_ns % timeline->interval_ns), rc;
    uint32_t processes;

    dft_source_processes(timeline->source, &processes);
    timeline->active_stride = processes / 8 + 1;
    timeline->knows_busy = 1;
    rc = ask(timeline, &query, take_active);
    if (!rc)
        rc = dft_comm_agree(dft_timeline_add_lives(timeline));
    share_times(timeline);
    timeline->fine_ns = timeline->width_ns;
    timeline->knows_occupancy =
        from_rows && span / timeline->interval_ns < FINE_MAX && !(timeline->width_ns % timeline->interval_ns);
    if (timeline->knows_occupancy)
        timeline->fine_ns = timeline->interval_ns;
    query = (struct dft_query){.by = {DFT_BY_TIME, DFT_BY_CLASS},
                               .nby = 2,
                               .classes = DFT_CLASSES_IO,
                               .width_ns = timeline->fine_ns,
                               .busy = 1,
                               .events = timeline->events};
    if (!rc)
        rc = ask(timeline, &query, take_sums);
    timeline->knows_occupancy &= timeline->last.source == DFT_ANSWER_BUCKETS;
    query.width_ns = timeline->width_ns;
    if (!rc && !from_rows)
        rc = ask_union(timeline, query);
    else if (!rc && timeline->knows_occupancy)
        sum_occupancy(timeline);
    query.by[2] = (uint8_t)timeline->by;
    query.nby = timeline->by == DFT_BY_CLASS ? 2 : 3;
    if (!rc && timeline->by != DFT_BY_COUNT)
        rc = ask(timeline, &query, take_series);
    if (!rc)
        sum_up(timeline);
    return rc;
}

void dft_timeline_fini(struct dft_timeline *timeline)
{
    for (size_t i = 0; i < timeline->nseries; i++) {
        free(timeline->series[i].name);
        free(timeline->series[i].values);
    }
    free(timeline->series);
    free(timeline->columns);
    free(timeline->fine);
    free(timeline->active);
    dft_map_fini(&timeline->series_of);
    dft_answer_fini(&timeline->last);
}
