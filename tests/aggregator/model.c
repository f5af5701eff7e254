/* SPDX-License-Identifier: MIT */
/* The slow and obvious aggregator of the tests. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/event.h"
#include "format/hash.h"
#include "format/ops.h"

uint64_t random_next(struct random_state *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_below(struct random_state *random, uint64_t limit)
{
    return limit ? random_next(random) % limit : 0;
}

#define MODEL_CALL(name, what)                                                                                         \
    {                                                                                                                  \
        .text = {name, sizeof(name) - 1}, .op = DFT_OP_##what                                                          \
    }
struct dft_call model_calls[MODEL_CALLS] = {
    MODEL_CALL("POSIX\0read", READ),   MODEL_CALL("POSIX\0write", WRITE),   MODEL_CALL("POSIX\0open", OPEN),
    MODEL_CALL("POSIX\0close", CLOSE), MODEL_CALL("STDIO\0fread", FREAD),   MODEL_CALL("STDIO\0fwrite", FWRITE),
    MODEL_CALL("POSIX\0lseek", SEEK),  MODEL_CALL("APP\0step", REGION),     MODEL_CALL("POSIX\0execve", EXEC),
    MODEL_CALL("POSIX\0fork", FORK),   MODEL_CALL("APP\0reached", INSTANT), MODEL_CALL("STDIO\0getc", FGETS),
    MODEL_CALL("POSIX\0splice", READ), MODEL_CALL("POSIX\0splice", WRITE), /* the halves of one call */
    MODEL_CALL("POSIX\0read", READ),                                       /* of files of a class of their own */
};

void model_init(void)
{
    for (uint32_t i = 0; i < MODEL_CALLS; i++) {
        model_calls[i].id = dft_name_id(model_calls[i].text.bytes, model_calls[i].text.length);
        model_calls[i].io = (uint8_t)dft_op_io(model_calls[i].op);
    }
    model_calls[MODEL_CALLS - 1].io = DFT_IO_STARTUP;
}

const uint64_t model_regions[MODEL_REGIONS] = {0, 0, 7001, 7002};
const uint64_t model_files[MODEL_FILES] = {0, 901, 902, 903, UINT64_C(0x9000000000000004), 905};

static int64_t model_random_offset(struct random_state *random)
{
    switch (random_below(random, 12)) {
    case 0:
        return -1;
    case 1:
        return 0;
    case 2:
        return INT64_MAX - (int64_t)random_below(random, 3);
    default:
        return (int64_t)random_below(random, 1u << 30);
    }
}

void model_random_event(struct random_state *random, const struct model_times *times, struct dft_event *event)
{
    static const int64_t results[] = {-1, 0, 1, 64, 4096, 4096, 65536, INT64_MAX};
    uint64_t kind = random_below(random, 40);

    *event = (struct dft_event){
        .start_ns = times->base_ns + random_below(random, times->spread_ns),
        .dur_ns = random_below(random, random_below(random, 10) ? times->dur_ns : times->long_ns),
        .file = model_files[random_below(random, MODEL_FILES)],
        .region = model_regions[random_below(random, times->regions ? times->regions : MODEL_REGIONS)],
        .size = random_below(random, 3) ? 4096 : random_below(random, UINT64_C(1) << random_below(random, 40)),
        .result = random_below(random, 2) ? results[random_below(random, 7 + (kind == 5))]
                                          : (int64_t)random_below(random, 1u << random_below(random, 24)),
        .offset = model_random_offset(random),
        .call = (uint32_t)random_below(random, times->calls ? times->calls : MODEL_CALLS),
        .calls = kind == 0 ? (uint32_t)random_below(random, random_below(random, 2) ? 1 : 5000) : 1,
        .unit = kind == 1 ? 8 : 1,
        .fd = 3,
        .err = random_below(random, 6) == 0 ? 2 : 0,
        .phase = kind == 2   ? DFT_PHASE_BEGIN
                 : kind == 3 ? DFT_PHASE_ASYNC_BEGIN
                             : DFT_PHASE_COMPLETE,
        .bits = kind == 4 ? DFT_BIT_OPEN : (uint8_t)(random_below(random, 4) | random_below(random, 2) * DFT_BIT_TURN),
    };
    if ((model_calls[event->call].op == DFT_OP_EXEC || model_calls[event->call].op == DFT_OP_FORK) &&
        random_below(random, 2))
        event->phase = DFT_PHASE_BEGIN;
}

static struct model_row *model_find(struct model *model, const struct dft_row *key)
{
    struct model_row *found;

