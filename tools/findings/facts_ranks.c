/* SPDX-License-Identifier: MIT */
/* Facts of ranks: when, where, in which regions and on which files each of them spends time. */
#include "findings/facts_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "base/map.h"
#include "findings/facts_ask.h"
#include "mpi/comm.h"

#define DATA_CLASSES (1u << DFT_IO_READ | 1u << DFT_IO_WRITE)
#define PARTS        200u
#define PATTERN_MAX  8192

/* --- files of several ranks ------------------------------------------------------------------- */

static void add_group(struct dft_shared_file *file, const struct dft_metrics *metrics)
{
    file->ranks++;
    file->time_ns += metrics->dur_sum;
    file->calls += metrics->count;
    file->data += metrics->data;
    file->bytes += metrics->bytes;
    file->apart += metrics->data - metrics->consecutive;
    file->random += metrics->random;
    if (metrics->offset_max < 0)
        return;
    /* what begins a file follows nothing, though it counts as consecutive */
    file->apart += !metrics->offset_min && metrics->consecutive;
    file->low = metrics->offset_min < file->low ? metrics->offset_min : file->low;
    file->high = metrics->offset_max > file->high ? metrics->offset_max : file->high;
    file->spans += (uint64_t)(metrics->offset_max - metrics->offset_min);
}

static int by_time(const void *left, const void *right)
{
    const struct dft_shared_file *a = left, *b = right;

    return a->time_ns < b->time_ns ? 1 : a->time_ns > b->time_ns ? -1 : a->file < b->file ? -1 : a->file > b->file;
}

int dft_facts_shared(const struct dft_facts *facts, struct dft_shared_file **list, size_t *count)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_RANK_FILES];
    struct dft_map numbers = {0}; /* file and class -> place + 1 */
    size_t capacity = 0;
    int rc = 0;

    *list = NULL;
    *count = 0;
    for (uint32_t i = 0; !rc && dft_facts_has(facts, DFT_FACT_RANK_FILES) && i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint64_t *place;

        if (dft_facts_rank(answer, group) < 0 || !(DATA_CLASSES >> group->key.class & 1))
            continue;
        place = dft_map_put(&numbers, dft_map_join(group->key.file, group->key.class));
        rc = place ? 0 : -ENOMEM;
        if (!rc && !*place) {
            rc = DFT_ARRAY_PUSH(
                *list, capacity, *count,
                (struct dft_shared_file){.file = group->key.file, .class = group->key.class, .low = INT64_MAX});
            *place = *count;
        }
        if (!rc)
            add_group(&(*list)[*place - 1], &group->metrics);
    }
    dft_map_fini(&numbers);
    if (!rc && *count)
        qsort(*list, *count, sizeof **list, by_time);
    if (rc) {
        free(*list);
        *list = NULL;
    }
    return rc;
}

/* --- queries ---------------------------------------------------------------------------------- */

static int has_collective(const struct dft_facts *facts)
{
    const struct dft_answer *regions = &facts->answers[DFT_FACT_REGIONS];

    for (uint32_t i = 0; dft_facts_has(facts, DFT_FACT_REGIONS) && i < regions->count; i++) {
        struct dft_key_value name;

        dft_group_value(regions, &regions->groups[i], DFT_BY_NAME, &name);
        if (name.type == DFT_KEY_TEXT && dft_is_collective(name.text))
            return 1;
    }
    return 0;
}

int dft_facts_count_ranks(struct dft_facts *facts)
{
    const struct dft_findings_request *request = facts->request;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(request->source, &count);
    struct dft_map ranks = {0};
    int rc = 0;

    for (uint32_t i = 0; !rc && i < count; i++)
        if (processes[i].process.rank >= 0 && dft_filter_process(request->filter, &processes[i]))
            rc = dft_map_put(&ranks, dft_map_join((uint64_t)processes[i].process.rank, 0)) ? 0 : -ENOMEM;
    facts->ranks = (uint32_t)ranks.count;
    dft_map_fini(&ranks);
    return rc;
}

void dft_facts_put_ranks(struct dft_facts *facts, struct dft_facts_questions *questions)
{
    if (facts->ranks < 2)
        return;
    dft_facts_put(
        facts, questions, DFT_FACT_RANK_DIRS,
        (struct dft_query){.by = {DFT_BY_DIR, DFT_BY_RANK, DFT_BY_CLASS}, .nby = 3, .classes = DFT_CLASSES_OWN});
    dft_facts_put(facts, questions, DFT_FACT_RANK_FILES,
                  (struct dft_query){.by = {DFT_BY_FILE, DFT_BY_RANK, DFT_BY_CLASS},
                                     .nby = 3,
                                     .classes = DFT_CLASSES_OWN,
                                     .accesses = facts->has_file_ops});
}

