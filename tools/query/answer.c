/* SPDX-License-Identifier: MIT */
/* Keys and columns of an answer: names, values, order. */
#include "query/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/names.h"
#include "base/saturate.h"
#include "format/event.h"
#include "mpi/comm.h"
#include "query/query_types.h"
#include "intake/source_names.h"
#include "object/object.h"

static const struct {
    const char *word; /* of --by */
    const char *name; /* in JSON */
} keys[DFT_BY_COUNT] = {
    [DFT_BY_CAT] = {"cat", "cat"},
    [DFT_BY_NAME] = {"name", "name"},
    [DFT_BY_REGION] = {"region", "region"},
    [DFT_BY_FILE] = {"file", "file"},
    [DFT_BY_DIR] = {"dir", "dir"},
    [DFT_BY_RANK] = {"rank", "rank"},
    [DFT_BY_PID] = {"pid", "pid"},
    [DFT_BY_HOST] = {"host", "host"},
    [DFT_BY_TID] = {"tid", "tid"},
    [DFT_BY_PROCESS] = {"process", "process"},
    [DFT_BY_PROGRAM] = {"program", "program"},
    [DFT_BY_TIME] = {"time", "t_ns"},
    [DFT_BY_OP] = {"op", "op"},
    [DFT_BY_CLASS] = {"class", "class"},
    [DFT_BY_PATTERN] = {"pattern", "pattern"},
    [DFT_BY_STACK] = {"stack", "stack"},
    [DFT_BY_LINE] = {"line", "line"},
    [DFT_BY_RUN] = {"run", "run"},
    [DFT_BY_EXT] = {"ext", "ext"},
    [DFT_BY_MOUNT] = {"mount", "mount"},
    [DFT_BY_ROLE] = {"role", "role"},
    [DFT_BY_SIZE] = {"size", "size"},
    [DFT_BY_ACCESS] = {"access", "access"},
    [DFT_BY_ERRNO] = {"errno", "errno"},
    [DFT_BY_JOB] = {"job", "job"},
};

const char *dft_by_name(enum dft_by by)
{
    return keys[by].name;
}

const char *dft_by_word(enum dft_by by)
{
    return keys[by].word;
}

static void add_key(struct dft_query *query, enum dft_by by)
{
    for (unsigned i = 0; i < query->nby; i++)
        if (query->by[i] == by)
            return;
    query->by[query->nby++] = (uint8_t)by;
}

/* "dir:2": the number. Returns whether it is one. */
static int parse_depth(const char *text, size_t length, unsigned *depth)
{
    unsigned n = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || n > 1000)
            return 0;
        n = 10 * n + (unsigned)(text[i] - '0');
    }
    *depth = n;
    return n != 0;
}

int dft_query_parse(struct dft_query *query, const char *by, const char **wrong)
{
    while (*by) {
        size_t n = strcspn(by, ",");
        int found = 0;

        if (n > 4 && !memcmp(by, "dir:", 4) && parse_depth(by + 4, n - 4, &query->depth)) {
            add_key(query, DFT_BY_DIR);
            found = 1;
        }

        if (n == 4 && !memcmp(by, "call", 4)) {
            add_key(query, DFT_BY_CAT);
            add_key(query, DFT_BY_NAME);
            found = 1;
        }
        for (unsigned i = 0; !found && i < DFT_BY_COUNT; i++) {
            if (strlen(keys[i].word) != n || memcmp(by, keys[i].word, n))
                continue;
            add_key(query, (enum dft_by)i);
            found = 1;
        }
        if (!found) {
            *wrong = by;
            return -EINVAL;
        }
        by += n;
        if (*by == ',')
            by++;
    }
    *wrong = by;
    return query->nby ? 0 : -EINVAL;
}

unsigned dft_query_files(const struct dft_query *query)
{
    unsigned n = 0;

    for (unsigned i = 0; i < query->nby; i++)
        n += DFT_BY_FILES >> query->by[i] & 1;
    return n;
}

static void set_text(struct dft_key_value *value, struct dft_text text)
{
    value->type = DFT_KEY_TEXT;
    value->text = text;
}

