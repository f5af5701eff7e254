/* SPDX-License-Identifier: MIT */
/* Asks what a benchmark must know; see export_model.h. */
#include "export/export_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/export_model_finish.h"
#include "mpi/comm.h"
#include "job/region_kinds.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/query.h"

struct taking {
    struct dft_model *model;
    struct dft_region_kinds kinds;
};

enum { ASK_CALLS, ASK_FILES, ASK_REGIONS, ASK_CHECKPOINTS, ASKED };

static const struct dft_source_process *process_of(const struct dft_answer *answer, const struct dft_group *group)
{
    return answer->process_group[group->key.process_group - 1];
}

/* The unit of a group; NULL: there is no memory, or none yet and `make` is 0. */
static struct dft_model_unit *find_unit(struct dft_model *model, const struct dft_answer *answer,
                                        const struct dft_group *group, int is_write, int make)
{
    const struct dft_source_process *process = process_of(answer, group);
    uint64_t key = dft_map_join(dft_map_join(process->key, group->key.tid), (uint64_t)is_write);
    uint64_t *at = make ? dft_map_put(&model->unit_of, key) : dft_map_find(&model->unit_of, key);

    if (at && !*at) {
        struct dft_model_unit unit = {
            .process = process, .tid = group->key.tid, .is_write = is_write, .first_ns = UINT64_MAX};

        if (DFT_ARRAY_PUSH(model->units, model->units_capacity, model->nunits, unit))
            return NULL;
        *at = model->nunits;
    }
    return at ? &model->units[*at - 1] : NULL;
}

static int begins(struct dft_text text, const char *word)
{
    return text.length >= strlen(word) && !memcmp(text.bytes, word, strlen(word));
}

static enum dft_model_way way_of(uint8_t op, struct dft_text name)
{
    if (begins(name, "aio_") || begins(name, "io_"))
        return DFT_MODEL_REQUEST;
    if (dft_op_effect(op) == DFT_EFFECT_STREAM)
        return DFT_MODEL_STREAM;
    return dft_op_effect(op) == DFT_EFFECT_AT ? DFT_MODEL_AT : DFT_MODEL_MOVES;
}

/* The last call of a loop that reads to the end of a file moves nothing: no such call is an I/O. */
static void add_size(struct dft_model_size *size, const struct dft_metrics *m)
{
    uint64_t calls = m->count > m->errors ? m->count - m->errors : m->data, ios = calls;
    int is_single = m->samples == m->count && dft_metrics_knows_size_max(m) && m->size_max;

    if (!m->bytes)
        ios = 0;
    else if (is_single && !m->size_min)
        ios = (m->bytes + m->size_max - 1) / m->size_max;
    if (is_single && ios && m->size_max * ios - m->bytes <= m->bytes / 100 &&
        (!size->ios || size->whole == m->size_max))
        size->whole = m->size_max;
    else if (ios)
        size->whole = 0;
    size->calls += calls;
    size->ios += ios;
    size->bytes += m->bytes;
}

static int add_data(struct dft_model *model, const struct dft_answer *answer, const struct dft_group *group)
{
    const struct dft_metrics *m = &group->metrics;
    struct dft_model_unit *unit = find_unit(model, answer, group, group->key.class == DFT_IO_WRITE, 1);
    struct dft_key_value name;

    if (!unit)
        return -ENOMEM;
    dft_group_value(answer, group, DFT_BY_NAME, &name);
    add_size(&unit->sizes[dft_facets_size_class(group->key.facets)], m);
    unit->ways[way_of(group->key.op, name.text)] += m->data;
    unit->accesses[dft_facets_access(group->key.facets)] += m->data;
    unit->turns += m->turns;
    unit->busy_ns += m->dur_sum;
    unit->first_ns = m->first_start < unit->first_ns ? m->first_start : unit->first_ns;
    unit->last_ns = m->last_end > unit->last_ns ? m->last_end : unit->last_ns;
    return 0;
}

