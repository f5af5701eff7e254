/* Answers as bytes: numbers as LEB128; ids of names and keys of processes once each, in two lists before the groups, which refer to
 * them by position + 1. */
#include "query/kept_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/group_map.h"
#include "format/leb128.h"
#include "base/pfw_map.h"
#include "source/source_inside.h"

#define METRICS (sizeof(struct dft_metrics) / sizeof(uint64_t))
#define IDS     6u /* of a group's key */
_Static_assert(sizeof(struct dft_metrics) == METRICS * sizeof(uint64_t), "metrics are numbers of 64 bits, and no more");

static void ids_of(const struct dft_group_key *key, uint64_t ids[IDS])
{
    const uint64_t all[IDS] = {key->cat, key->name, key->region, key->file, key->stack, key->line};

    memcpy(ids, all, sizeof all);
}

/* --- putting -------------------------------------------------------------------------------------------------------- */

static void put(struct dft_pack *pack, uint64_t number)
{
    uint8_t bytes[DFT_LEB_MAX];

    dft_pack_put(pack, bytes, (size_t)(dft_leb_put(bytes, number) - bytes));
}

/* The ids of all groups, each once: its number in *places, and the names one after the other. */
static int put_names(struct dft_pack *pack, const struct dft_answer *answer, struct dft_pfw_map *places)
{
    struct dft_pack names = {0};
    uint64_t count = 0, ids[IDS];

    for (uint32_t i = 0; i < answer->count; i++) {
        ids_of(&answer->groups[i].key, ids);
        for (unsigned k = 0; k < IDS; k++) {
            uint64_t *place = ids[k] ? dft_pfw_map_put(places, ids[k]) : NULL;
            struct dft_text text;

            if (ids[k] && !place)
                names.rc = -ENOMEM;
            if (!place || *place)
                continue;
            *place = ++count;
            text = dft_names_text(dft_answer_names(answer, ids[k]), ids[k]);
            dft_pack_put(&names, &ids[k], sizeof ids[k]);
            put(&names, text.bytes ? text.length + UINT64_C(1) : 0);
            dft_pack_put(&names, text.bytes, text.bytes ? text.length : 0);
        }
    }
    put(pack, count);
    if (!names.rc)
        dft_pack_put(pack, names.bytes, names.length);
    free(names.bytes);
    return names.rc;
}

/* One process of each combination that groups have. */
static int put_processes(struct dft_pack *pack, const struct dft_answer *answer, struct dft_pfw_map *places)
{
    struct dft_pack keys = {0};
    uint64_t count = 0;

    for (uint32_t i = 0; i < answer->count; i++) {
        uint32_t who = answer->groups[i].key.who;
        uint64_t *place = who ? dft_pfw_map_put(places, who) : NULL;

        if (who && !place)
            keys.rc = -ENOMEM;
        if (!place || *place)
            continue;
        *place = ++count;
        dft_pack_put(&keys, &answer->who[who - 1]->key, sizeof(uint64_t));
    }
    put(pack, count);
    if (!keys.rc)
        dft_pack_put(pack, keys.bytes, keys.length);
    free(keys.bytes);
    return keys.rc;
}

static void put_group(struct dft_pack *pack, const struct dft_group *group, const struct dft_pfw_map *names,
                      const struct dft_pfw_map *processes)
{
    uint64_t ids[IDS], metrics[METRICS];

    ids_of(&group->key, ids);
    for (unsigned k = 0; k < IDS; k++)
        put(pack, ids[k] ? *dft_pfw_map_find(names, ids[k]) : 0);
    put(pack, group->key.who ? *dft_pfw_map_find(processes, group->key.who) : 0);
    put(pack, group->key.time);
    put(pack, group->key.tid);
    put(pack, group->key.op);
    put(pack, group->key.class);
    memcpy(metrics, &group->metrics, sizeof metrics);
    for (unsigned m = 0; m < METRICS; m++)
        put(pack, metrics[m] + 1); /* what is not there is often all ones */
    put(pack, dft_zigzag((uint64_t)group->self_ns));
    put(pack, group->p50);
    put(pack, group->p95);
    put(pack, group->p99);
    put(pack, group->busy_union_ns);
    put(pack, group->in_flight_max);
}