const struct dft_names *dft_answer_names(const struct dft_answer *answer, uint64_t id)
{
    if (answer->texts && dft_names_text(answer->texts, id).bytes)
        return answer->texts;
    return dft_source_names_table(answer->dft_source);
}

static void set_id(const struct dft_answer *answer, struct dft_key_value *value, uint64_t id)
{
    if (id)
        set_text(value, dft_names_show(dft_answer_names(answer, id), id, value->buffer));
}

static void set_uint(struct dft_key_value *value, uint64_t number)
{
    value->type = DFT_KEY_UINT;
    value->number = number;
}

static void set_word(struct dft_key_value *value, const char *word)
{
    if (word)
        set_text(value, dft_text_from(word));
}

static void set_program(struct dft_key_value *value, struct dft_text exe)
{
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;

    if (slash) {
        exe.length -= (uint32_t)(slash + 1 - exe.bytes);
        exe.bytes = slash + 1;
    }
    if (exe.length)
        set_text(value, exe);
}

static void set_who(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by,
                    struct dft_key_value *value)
{
    const struct dft_source_process *process = answer->process_group[group->key.process_group - 1];

    if (by == DFT_BY_RANK && process->process.rank >= 0) {
        set_uint(value, (uint64_t)process->process.rank);
    } else if (by == DFT_BY_PID && process->known) {
        set_uint(value, process->process.pid);
    } else if (by == DFT_BY_HOST && process->process.host.length) {
        set_text(value, process->process.host);
    } else if (by == DFT_BY_ROLE && process->process.role.length) {
        set_text(value, process->process.role);
    } else if (by == DFT_BY_PROGRAM) {
        set_program(value, process->process.exe);
    } else if (by == DFT_BY_RUN) {
        set_word(value, dft_source_run_name(answer->dft_source, process));
    } else if (by == DFT_BY_JOB) {
        set_word(value, dft_source_job_name(answer->dft_source, process));
    } else if (by == DFT_BY_PROCESS) {
        snprintf(value->buffer, sizeof value->buffer, "%016llx", (unsigned long long)process->key);
        set_text(value, (struct dft_text){value->buffer, 16});
    }
}

static void set_size(struct dft_key_value *value, uint8_t class)
{
    if (class == DFT_SIZE_CLASS_NONE)
        return;
    dft_size_class_text(value->buffer, class);
    set_word(value, value->buffer);
}

/* "ENOENT"; a number where the error has no name. */
static void set_errno(struct dft_key_value *value, uint16_t err)
{
    const char *name = err == DFT_ERRNO_UNKNOWN ? "unknown" : dft_errno_word(err);

    if (!err)
        return;
    snprintf(value->buffer, sizeof value->buffer, "%u", err);
    set_word(value, name ? name : value->buffer);
}

static const char *access_or_none(uint8_t access)
{
    return access == DFT_ACCESS_NONE ? "none" : dft_access_word(access);
}

static void set_facet(struct dft_key_value *value, enum dft_by by, uint32_t facets)
{
    if (by == DFT_BY_SIZE)
        set_size(value, dft_facets_size_class(facets));
    else if (by == DFT_BY_ACCESS)
        set_word(value, access_or_none(dft_facets_access(facets)));
    else
        set_errno(value, dft_facets_err(facets));
}

void dft_group_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by,
                     struct dft_key_value *value)
{
    struct dft_text category, name;

