/* What the threads counted becomes the answer: keys get texts, equal groups are merged, percentiles and self time
 * computed. One thread. */
#include "query_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int texts_of(struct dft_asking *asking, uint64_t call, struct dft_call_texts **result)
{
    struct dft_call_texts *texts = &asking->texts[call % (sizeof asking->texts / sizeof *asking->texts)];
    struct dft_text category, name;
    char room[18];
    int rc;

    *result = texts;
    if (texts->call == call && call)
        return 0;
    dft_names_call(asking->names, call, &category, &name, room);
    texts->cat = dft_name_id(category.bytes, category.length);
    texts->name = dft_name_id(name.bytes, name.length);
    rc = dft_names_add(asking->names, texts->cat, category.bytes, category.length, NULL);
    if (!rc)
        rc = dft_names_add(asking->names, texts->name, name.bytes, name.length, NULL);
    texts->call = rc ? 0 : call;
    return rc;
}

int dft_final_key(struct dft_asking *asking, const struct dft_group_key *counted, struct dft_group_key *final)
{
    struct dft_call_texts *texts;

    *final = *counted;
    final->call = 0;
    if (!DFT_HAS(asking, DFT_BY_CAT) && !DFT_HAS(asking, DFT_BY_NAME))
        return 0;
    if (texts_of(asking, counted->call, &texts))
        return -ENOMEM;
    if (DFT_HAS(asking, DFT_BY_CAT))
        final->cat = texts->cat;
    if (DFT_HAS(asking, DFT_BY_NAME))
        final->name = texts->name;
    return 0;
}

/* Texts of calls, and of regions that are parents, that no block read so far had. */
static int fetch_calls(struct dft_asking *asking)
{
    size_t all = 0, n = 0;
    uint64_t *wanted;
    int rc;

    if (!DFT_HAS(asking, DFT_BY_CAT) && !DFT_HAS(asking, DFT_BY_NAME) && !dft_filter_has_calls(asking->filter))
        return 0;
    for (unsigned w = 0; w < asking->nworkers; w++)
        all += asking->workers[w].map.count + asking->workers[w].parents.count;
    wanted = malloc((all + 1) * sizeof *wanted);
    if (!wanted)
        return -ENOMEM;
    for (unsigned w = 0; w < asking->nworkers; w++) {
        const struct dft_counting *counting = &asking->workers[w];

        for (uint32_t i = 0; i < counting->map.count; i++)
            wanted[n++] = counting->map.keys[i].call;
        for (uint32_t i = 0; i < counting->parents.count; i++)
            wanted[n++] = counting->parents.keys[i].region;
    }
    rc = dft_source_names(asking->source, wanted, n);
    free(wanted);
    return rc;
}

/* One thread's rows into the table of the answer. */
static int merge_worker(struct dft_asking *asking, struct dft_counting *counting, struct dft_group_map *map,
                        struct dft_table *table)
{
    uint32_t *numbers = malloc((counting->map.count + 1) * sizeof *numbers), count;
    struct dft_row *rows;
    int rc = numbers ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < counting->map.count; i++) {
        struct dft_group_key final;

        rc = dft_final_key(asking, &counting->map.keys[i], &final);
        if (!rc)
            rc = dft_group_map_get(map, &final, &numbers[i]);
    }
    if (!rc)
        rc = dft_table_rows(counting->table, &rows, &count);
    for (uint32_t i = 0; !rc && i < count; i++) {
        rows[i].interval = 0;
        rows[i].subject = DFT_SUBJECT(numbers[DFT_GROUP(rows[i].subject)]);
        rc = dft_table_merge(table, &rows[i]);
    }
    free(numbers);
    dft_table_destroy(counting->table);
    counting->table = NULL;
    return rc;
}

/* Histograms outlive the table when they are asked for. */
static int reserve_bins(struct dft_answer *answer, const struct dft_row *rows, uint32_t count)
{
    size_t all = 0;

    if (!answer->query.bins)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        all += rows[i].kind == DFT_ROW_HISTOGRAM ? rows[i].ndurations : 0;
    answer->bins = malloc((all + 1) * sizeof *answer->bins);
    return answer->bins ? 0 : -ENOMEM;
}

static void keep_bins(struct dft_answer *answer, struct dft_group *group, const struct dft_row *row, size_t *used)
{
    memcpy(answer->bins + *used, row->durations, row->ndurations * sizeof *row->durations);
    group->bins = answer->bins + *used;
    group->nbins = row->ndurations;
    *used += row->ndurations;
}

