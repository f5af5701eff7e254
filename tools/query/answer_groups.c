/* SPDX-License-Identifier: MIT */
/* What was counted becomes groups of the answer: keys get texts, equal groups are merged,
 * percentiles and self time computed. One thread. */
#include "query/answer_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "query/group_keys.h"
#include "query/group_map.h"
#include "query/group_patterns.h"
#include "query/partial.h"
#include "query/query_types.h"
#include "views/filter.h"
#include "intake/source_names.h"
#include "format/hash.h"

static int fetch_calls(struct dft_execution *execution)
{
    const struct dft_partial *total = &execution->total;
    size_t n = 0;
    uint64_t *wanted;
    int rc;

    if (!execution->wants_calls)
        return 0;
    wanted = malloc(((size_t)total->map.count + total->parents.count + 1) * sizeof *wanted);
    rc = dft_comm_agree(wanted ? 0 : -ENOMEM);
    for (uint32_t i = 0; !rc && i < total->map.count; i++)
        wanted[n++] = total->map.keys[i].call;
    for (uint32_t i = 0; !rc && i < total->parents.count; i++)
        wanted[n++] = total->parents.keys[i].region;
    if (!rc)
        rc = dft_source_names(execution->source, wanted, n);
    free(wanted);
    return rc;
}

/* Groups that texts made one are merged. */
static int merge_equal(struct dft_execution *execution, const uint32_t *numbers)
{
    struct dft_partial merged = {0};
    struct dft_map *members = &execution->total.members;
    struct dft_row *rows;
    uint32_t count, position = 0;
    int rc = dft_partial_init(&merged, execution->histograms);

    if (!rc)
        rc = dft_table_rows_unsorted(execution->total.table, &rows, &count);
    for (uint32_t i = 0; !rc && i < count; i++)
        rows[i].subject = DFT_SUBJECT(numbers[DFT_GROUP(rows[i].subject)]);
    if (!rc)
        rc = dft_table_merge_rows(merged.table, rows, count, &position);
    if (!rc)
        rc = dft_members_merge(&merged.members, members->slots, members->capacity, numbers);
    dft_table_destroy(execution->total.table);
    dft_map_fini(members);
    execution->total.table = merged.table;
    *members = merged.members;
    return rc;
}

static int finish_keys(struct dft_execution *execution)
{
    struct dft_group_map *map = &execution->total.map, final = {0};
    uint32_t *numbers = malloc((map->count + 1u) * sizeof *numbers);
    int rc = numbers ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < map->count; i++) {
        struct dft_group_key key;

        rc = dft_final_key(execution, &map->keys[i], &key);
        if (!rc)
            rc = dft_group_map_get(&final, &key, &numbers[i]);
    }
    if (!rc && final.count < map->count)
        rc = merge_equal(execution, numbers);
    free(numbers);
    dft_group_map_fini(map);
    *map = final;
    return rc;
}