static int ask_collective(struct dft_facts *facts)
{
    struct dft_facts_questions questions = {.count = 0};
    int collective = has_collective(facts);

    dft_comm_broadcast(&collective, sizeof collective);
    if (!collective)
        return 0;
    dft_facts_put(
        facts, &questions, DFT_FACT_RANK_REGIONS,
        (struct dft_query){.by = {DFT_BY_REGION, DFT_BY_RANK, DFT_BY_CLASS}, .nby = 3, .classes = DATA_CLASSES});
    return dft_facts_ask(facts, &questions, facts->request->filter);
}

/* When a rank was slow in the class of the slow one. */
static int ask_times(struct dft_facts *facts, enum dft_fact fact, int64_t slow, uint64_t width_ns)
{
    struct dft_facts_questions questions = {.count = 0};
    struct dft_filter filter = *facts->request->filter;
    struct dft_filter_range rank;

    rank.low = rank.high = (uint64_t)slow;
    filter.values[DFT_FILTER_RANK] = (struct dft_filter_values){.count = 1, .ranges = &rank};
    dft_facts_put(
        facts, &questions, fact,
        (struct dft_query){
            .by = {DFT_BY_TIME, DFT_BY_CLASS}, .nby = 2, .classes = 1u << facts->slow.class, .width_ns = width_ns});
    return dft_facts_ask(facts, &questions, &filter);
}

/* When the slow rank was slow, if there is one; and another one. */
static int ask_slow(struct dft_facts *facts, uint64_t width_ns)
{
    int rc = dft_comm_rank()
                 ? 0
                 : dft_slow_rank_find(facts, facts->request->limits->values[DFT_LIMIT_IMBALANCE_FACTOR], &facts->slow);

    dft_comm_broadcast(&rc, sizeof rc);
    if (rc)
        return rc;
    dft_comm_broadcast(&facts->slow, sizeof facts->slow);
    if (facts->slow.rank.time_ns)
        rc = ask_times(facts, DFT_FACT_RANK_TIMES, facts->slow.rank.rank, width_ns);
    if (!rc && facts->slow.next.time_ns)
        rc = ask_times(facts, DFT_FACT_NEXT_TIMES, facts->slow.next.rank, width_ns);
    return rc;
}

/* The file of several ranks that takes most time, as a pattern that fits it alone. "": there is
 * none. */
static int find_shared(struct dft_facts *facts, char *pattern, size_t size)
{
    struct dft_shared_file *list;
    struct dft_text path;
    size_t count, i = 0;
    int rc = dft_facts_shared(facts, &list, &count);

    *pattern = '\0';
    while (!rc && i < count && list[i].ranks < 2)
        i++;
    if (rc || i == count) {
        free(list);
        return rc;
    }
    facts->shared_file = list[i].file;
    facts->shared_class = list[i].class;
    free(list);
    path =
        dft_names_text(dft_answer_names(&facts->answers[DFT_FACT_RANK_FILES], facts->shared_file), facts->shared_file);
    if (2 * (size_t)path.length < size)
        pattern[dft_glob_escape(pattern, path.bytes, path.length)] = '\0';
    return 0;
}

/* As many parts of the run as groups have room for. */
static uint64_t count_parts(const struct dft_facts *facts)
{
    uint64_t parts = DFT_FACT_GROUPS / (facts->ranks * 3u) + 1;

    return parts < PARTS ? parts : PARTS;
}

static int ask_shared(struct dft_facts *facts)
{
    struct dft_facts_questions questions = {.count = 0};
    struct dft_filter filter = *facts->request->filter;
    char pattern[PATTERN_MAX];
    const char *files[] = {pattern};
    uint64_t width_ns;
    int rc = dft_comm_rank() ? 0 : find_shared(facts, pattern, sizeof pattern);

    dft_comm_broadcast(&rc, sizeof rc);
    if (rc)
        return rc;
    dft_comm_broadcast(pattern, sizeof pattern);
    if (!*pattern)
        return 0;
    rc = dft_facts_width(facts, count_parts(facts), 1, &width_ns);
    if (rc)
        return rc;
    filter.values[DFT_FILTER_FILE] = (struct dft_filter_values){.count = 1, .patterns = files};
    filter.files = (struct dft_filter_paths){.list = files, .count = 1};
    dft_facts_put(facts, &questions, DFT_FACT_SHARED,
                  (struct dft_query){.by = {DFT_BY_TIME, DFT_BY_RANK, DFT_BY_CLASS},
                                     .nby = 3,
                                     .classes = DATA_CLASSES,
                                     .width_ns = width_ns,
                                     .percentiles = 1});
    return dft_facts_ask(facts, &questions, &filter);
}

int dft_facts_collect_ranks(struct dft_facts *facts)
{
    uint64_t width_ns;
    int rc;

    if (facts->ranks < 2)
        return 0;
    rc = dft_facts_width(facts, PARTS, facts->has_file_ops, &width_ns);
    if (!rc)
        rc = ask_collective(facts);
    if (!rc)
        rc = ask_slow(facts, width_ns);
    if (!rc && dft_facts_has(facts, DFT_FACT_RANK_FILES) && facts->has_file_ops)
        rc = ask_shared(facts);
    return rc;
}