static unsigned flags_of(const struct dft_answer *answer)
{
    return (unsigned)!!answer->has_percentiles | (unsigned)!!answer->has_union << 1 |
           (unsigned)!!answer->has_self << 2 | (unsigned)!!answer->has_busy << 3;
}

void dft_kept_answer_put(struct dft_pack *pack, const struct dft_answer *answer)
{
    struct dft_pfw_map names = {0}, processes = {0};
    int rc;

    put(pack, answer->query.width_ns);
    put(pack, answer->query.base_ns);
    put(pack, answer->query.grid_ns);
    put(pack, answer->source);
    put(pack, flags_of(answer));
    put(pack, answer->found);
    put(pack, answer->all_ns);
    put(pack, answer->events);
    put(pack, answer->events_kept);
    put(pack, answer->unsplit);
    rc = put_names(pack, answer, &names);
    if (!rc)
        rc = put_processes(pack, answer, &processes);
    put(pack, answer->count);
    for (uint32_t i = 0; !rc && i < answer->count; i++)
        put_group(pack, &answer->groups[i], &names, &processes);
    pack->rc = rc ? rc : pack->rc;
    dft_pfw_map_fini(&names);
    dft_pfw_map_fini(&processes);
}

/* --- getting -------------------------------------------------------------------------------------------------------- */

struct getting {
    const uint8_t *at, *end;
    int bad;         /* they end early, or a number is impossible */
    uint64_t *names; /* ids by position */
    uint64_t nnames;
    uint64_t nprocesses;
};

static uint64_t get(struct getting *getting, uint64_t most)
{
    uint64_t number = 0;
    const uint8_t *next = getting->bad ? NULL : dft_leb_get(getting->at, getting->end, &number);

    if (!next || number > most) {
        getting->bad = 1;
        return 0;
    }
    getting->at = next;
    return number;
}

static const void *get_bytes(struct getting *getting, uint64_t length)
{
    const void *bytes = getting->at;

    if (getting->bad || length > (uint64_t)(getting->end - getting->at)) {
        getting->bad = 1;
        return NULL;
    }
    getting->at += length;
    return bytes;
}

/* How many there are of something that takes `least` bytes each: no more than fit into what is left. */
static uint64_t get_count(struct getting *getting, uint64_t least)
{
    return get(getting, (uint64_t)(getting->end - getting->at) / least);
}

static int get_names(struct getting *getting, struct dft_source *source)
{
    uint64_t count = get_count(getting, sizeof(uint64_t) + 1);
    int rc = 0;

    getting->names = malloc((count + 1) * sizeof *getting->names);
    if (!getting->names)
        return -ENOMEM;
    for (uint64_t i = 0; !rc && i < count && !getting->bad; i++) {
        const void *id = get_bytes(getting, sizeof(uint64_t));
        uint64_t length = get(getting, UINT64_C(1) + UINT32_MAX);
        const char *text = length ? get_bytes(getting, length - 1) : NULL;

        if (getting->bad)
            break;
        getting->names[i] = dft_load64(id);
        getting->nnames++;
        if (text)
            rc = dft_names_add(source->names, getting->names[i], text, (uint32_t)(length - 1), NULL);
    }
    return rc;
}