static int fill_groups(struct dft_answer *answer, const struct dft_group_map *map, struct dft_table *table)
{
    struct dft_row *rows;
    size_t nbins = 0;
    uint32_t count;
    int rc = dft_table_rows(table, &rows, &count);

    answer->groups = calloc(map->count + 1u, sizeof *answer->groups);
    if (rc || !answer->groups || reserve_bins(answer, rows, count))
        return -ENOMEM;
    answer->count = map->count;
    for (uint32_t i = 0; i < map->count; i++) {
        answer->groups[i].key = map->keys[i];
        dft_metrics_clear(&answer->groups[i].metrics);
    }
    /* Call rows come first: a histogram's percentiles find their minimum and maximum. */
    for (uint32_t i = 0; i < count; i++) {
        struct dft_group *group = &answer->groups[DFT_GROUP(rows[i].subject)];

        if (rows[i].kind == DFT_ROW_CALL) {
            group->metrics = rows[i].metrics;
        } else if (rows[i].kind == DFT_ROW_HISTOGRAM) {
            const struct dft_metrics *m = &group->metrics;

            if (answer->bins)
                keep_bins(answer, group, &rows[i], &nbins);
            group->p50 = dft_percentile(rows[i].durations, rows[i].ndurations, 50, m->dur_min, m->dur_max);
            group->p95 = dft_percentile(rows[i].durations, rows[i].ndurations, 95, m->dur_min, m->dur_max);
            group->p99 = dft_percentile(rows[i].durations, rows[i].ndurations, 99, m->dur_min, m->dur_max);
        }
    }
    return 0;
}

/* Takes the time of what is directly inside regions from the groups that the regions belong to. */
static int take_children(struct dft_asking *asking, struct dft_counting *counting, struct dft_answer *answer,
                         const struct dft_group_map *map)
{
    for (uint32_t i = 0; i < counting->parents.count; i++) {
        const struct dft_group_key *parent = &counting->parents.keys[i];
        struct dft_group_key key = {.call = parent->region, .who = parent->who, .tid = parent->tid}, final;
        int64_t number;

        if (asking->filter->nfiles || !dft_filter_call(asking->filter, parent->region))
            continue;
        if (DFT_HAS(asking, DFT_BY_OP))
            key.op = DFT_OP_REGION;
        if (DFT_HAS(asking, DFT_BY_CLASS))
            key.class = 1 + DFT_CLASS_NONE;
        if (dft_final_key(asking, &key, &final))
            return -ENOMEM;
        number = dft_group_map_find(map, &final);
        if (number >= 0)
            /* Sums of a damaged row may be any number: they wrap. */
            answer->groups[number].self_ns =
                (int64_t)((uint64_t)answer->groups[number].self_ns - counting->children_ns[i]);
    }
    return 0;
}

static int self_times(struct dft_asking *asking, struct dft_answer *answer, const struct dft_group_map *map)
{
    int rc = 0;

    answer->has_self = asking->want_self;
    for (uint32_t i = 0; i < answer->count; i++)
        answer->groups[i].self_ns = (int64_t)answer->groups[i].metrics.dur_sum;
    for (unsigned w = 0; !rc && asking->want_self && w < asking->nworkers; w++)
        rc = take_children(asking, &asking->workers[w], answer, map);
    return rc;
}

/* A row may hold nothing but time that goes on from an earlier interval: that is no group. */
static void drop_empty(struct dft_answer *answer)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < answer->count; i++)
        if (answer->groups[i].metrics.count)
            answer->groups[n++] = answer->groups[i];
    answer->count = answer->found = n;
    for (uint32_t i = 0; i < n; i++)
        answer->all_ns += !answer->has_self               ? answer->groups[i].metrics.dur_sum
                          : answer->groups[i].self_ns > 0 ? (uint64_t)answer->groups[i].self_ns
                                                          : 0;
}

static int has_aggregates_only(const struct dft_asking *asking)
{
    size_t count;
    const struct dft_block *blocks = dft_source_blocks(asking->source, &count);

    for (size_t i = 0; i < count; i++)
        if (blocks[i].type == DFT_BLOCK_BUCKETS && (blocks[i].use & DFT_IN_EVENTS))
            return 1;
    return 0;
}

int dft_query_finish(struct dft_asking *asking, struct dft_answer *answer)
{
    struct dft_group_map map = {0};
    struct dft_table *table = dft_table_create(DFT_QUERY_INTERVAL, asking->query.percentiles ? DFT_KEEP_HISTOGRAMS : 0);
    int rc = table ? fetch_calls(asking) : -ENOMEM;

    answer->query = asking->query;
    answer->dft_source = asking->source;
    for (unsigned w = 0; !rc && w < asking->nworkers; w++) {
        const struct dft_counting *counting = &asking->workers[w];

        answer->events += counting->events;
        answer->events_kept += counting->events_kept;
        answer->unsplit += counting->unsplit;
        rc = merge_worker(asking, &asking->workers[w], &map, table);
    }
    if (!rc)
        rc = fill_groups(answer, &map, table);
    if (!rc)
        rc = self_times(asking, answer, &map);
    answer->has_percentiles = asking->query.percentiles && answer->source != DFT_ANSWER_FILES;
    if (!rc && asking->query.busy_union && answer->source == DFT_ANSWER_EVENTS && !has_aggregates_only(asking)) {
        answer->has_union = 1;
        rc = dft_count_union(asking, answer, &map);
    }
    drop_empty(answer);
    answer->who = asking->who;
    asking->who = NULL;
    dft_group_map_fini(&map);
    dft_table_destroy(table);
    return rc;
}