/* Histograms outlive the table when they are requested. */
static int reserve_bins(struct dft_answer *answer, const struct dft_row *rows, uint32_t count)
{
    size_t all = answer->nbins;
    struct dft_bin *bigger;

    if (!answer->query.bins)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        all += rows[i].kind == DFT_ROW_HISTOGRAM ? rows[i].ndurations : 0;
    bigger = reallocarray(answer->bins, all + 1, sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    answer->bins = bigger;
    return 0;
}

static void take_histogram(struct dft_answer *answer, struct dft_group *group, const struct dft_row *row)
{
    const struct dft_metrics *m = &group->metrics;
    uint64_t counted = 0;

    for (uint32_t i = 0; i < row->ndurations; i++)
        counted += row->durations[i].count;
    if (counted == m->samples) {
        group->p50 = dft_percentile(row->durations, row->ndurations, 50, m->dur_min, m->dur_max);
        group->p95 = dft_percentile(row->durations, row->ndurations, 95, m->dur_min, m->dur_max);
        group->p99 = dft_percentile(row->durations, row->ndurations, 99, m->dur_min, m->dur_max);
    }
    if (!answer->bins)
        return;
    memcpy(answer->bins + answer->nbins, row->durations, row->ndurations * sizeof *row->durations);
    group->bins_at = answer->nbins;
    group->nbins = row->ndurations;
    answer->nbins += row->ndurations;
}

/* The groups that were counted, behind those of the answer. */
static int fill_groups(struct dft_execution *execution, struct dft_answer *answer)
{
    const struct dft_group_map *map = &execution->total.map;
    struct dft_group *groups = reallocarray(answer->groups, (size_t)answer->count + map->count + 1, sizeof *groups);
    struct dft_row *rows;
    uint32_t count;

    if (!groups)
        return -ENOMEM;
    answer->groups = groups;
    groups += answer->count;
    if (dft_table_rows_unsorted(execution->total.table, &rows, &count) || reserve_bins(answer, rows, count))
        return -ENOMEM;
    memset(groups, 0, map->count * sizeof *groups);
    for (uint32_t i = 0; i < map->count; i++) {
        groups[i].key = map->keys[i];
        dft_metrics_clear(&groups[i].metrics);
        groups[i].p50 = groups[i].p95 = groups[i].p99 = DFT_PERCENTILE_UNKNOWN;
    }
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].kind == DFT_ROW_CALL)
            groups[DFT_GROUP(rows[i].subject)].metrics = rows[i].metrics;
    for (uint32_t i = 0; i < count; i++) /* percentiles lie between the minimum and the maximum that call rows know */
        if (rows[i].kind == DFT_ROW_HISTOGRAM)
            take_histogram(answer, &groups[DFT_GROUP(rows[i].subject)], &rows[i]);
        else if (rows[i].kind == DFT_ROW_FILE)
            dft_take_pattern(&groups[DFT_GROUP(rows[i].subject)], &rows[i]);
    dft_members_take(&execution->total.members, groups);
    return 0;
}

/* Takes the time of what is directly inside regions from the groups that the regions belong to. */
static int take_children(struct dft_execution *execution, struct dft_group *groups)
{
    const struct dft_partial *total = &execution->total;

    if (!dft_filter_regions_pass(execution->filter))
        return 0;
    for (uint32_t i = 0; i < total->parents.count; i++) {
        const struct dft_group_key *parent = &total->parents.keys[i];
        struct dft_group_key key = dft_parent_group(execution, parent), final;
        int64_t number;

        if (!dft_filter_names(execution->filter, parent->region))
            continue;
        if (dft_final_key(execution, &key, &final))
            return -ENOMEM;
        number = dft_group_map_find(&total->map, &final);
        if (number >= 0)
            /* Sums of a damaged row may be any number: they wrap. */
            groups[number].self_ns = (int64_t)((uint64_t)groups[number].self_ns - total->children_ns[i]);
    }
    return 0;
}

static int self_times(struct dft_execution *execution, struct dft_group *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        groups[i].self_ns = (int64_t)groups[i].metrics.dur_sum;
    return execution->want_self ? take_children(execution, groups) : 0;
}

static void add_totals(struct dft_totals *all, const struct dft_metrics *metrics)
{
    all->count += metrics->count;
    all->errors += metrics->errors;
    all->time_ns += metrics->dur_sum;
    all->bytes += metrics->bytes;
}

/* A group has calls, or bytes alone: those that calls counted elsewhere (as reads) have written. A
 * row may also hold nothing but time that goes on from an earlier interval: that is a group only
 * if busy time is requested. */
static void keep_groups(const struct dft_execution *execution, struct dft_answer *answer, uint32_t count)
{
    struct dft_group *groups = answer->groups + answer->count;
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        if (groups[i].metrics.count || groups[i].metrics.bytes ||
            (execution->want_busy && answer->has_busy && groups[i].metrics.edge))
            groups[n++] = groups[i];
    answer->count += n;
    answer->found += n;
    for (uint32_t i = 0; i < n; i++)
        add_totals(&answer->all, &groups[i].metrics);
    for (uint32_t i = 0; i < n; i++)
        answer->all_ns += !answer->has_self       ? groups[i].metrics.dur_sum
                          : groups[i].self_ns > 0 ? (uint64_t)groups[i].self_ns
                                                  : 0;
}

int dft_query_finish(struct dft_execution *execution, struct dft_answer *answer)
{
    int rc = fetch_calls(execution);

    if (!rc)
        rc = finish_keys(execution);
    if (!rc)
        rc = fill_groups(execution, answer);
    if (!rc)
        rc = self_times(execution, answer->groups + answer->count, execution->total.map.count);
    if (!rc)
        keep_groups(execution, answer, execution->total.map.count);
    dft_partial_fini(&execution->total);
    return dft_comm_agree(rc);
}