    value->type = DFT_KEY_NULL;
    switch (by) {
    case DFT_BY_CAT:
        set_id(answer, value, group->key.cat);
        break;
    case DFT_BY_NAME:
        set_id(answer, value, group->key.name);
        break;
    case DFT_BY_FILE:
    case DFT_BY_DIR:
    case DFT_BY_PATTERN:
    case DFT_BY_EXT:
    case DFT_BY_MOUNT:
        set_id(answer, value, group->key.file);
        break;
    case DFT_BY_STACK:
        if (group->key.stack)
            set_id(answer, value, group->key.stack);
        break;
    case DFT_BY_LINE:
        if (group->key.line)
            set_id(answer, value, group->key.line);
        break;
    case DFT_BY_REGION:
        if (!group->key.region)
            break;
        dft_names_call(dft_answer_names(answer, group->key.region), group->key.region, &category, &name, value->buffer);
        set_text(value, name);
        break;
    case DFT_BY_TID:
        set_uint(value, group->key.tid);
        break;
    case DFT_BY_TIME:
        set_uint(value, answer->query.base_ns + group->key.time * answer->query.width_ns);
        break;
    case DFT_BY_OP:
        set_word(value, dft_op_word(group->key.op));
        break;
    case DFT_BY_CLASS:
        set_word(value, dft_io_word(group->key.class));
        break;
    case DFT_BY_SIZE:
    case DFT_BY_ACCESS:
    case DFT_BY_ERRNO:
        set_facet(value, by, group->key.facets);
        break;
    default:
        set_who(answer, group, by, value);
    }
}

/* --- columns ---------------------------------------------------------------------------------- */

static const char *const columns[DFT_COLUMNS] = {
    [DFT_COLUMN_COUNT] = "count",
    [DFT_COLUMN_ERRORS] = "errors",
    [DFT_COLUMN_TIME] = "time_ns",
    [DFT_COLUMN_SELF] = "self_ns",
    [DFT_COLUMN_TIME_MIN] = "time_min_ns",
    [DFT_COLUMN_TIME_MAX] = "time_max_ns",
    [DFT_COLUMN_P50] = "time_p50_ns",
    [DFT_COLUMN_P95] = "time_p95_ns",
    [DFT_COLUMN_P99] = "time_p99_ns",
    [DFT_COLUMN_BUSY] = "busy_ns",
    [DFT_COLUMN_UNION] = "busy_union_ns",
    [DFT_COLUMN_IN_FLIGHT] = "in_flight_max",
    [DFT_COLUMN_BYTES] = "bytes",
    [DFT_COLUMN_SIZE_MIN] = "size_min",
    [DFT_COLUMN_SIZE_MAX] = "size_max",
    [DFT_COLUMN_OFFSET_MIN] = "offset_min",
    [DFT_COLUMN_OFFSET_MAX] = "offset_max",
    [DFT_COLUMN_ASKED] = "asked",
    [DFT_COLUMN_TURNS] = "turns",
    [DFT_COLUMN_CONSECUTIVE] = "consecutive",
    [DFT_COLUMN_SEQUENTIAL] = "sequential",
    [DFT_COLUMN_STRIDED] = "strided",
    [DFT_COLUMN_RANDOM] = "random",
    [DFT_COLUMN_FIRST] = "first_ns",
    [DFT_COLUMN_LAST] = "last_ns",
    [DFT_COLUMN_DISTINCT] = "distinct_bytes",
    [DFT_COLUMN_PROCESSES] = "processes",
    [DFT_COLUMN_COMMON] = "common_size",
    [DFT_COLUMN_IO] = "io_ns",
};

const char *dft_column_name(enum dft_column column)
{
    return columns[column];
}

/* Bytes a second of the time. A damaged row may have any number of them. */
static uint64_t rate_of(const struct dft_metrics *metrics)
{
    double rate = (double)metrics->bytes * 1e9 / (double)metrics->dur_sum;

    return dft_uint_of(rate);
}

/* How often its bytes were accessed, in hundredths: parts of which one byte was are distinct ones
 * as a whole. */
static uint64_t again_of(const struct dft_group *group)
{
    uint64_t distinct = group->distinct_bytes, bytes = group->metrics.bytes;

    return bytes <= distinct || !distinct ? 100 : (uint64_t)((__uint128_t)bytes * 100 / distinct);
}

static int is_by_time(const struct dft_answer *answer)
{
    for (unsigned i = 0; i < answer->query.nby; i++)
        if (answer->query.by[i] == DFT_BY_TIME)
            return 1;
    return 0;
}