static int get_processes(struct getting *getting, struct dft_source *source, struct dft_answer *answer)
{
    uint64_t count = get_count(getting, sizeof(uint64_t));

    answer->who = calloc(count + 1, sizeof *answer->who);
    if (!answer->who)
        return -ENOMEM;
    for (uint64_t i = 0; i < count && !getting->bad; i++) {
        const void *bytes = get_bytes(getting, sizeof(uint64_t));
        const struct dft_source_process *process = bytes ? dft_process_of(source, dft_load64(bytes)) : NULL;

        if (!bytes || process == source->processes + source->nprocesses || process->key != dft_load64(bytes))
            getting->bad = 1;
        else
            answer->who[i] = process;
    }
    getting->nprocesses = count;
    return 0;
}

static uint64_t get_id(struct getting *getting)
{
    uint64_t place = get(getting, getting->nnames);

    return place ? getting->names[place - 1] : 0;
}

static void get_group(struct getting *getting, struct dft_group *group)
{
    uint64_t metrics[METRICS];

    memset(group, 0, sizeof *group);
    group->key.cat = get_id(getting);
    group->key.name = get_id(getting);
    group->key.region = get_id(getting);
    group->key.file = get_id(getting);
    group->key.stack = get_id(getting);
    group->key.line = get_id(getting);
    group->key.who = (uint32_t)get(getting, getting->nprocesses);
    getting->bad |= !group->key.who;
    group->key.time = get(getting, UINT64_MAX);
    group->key.tid = (uint32_t)get(getting, UINT32_MAX);
    group->key.op = (uint8_t)get(getting, UINT8_MAX);
    group->key.class = (uint8_t)get(getting, UINT8_MAX);
    for (unsigned m = 0; m < METRICS; m++)
        metrics[m] = get(getting, UINT64_MAX) - 1;
    memcpy(&group->metrics, metrics, sizeof metrics);
    group->self_ns = (int64_t)dft_unzigzag(get(getting, UINT64_MAX));
    group->p50 = get(getting, UINT64_MAX);
    group->p95 = get(getting, UINT64_MAX);
    group->p99 = get(getting, UINT64_MAX);
    group->busy_union_ns = get(getting, UINT64_MAX);
    group->in_flight_max = get(getting, UINT64_MAX);
}

static void get_whole(struct getting *getting, struct dft_answer *answer)
{
    unsigned flags;

    answer->query.width_ns = get(getting, UINT64_MAX);
    answer->query.base_ns = get(getting, UINT64_MAX);
    answer->query.grid_ns = get(getting, UINT64_MAX);
    answer->source = (enum dft_answer_source)get(getting, DFT_ANSWER_EVENTS);
    flags = (unsigned)get(getting, 15);
    answer->has_percentiles = flags & 1;
    answer->has_union = flags >> 1 & 1;
    answer->has_self = flags >> 2 & 1;
    answer->has_busy = flags >> 3 & 1;
    answer->found = get(getting, UINT64_MAX);
    answer->all_ns = get(getting, UINT64_MAX);
    answer->events = get(getting, UINT64_MAX);
    answer->events_kept = get(getting, UINT64_MAX);
    answer->unsplit = get(getting, UINT64_MAX);
}

static int get_groups(struct getting *getting, struct dft_answer *answer)
{
    uint64_t count = get_count(getting, IDS + METRICS);

    answer->groups = malloc((count + 1) * sizeof *answer->groups);
    if (!answer->groups)
        return -ENOMEM;
    for (uint64_t i = 0; i < count && !getting->bad; i++)
        get_group(getting, &answer->groups[answer->count++]);
    return 0;
}

int dft_kept_answer_get(const char *bytes, size_t length, struct dft_source *source, const struct dft_query *query,
                        struct dft_answer *answer)
{
    struct getting getting = {.at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + length};
    int rc;

    *answer = (struct dft_answer){.query = *query, .dft_source = source};
    get_whole(&getting, answer);
    rc = get_names(&getting, source);
    if (!rc)
        rc = get_processes(&getting, source, answer);
    if (!rc)
        rc = get_groups(&getting, answer);
    free(getting.names);
    if (!rc && !getting.bad && getting.at == getting.end)
        return 1;
    dft_answer_fini(answer);
    return rc;
}