static enum dft_model_left left_of(const struct dft_group_key *key)
{
    if (key->op == DFT_OP_MAP && key->class == DFT_IO_META)
        return DFT_MODEL_LEFT_MAP;
    if (key->op == DFT_OP_REQUEST)
        return DFT_MODEL_LEFT_REQUEST;
    if (key->class == DFT_IO_WAIT)
        return DFT_MODEL_LEFT_WAIT;
    if (key->class == DFT_IO_STARTUP)
        return DFT_MODEL_LEFT_STARTUP;
    if (key->class == DFT_IO_SYNC)
        return DFT_MODEL_LEFT_SYNC;
    return key->op == DFT_OP_SEEK || key->op == DFT_OP_FSEEK || key->op == DFT_OP_FTELL ? DFT_MODEL_LEFT_SEEK
                                                                                        : DFT_MODEL_LEFT_META;
}

/* In older traces the first access behind an open is a random one, wherever it lies. */
static int add_open(struct dft_model *model, const struct dft_answer *answer, const struct dft_group *group)
{
    uint64_t *opens = dft_map_put(&model->opens, dft_map_join(process_of(answer, group)->key, group->key.tid));

    if (!opens)
        return -ENOMEM;
    *opens += group->metrics.count - group->metrics.errors;
    return 0;
}

/* A call that flushes belongs to what the same thread writes. */
static int add_sync(struct dft_model *model, const struct dft_answer *answer, const struct dft_group *group)
{
    uint64_t calls = group->metrics.count - group->metrics.errors;
    struct dft_model_unit *unit;
    struct dft_key_value name;

    dft_group_value(answer, group, DFT_BY_NAME, &name);
    if (!dft_text_is(name.text, "fsync") && !dft_text_is(name.text, "fdatasync")) {
        model->left[DFT_MODEL_LEFT_SYNC] += calls;
        return 0;
    }
    unit = find_unit(model, answer, group, 1, 1);
    if (!unit)
        return -ENOMEM;
    *(dft_text_is(name.text, "fsync") ? &unit->fsyncs : &unit->fdatasyncs) += calls;
    unit->sync_ns += group->metrics.dur_sum;
    return 0;
}

static int is_data(const struct dft_group_key *key)
{
    return (key->class == DFT_IO_READ || key->class == DFT_IO_WRITE) && dft_op_is_data(key->op);
}

static int take_data(void *context, const struct dft_answer *answer)
{
    struct dft_model *model = ((struct taking *)context)->model;
    int rc = 0;

    for (uint32_t i = 0; i < answer->count && !rc; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_group_key *key = &group->key;

        if (key->op == DFT_OP_REGION || key->class == DFT_IO_NONE)
            continue;
        model->left[DFT_MODEL_LEFT_ERRORS] += group->metrics.errors;
        if (is_data(key))
            rc = group->metrics.data ? add_data(model, answer, group) : 0;
        else if (key->op == DFT_OP_SYNC && key->class == DFT_IO_SYNC)
            rc = add_sync(model, answer, group);
        else if (key->op == DFT_OP_OPEN || key->op == DFT_OP_FOPEN)
            rc = add_open(model, answer, group);
        if (!is_data(key) && !(key->op == DFT_OP_SYNC && key->class == DFT_IO_SYNC))
            model->left[left_of(key)] += group->metrics.count - group->metrics.errors;
    }
    return rc;
}

static int take_files(void *context, const struct dft_answer *answer)
{
    struct dft_model *model = ((struct taking *)context)->model;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        const struct dft_metrics *m = &group->metrics;
        struct dft_model_unit *unit = find_unit(model, answer, group, group->key.class == DFT_IO_WRITE, 0);
        struct dft_model_size size = {0};
        struct dft_model_use use = {.file = group->key.file,
                                    .bytes = m->bytes,
                                    .extent = m->offset_max > 0 ? (uint64_t)m->offset_max : m->bytes};

        if (!unit || !m->bytes)
            continue;
        add_size(&size, m);
        use.ios = size.ios;
        use.unit = (uint32_t)(unit - model->units);
        if (DFT_ARRAY_PUSH(model->uses, model->uses_capacity, model->nuses, use))
            return -ENOMEM;
    }
    return 0;
}

static int is_named_checkpoint(struct dft_text category, struct dft_text name)
{
    return memmem(category.bytes, category.length, "checkpoint", 10) ||
           memmem(name.bytes, name.length, "checkpoint", 10);
}