int dft_column_value(const struct dft_answer *answer, const struct dft_group *group, enum dft_column column,
                     int64_t *value)
{
    const struct dft_metrics *m = &group->metrics;
    int percentiles = answer->has_percentiles && m->samples && group->p50 != DFT_PERCENTILE_UNKNOWN;
    /* calls that moved bytes: of a run that is kept as one event, all */
    uint64_t moves = m->data + (m->count > m->samples ? m->count - m->samples : 0);
    const struct {
        int known;
        uint64_t value;
    } values[DFT_COLUMNS_ALL] = {
        [DFT_COLUMN_COUNT] = {1, m->count},
        [DFT_COLUMN_ERRORS] = {1, m->errors},
        [DFT_COLUMN_TIME] = {1, m->dur_sum},
        [DFT_COLUMN_SELF] = {answer->has_self, (uint64_t)group->self_ns},
        [DFT_COLUMN_TIME_MIN] = {dft_metrics_knows_dur_min(m), m->dur_min},
        [DFT_COLUMN_TIME_MAX] = {dft_metrics_knows_dur_max(m), m->dur_max},
        [DFT_COLUMN_P50] = {percentiles, group->p50},
        [DFT_COLUMN_P95] = {percentiles, group->p95},
        [DFT_COLUMN_P99] = {percentiles, group->p99},
        [DFT_COLUMN_BUSY] = {answer->has_busy, is_by_time(answer) ? m->edge : m->dur_sum},
        [DFT_COLUMN_UNION] = {answer->has_union, group->busy_union_ns},
        [DFT_COLUMN_IN_FLIGHT] = {answer->has_union, group->in_flight_max},
        [DFT_COLUMN_BYTES] = {1, m->bytes},
        [DFT_COLUMN_SIZE_MIN] = {dft_metrics_knows_size_min(m), m->size_min},
        [DFT_COLUMN_SIZE_MAX] = {dft_metrics_knows_size_max(m), m->size_max},
        [DFT_COLUMN_OFFSET_MIN] = {m->offset_min != INT64_MAX, (uint64_t)m->offset_min},
        [DFT_COLUMN_OFFSET_MAX] = {m->offset_max >= 0, (uint64_t)m->offset_max},
        [DFT_COLUMN_ASKED] = {m->data != 0, m->asked},
        [DFT_COLUMN_TURNS] = {m->data != 0, m->turns},
        [DFT_COLUMN_CONSECUTIVE] = {m->data != 0, m->consecutive},
        [DFT_COLUMN_SEQUENTIAL] = {m->data != 0, m->sequential - m->consecutive},
        [DFT_COLUMN_STRIDED] = {m->data && answer->has_accesses, m->strided},
        [DFT_COLUMN_RANDOM] = {m->data && answer->has_accesses, m->random},
        [DFT_COLUMN_FIRST] = {m->first_start != UINT64_MAX, m->first_start},
        [DFT_COLUMN_LAST] = {m->first_start != UINT64_MAX, m->last_end},
        [DFT_COLUMN_DISTINCT] = {group->has_distinct != 0, group->distinct_bytes},
        [DFT_COLUMN_PROCESSES] = {group->processes != 0, group->processes},
        [DFT_COLUMN_COMMON] = {group->common_size != 0, dft_size_class_low((uint8_t)group->common_size)},
        [DFT_COLUMN_IO] = {answer->query.members, group->io_ns},
        [DFT_COLUMN_MEAN] = {m->samples != 0, m->samples ? m->dur_sum / m->samples : 0},
        [DFT_COLUMN_SHARE] = {1, !answer->has_self    ? m->dur_sum
                                 : group->self_ns > 0 ? (uint64_t)group->self_ns
                                                      : 0},
        [DFT_COLUMN_A_CALL] = {m->bytes && moves, moves ? (m->bytes + moves / 2) / moves : 0},
        [DFT_COLUMN_RATE] = {m->bytes && m->dur_sum, m->dur_sum ? rate_of(m) : 0},
        [DFT_COLUMN_AGAIN] = {group->distinct_bytes != 0, again_of(group)},
    };

    *value = (int64_t)values[column].value;
    return values[column].known;
}