    for (uint32_t i = 0; i < model->count; i++)
        if (dft_row_compare(&model->rows[i]->row, key) == 0)
            return model->rows[i];
    found = calloc(1, sizeof(*found));
    model->rows = realloc(model->rows, (model->count + 1) * sizeof(*model->rows));
    if (!found || !model->rows)
        abort();
    found->row = *key;
    found->row.metrics = (struct dft_metrics){.dur_min = UINT64_MAX,
                                              .size_min = UINT64_MAX,
                                              .offset_min = INT64_MAX,
                                              .offset_max = -1,
                                              .first_start = UINT64_MAX};
    model->rows[model->count++] = found;
    return found;
}

static int model_is_data(const struct dft_event *event, uint8_t op)
{
    return event->err == 0 &&
           (op == DFT_OP_READ || op == DFT_OP_WRITE || op == DFT_OP_FREAD || op == DFT_OP_FWRITE || op == DFT_OP_FGETS);
}

static uint64_t model_bytes(const struct dft_event *event, uint8_t op)
{
    if (event->result <= 0)
        return 0;
    return op == DFT_OP_FREAD || op == DFT_OP_FWRITE ? (uint64_t)event->result * event->unit : (uint64_t)event->result;
}

static uint64_t model_end(const struct dft_event *event)
{
    uint64_t end = event->start_ns + (event->phase == DFT_PHASE_BEGIN || event->calls == 0 ? 0 : event->dur_ns);

    return end < event->start_ns ? UINT64_MAX : end;
}

/* Everything but edge and step. */
static void model_add_metrics(struct dft_metrics *m, const struct dft_event *event, uint8_t op)
{
    uint64_t dur = model_end(event) - event->start_ns;

    m->count += event->calls;
    if (event->err != 0)
        m->errors += event->calls;
    if (event->calls > 0) {
        m->samples += 1;
        m->dur_sum += dur;
        m->dur_min = dur < m->dur_min ? dur : m->dur_min;
        m->dur_max = dur > m->dur_max ? dur : m->dur_max;
    }
    m->first_start = event->start_ns < m->first_start ? event->start_ns : m->first_start;
    m->last_end = model_end(event) > m->last_end ? model_end(event) : m->last_end;
    if (model_is_data(event, op)) {
        uint64_t bytes = model_bytes(event, op);

        m->data += 1;
        m->bytes += bytes;
        m->asked += event->size;
        m->turns += event->bits & DFT_BIT_TURN ? 1 : 0;
        m->size_min = bytes < m->size_min ? bytes : m->size_min;
        m->size_max = bytes > m->size_max ? bytes : m->size_max;
        if (event->offset >= 0 && event->offset < INT64_MAX) {
            __int128 end = (__int128)event->offset + bytes;

            end = end > INT64_MAX ? INT64_MAX : end;
            m->offset_min = event->offset < m->offset_min ? event->offset : m->offset_min;
            m->offset_max = (int64_t)end > m->offset_max ? (int64_t)end : m->offset_max;
        }
        m->sequential += event->bits & DFT_BIT_SEQUENTIAL ? 1 : 0;
        m->consecutive += (event->bits & 3) == 3 ? 1 : 0; /* the second bit alone says "strided" */
    }
}

/* The 64ths of an interval that an event covers from `from` to `to` ns behind its beginning, one by
 * one. */