static int take_regions(void *context, const struct dft_answer *answer)
{
    struct taking *taking = context;
    struct dft_model *model = taking->model;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct dft_key_value category, name;
        struct dft_model_region region = {.process = process_of(answer, group),
                                          .call = group->key.name,
                                          .count = group->metrics.count,
                                          .time_ns = group->metrics.dur_sum,
                                          .self_ns =
                                              answer->has_self ? group->self_ns : (int64_t)group->metrics.dur_sum};

        dft_group_value(answer, group, DFT_BY_CAT, &category);
        dft_group_value(answer, group, DFT_BY_NAME, &name);
        region.kinds = dft_region_kinds_of(&taking->kinds, category.text, name.text);
        region.is_checkpoint = is_named_checkpoint(category.text, name.text);
        if ((region.kinds || region.is_checkpoint) &&
            DFT_ARRAY_PUSH(model->regions, model->regions_capacity, model->nregions, region))
            return -ENOMEM;
    }
    return 0;
}

static int take_checkpoints(void *context, const struct dft_answer *answer)
{
    struct dft_model *model = ((struct taking *)context)->model;

    for (uint32_t i = 0; i < answer->count; i++) {
        uint64_t region = answer->groups[i].key.region;
        struct dft_text category, name;
        char text[18];

        model->written += answer->groups[i].metrics.bytes;
        if (!region)
            continue;
        dft_names_call(dft_answer_names(answer, region), region, &category, &name, text);
        if (is_named_checkpoint(category, name))
            model->checkpoint_bytes += answer->groups[i].metrics.bytes;
    }
    return 0;
}

static const struct dft_query questions[ASKED] = {
    [ASK_CALLS] = {.by = {DFT_BY_PROCESS, DFT_BY_TID, DFT_BY_NAME, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_SIZE, DFT_BY_ACCESS},
                   .nby = 7},
    [ASK_FILES] = {.by = {DFT_BY_FILE, DFT_BY_PROCESS, DFT_BY_TID, DFT_BY_CLASS},
                   .nby = 4,
                   .classes = 1u << DFT_IO_READ | 1u << DFT_IO_WRITE},
    [ASK_REGIONS] = {.by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_PROCESS}, .nby = 3, .ops = UINT64_C(1) << DFT_OP_REGION},
    [ASK_CHECKPOINTS] = {.by = {DFT_BY_REGION, DFT_BY_CLASS}, .nby = 2, .classes = 1u << DFT_IO_WRITE},
};

static int ask(struct taking *taking)
{
    static int (*const takes[ASKED])(void *, const struct dft_answer *) = {take_data, take_files, take_regions,
                                                                           take_checkpoints};
    const struct dft_export *export = taking->model->export;
    struct dft_query_request requests[ASKED];
    struct dft_answer answers[ASKED];
    int rc;

    memset(answers, 0, sizeof answers);
    for (unsigned i = 0; i < ASKED; i++)
        requests[i] = (struct dft_query_request){questions[i], {.in_parts = 1}, &answers[i]};
    rc = dft_query_many(export->source, export->filter, requests, ASKED);
    if (rc)
        return rc;
    for (unsigned i = 0; i < ASKED && !rc; i++)
        rc = dft_answer_each(&answers[i], takes[i], taking);
    taking->model->unsplit = answers[ASK_FILES].unsplit;
    for (unsigned i = 0; i < ASKED; i++)
        dft_answer_fini(&answers[i]);
    return rc;
}

int dft_model_collect(struct dft_model *model, struct dft_export *export)
{
    struct taking taking = {.model = model};
    int rc;

    *model = (struct dft_model){.export = export};
    rc = dft_comm_agree(dft_region_kinds_init(&taking.kinds, &dft_region_usual));
    if (!rc)
        rc = ask(&taking);
    dft_region_kinds_fini(&taking.kinds);
    if (!rc && !dft_comm_rank())
        rc = dft_model_finish(model);
    return dft_comm_agree(rc);
}

void dft_model_fini(struct dft_model *model)
{
    free(model->units);
    free(model->uses);
    free(model->regions);
    dft_map_fini(&model->unit_of);
    dft_map_fini(&model->flags);
    dft_map_fini(&model->opens);
}