static uint64_t model_occupancy(uint64_t from, uint64_t to, uint64_t width)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < 64; i++) {
        unsigned __int128 begin = (unsigned __int128)i * width, end = begin + width;

        if ((from == to && (unsigned __int128)from * 64 >= begin && (unsigned __int128)from * 64 < end) ||
            (from < to && (unsigned __int128)from * 64 < end && ((unsigned __int128)to - 1) * 64 >= begin))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

/* Walks over all intervals that the event touches, one by one. */
static void model_add_busy(struct model *model, struct dft_row key, const struct dft_event *event, uint64_t width)
{
    unsigned __int128 start = event->start_ns, end = model_end(event), first = start / width, last = first;

    while (end > (last + 1) * width)
        last++;
    for (unsigned __int128 k = first; k <= last; k++) {
        unsigned __int128 from = k * width > start ? k * width : start;
        unsigned __int128 to = (k + 1) * width < end ? (k + 1) * width : end;

        key.interval = (uint64_t)k;
        if (k == first || k == last) {
            struct dft_metrics *m = &model_find(model, &key)->row.metrics;

            m->edge += (uint64_t)(to - from);
            m->occupancy |= model_occupancy((uint64_t)(from - k * width), (uint64_t)(to - k * width), width);
        }
        if (k == first + 1 && k < last)
            model_find(model, &key)->row.metrics.step += 1;
        if (k == last && last > first + 1)
            model_find(model, &key)->row.metrics.step -= 1;
    }
}

static uint8_t model_size_class(uint64_t bytes)
{
    static const uint64_t lows[] = {1,       2,       64,      1024,    4096,    16384,   65536,
                                    1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    uint8_t class = 1;

    for (unsigned i = 0; i < sizeof lows / sizeof *lows; i++)
        class += bytes >= lows[i];
    return class;
}

static void model_facets(struct dft_row *key, const struct dft_event *event, const struct dft_call *call)
{
    int is_data = dft_op_class(call->op) == DFT_CLASS_READ || dft_op_class(call->op) == DFT_CLASS_WRITE;

    key->op = call->op;
    key->io = call->io;
    key->err = event->err;
    if (is_data)
        key->size_class = model_size_class(event->calls > 1 ? event->size / event->calls : event->size);
    if (is_data && event->err == 0 && event->offset >= 0)
        key->access = event->bits & DFT_BIT_SEQUENTIAL
                          ? event->bits & DFT_BIT_CONSECUTIVE ? DFT_ACCESS_CONSECUTIVE : DFT_ACCESS_SEQUENTIAL
                      : event->bits & DFT_BIT_CONSECUTIVE ? DFT_ACCESS_STRIDED
                                                          : DFT_ACCESS_RANDOM;
}

/* Notes which bytes of the file the access has touched: as a list of ends, since parts are not known
 * before the last one. */
static void model_touch(struct model_row *row, const struct dft_event *event, uint8_t op)
{
    unsigned __int128 end = (unsigned __int128)(uint64_t)event->offset + model_bytes(event, op);

    if (!model_is_data(event, op) || event->offset < 0 || event->offset == INT64_MAX || !model_bytes(event, op))
        return;
    row->touched = realloc(row->touched, (row->ntouched + 1) * sizeof *row->touched);
    if (!row->touched)
        abort();
    row->touched[row->ntouched][0] = (uint64_t)event->offset;
    row->touched[row->ntouched++][1] = end > INT64_MAX ? INT64_MAX : (uint64_t)end;
}

static void model_add_one(struct model *model, const struct dft_event *event)
{
    const struct dft_call *call = &model_calls[event->call];
    struct dft_row key = {.kind = DFT_ROW_CALL, .region = event->region, .subject = call->id};
    enum dft_class class = dft_op_class(call->op);

    if (!(model->keep & DFT_MIX_OPS))
        model_facets(&key, event, call);
    key.interval = event->start_ns / model->interval_ns;
    model_add_metrics(&model_find(model, &key)->row.metrics, event, call->op);
    model_add_busy(model, key, event, model->interval_ns);
    if (model->keep & DFT_KEEP_HISTOGRAMS) {
        struct model_row *found;

        key.kind = DFT_ROW_HISTOGRAM;
        key.interval = event->start_ns / (64 * model->interval_ns);
        found = model_find(model, &key);
        if (event->calls > 0)
            found->durations[model_bin(model_end(event) - event->start_ns)]++;
        if (model_is_data(event, call->op))
            found->sizes[model_bin(model_bytes(event, call->op))]++;
        if (model_is_data(event, call->op))
            found->asked[model_bin(event->size)]++;
    }
    if (model->keep & DFT_KEEP_FILES && event->file) {
        key = (struct dft_row){.kind = DFT_ROW_FILE,
                               .class = class == DFT_CLASS_NONE ? DFT_CLASS_META : (uint8_t) class,
                               .io = call->io,
                               .region = event->region,
                               .subject = event->file};
        key.interval = event->start_ns / (64 * model->interval_ns);
        model_add_metrics(&model_find(model, &key)->row.metrics, event, call->op);
        model_touch(model_find(model, &key), event, call->op);
        model_add_busy(model, key, event, 64 * model->interval_ns);
    }
}

void model_add(struct model *model, const struct dft_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t op = model_calls[events[i].call].op;

        if (events[i].bits & DFT_BIT_OPEN || op == DFT_OP_INSTANT)
            continue;
        if (events[i].phase == DFT_PHASE_COMPLETE ||
            (events[i].phase == DFT_PHASE_BEGIN && (op == DFT_OP_EXEC || op == DFT_OP_FORK)))
            model_add_one(model, &events[i]);
    }
}

void model_free(struct model *model)
{
    for (uint32_t i = 0; i < model->count; i++) {
        free(model->rows[i]->touched);
        free(model->rows[i]);
    }
    free(model->rows);
    model->rows = NULL;
    model->count = 0;
}
