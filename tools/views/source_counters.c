/* SPDX-License-Identifier: MIT */
/* Sums up samples of counters, per process and counter. Each worker has sums of its own; sums merge
 * in any order. */
#include "views/source_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/order.h"
#include "format/hash.h"
#include "mpi/comm.h"
#include "views/filter_event.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

struct summing {
    struct dft_source *source;
    const struct dft_filter *filter;
    const uint64_t *ids; /* the counters that are wanted; NULL: all */
    struct dft_counter_facts *workers;
    uint64_t start_ns, end_ns;
};

static struct dft_counter_fact *fact_of(struct dft_counter_facts *facts, uint32_t process,
                                        const struct dft_counter_series *series)
{
    uint64_t *place = dft_map_put(&facts->places, dft_map_join(series->id, process));
    struct dft_counter_fact *fact;

    if (!place)
        return NULL;
    if (!*place) {
        if (DFT_ARRAY_RESERVE(facts->list, facts->capacity, facts->count + 1))
            return NULL;
        *place = ++facts->count;
        fact = &facts->list[*place - 1];
        memset(fact, 0, sizeof *fact);
        fact->process = process;
        fact->id = series->id;
        fact->unit = series->unit;
        fact->kind = series->kind;
        fact->real = series->real;
    }
    return &facts->list[*place - 1];
}

static void bin_add(struct dft_counter_bin *bin, int level, uint64_t time_ns, dft_counter_value value)
{
    if (!bin->time_ns ||
        (level ? value > bin->value : time_ns > bin->time_ns || (time_ns == bin->time_ns && value > bin->value)))
        bin->value = value;
    if (time_ns > bin->time_ns)
        bin->time_ns = time_ns;
}

/* Samples of one time are in the order of their values, not of reading. */
static int is_before(uint64_t time_ns, dft_counter_value value, uint64_t than_ns, dft_counter_value than)
{
    return time_ns < than_ns || (time_ns == than_ns && value < than);
}

static void add_sample(const struct summing *summing, struct dft_counter_fact *fact, uint64_t time_ns,
                       dft_counter_value value)
{
    uint64_t span = summing->end_ns - summing->start_ns, since = time_ns - summing->start_ns;
    uint64_t bin = time_ns <= summing->start_ns || !span ? 0
                   : since >= span                       ? DFT_COUNTER_BINS - 1
                                   : (uint64_t)((long double)since * DFT_COUNTER_BINS / (long double)span);

    if (!fact->samples || value < fact->least)
        fact->least = value;
    if (!fact->samples || value > fact->most)
        fact->most = value;
    if (!fact->samples || is_before(time_ns, value, fact->first_ns, fact->first)) {
        fact->first_ns = time_ns;
        fact->first = value;
    }
    if (!fact->samples || is_before(fact->last_ns, fact->last, time_ns, value)) {
        fact->last_ns = time_ns;
        fact->last = value;
    }
    fact->sum += value;
    fact->samples++;
    bin_add(&fact->bins[bin < DFT_COUNTER_BINS ? bin : DFT_COUNTER_BINS - 1], fact->kind == DFT_COUNTER_LEVEL,
            time_ns ? time_ns : 1, value);
}

static int is_wanted(const struct summing *summing, uint64_t id)
{
    const uint64_t *wanted = summing->ids;

    while (wanted && *wanted && *wanted != id)
        wanted++;
    return (!wanted || *wanted) && dft_filter_names(summing->filter, id);
}

static int add_block(void *context, unsigned worker, const struct dft_source_process *process,
                     const struct dft_block *block, struct dft_counters *counters)
{
    struct summing *summing = context;
    struct dft_counter_facts *facts = &summing->workers[worker];

    (void)block;
    for (uint32_t i = 0; i < counters->count; i++) {
        const struct dft_counter_sample *sample = &counters->samples[i];
        const struct dft_counter_series *series = &counters->series[sample->series];
        struct dft_counter_fact *fact;

        if (sample->time_ns < summing->filter->from_ns ||
            (sample->time_ns >= summing->filter->to_ns && summing->filter->to_ns != UINT64_MAX) ||
            !is_wanted(summing, series->id))
            continue;
        fact = fact_of(facts, process->number, series);
        if (!fact)
            return -ENOMEM;
        add_sample(summing, fact, sample->time_ns,
                   series->real ? (dft_counter_value)sample->number : (dft_counter_value)sample->value);
    }
    return 0;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct summing *summing = context;

    return block->type == DFT_BLOCK_COUNTERS &&
           (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS) &&
           dft_filter_process(summing->filter, process);
}

static int merge(struct dft_counter_facts *into, const struct dft_counter_fact *from)
{
    const struct dft_counter_series series = {from->id, from->unit, from->kind, from->real};
    struct dft_counter_fact *fact = fact_of(into, from->process, &series);

    if (!fact)
        return -ENOMEM;
    if (!fact->samples) {
        *fact = *from;
        return 0;
    }
    fact->least = from->least < fact->least ? from->least : fact->least;
    fact->most = from->most > fact->most ? from->most : fact->most;
    if (is_before(from->first_ns, from->first, fact->first_ns, fact->first))
        fact->first = from->first;
    if (is_before(fact->last_ns, fact->last, from->last_ns, from->last))
        fact->last = from->last;
    fact->first_ns = from->first_ns < fact->first_ns ? from->first_ns : fact->first_ns;
    fact->last_ns = from->last_ns > fact->last_ns ? from->last_ns : fact->last_ns;
    fact->real |= from->real;
    fact->sum += from->sum;
    fact->samples += from->samples;
    for (uint32_t i = 0; i < DFT_COUNTER_BINS; i++)
        if (from->bins[i].time_ns)
            bin_add(&fact->bins[i], fact->kind == DFT_COUNTER_LEVEL, from->bins[i].time_ns, from->bins[i].value);
    return 0;
}

static int by_process(const void *left, const void *right)
{
    const struct dft_counter_fact *a = left, *b = right;

    DFT_ORDER(a->process, b->process);
    DFT_ORDER(a->id, b->id);
    return 0;
}

/* Merges what another rank has read. */
static int take_rank(void *context, unsigned rank, const void *bytes, size_t length)
{
    const struct dft_counter_fact *list = bytes;
    int rc = 0;

    (void)rank;
    for (size_t i = 0; !rc && i < length / sizeof *list; i++)
        rc = merge(context, &list[i]);
    return rc;
}

static int read_all(struct summing *summing, struct dft_counter_facts *own)
{
    unsigned threads = dft_source_threads(summing->source);
    int rc;

    summing->workers = calloc(threads, sizeof *summing->workers);
    rc = dft_comm_agree(summing->workers ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_source_visit(summing->source,
                              &(struct dft_visit){.context = summing, .select = select_block, .counters = add_block});
    for (unsigned i = 0; summing->workers && i < threads; i++) {
        for (size_t k = 0; !rc && k < summing->workers[i].count; k++)
            rc = merge(own, &summing->workers[i].list[k]);
        dft_counter_facts_fini(&summing->workers[i]);
    }
    free(summing->workers);
    return dft_comm_agree(rc);
}

int dft_source_counters(struct dft_source *source, const struct dft_filter *filter, const uint64_t *ids,
                        struct dft_counter_facts *facts)
{
    struct summing summing = {.source = source, .filter = filter, .ids = ids};
    struct dft_counter_facts own = {0};
    int rc;

    memset(facts, 0, sizeof *facts);
    dft_source_lives(source, &summing.start_ns, &summing.end_ns);
    rc = read_all(&summing, &own);
    if (!rc)
        rc = dft_comm_exchange(own.list, own.count * sizeof *own.list, take_rank, facts);
    dft_counter_facts_fini(&own);
    facts->start_ns = summing.start_ns;
    facts->end_ns = summing.end_ns;
    if (facts->count)
        qsort(facts->list, facts->count, sizeof *facts->list, by_process);
    for (size_t i = 0; !rc && i < facts->count; i++)
        *dft_map_put(&facts->places, dft_map_join(facts->list[i].id, facts->list[i].process)) = i + 1;
    return rc;
}

/* --- counters that are events ------------------------------------------------------------------- */

static int add_events(void *context, unsigned worker, const struct dft_source_process *process,
                      const struct dft_block *block, struct dft_batch *batch)
{
    struct summing *summing = context;

    (void)block;
    for (uint32_t a = 0; a < batch->nargs; a++) {
        const struct dft_arg *arg = &batch->args[a];
        const struct dft_event *event = &batch->events[arg->event];
        uint64_t call = batch->calls[event->call].id;
        const struct dft_counter_series series = {.id = dft_map_join(call, arg->key),
                                                  .real = arg->type == DFT_ARG_DOUBLE};
        struct dft_counter_fact *fact;

        if (event->phase != DFT_PHASE_COUNTER || arg->type == DFT_ARG_STRING ||
            !dft_filter_time(summing->filter, event) || !dft_filter_names(summing->filter, call))
            continue;
        fact = fact_of(&summing->workers[worker], process->number, &series);
        if (!fact)
            return -ENOMEM;
        fact->call = call;
        fact->key = arg->key;
        fact->real |= series.real;
        add_sample(summing, fact, event->start_ns, series.real ? (dft_counter_value)arg->d : (dft_counter_value)arg->i);
    }
    return 0;
}

static int select_events(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct summing *summing = context;

    return block->type == DFT_BLOCK_EVENTS && dft_filter_process(summing->filter, process) &&
           (block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS);
}

/* A counter of one value has the event's name; of several, each has that of its argument, too. */
static int name_fact(struct dft_source *source, struct dft_counter_fact *fact)
{
    struct dft_names *names = dft_source_names_table(source);
    struct dft_text category, name, none, key;
    char room[18], key_room[18], *text = NULL;
    int length, rc;

    fact->id = fact->call;
    dft_names_call(names, fact->call, &category, &name, room);
    dft_names_call(names, fact->key, &none, &key, key_room);
    if (key.length == 5 && !memcmp(key.bytes, "value", 5))
        return 0;
    length = asprintf(&text, "%.*s%c%.*s %.*s", (int)category.length, category.length ? category.bytes : "", 0,
                      (int)name.length, name.bytes, (int)key.length, key.bytes);
    if (length < 0)
        return -ENOMEM;
    fact->id = dft_name_id(text, (size_t)length);
    rc = dft_names_add(names, fact->id, text, (uint32_t)length, NULL);
    free(text);
    return rc;
}

int dft_source_counter_events(struct dft_source *source, const struct dft_filter *filter,
                              struct dft_counter_facts *facts)
{
    struct summing summing = {.source = source, .filter = filter, .start_ns = facts->start_ns, .end_ns = facts->end_ns};
    struct dft_counter_facts own = {0};
    unsigned threads = dft_source_threads(source);
    uint64_t *ids = NULL;
    int rc;

    summing.workers = calloc(threads, sizeof *summing.workers);
    rc = summing.workers ? dft_source_visit(source, &(struct dft_visit){.context = &summing,
                                                                        .select = select_events,
                                                                        .events = add_events,
                                                                        .progress = "events read"})
                         : -ENOMEM;
    for (unsigned i = 0; summing.workers && i < threads; i++) {
        for (size_t k = 0; !rc && k < summing.workers[i].count; k++)
            rc = merge(&own, &summing.workers[i].list[k]);
        dft_counter_facts_fini(&summing.workers[i]);
    }
    free(summing.workers);
    if (!rc && !(ids = malloc((2 * own.count + 1) * sizeof *ids)))
        rc = -ENOMEM;
    for (size_t k = 0; !rc && k < own.count; k++) {
        ids[2 * k] = own.list[k].call;
        ids[2 * k + 1] = own.list[k].key;
    }
    if (!rc)
        rc = dft_source_names(source, ids, 2 * own.count);
    for (size_t k = 0; !rc && k < own.count; k++) {
        rc = name_fact(source, &own.list[k]);
        if (!rc)
            rc = merge(facts, &own.list[k]);
    }
    free(ids);
    dft_counter_facts_fini(&own);
    return rc;
}

void dft_counter_facts_fini(struct dft_counter_facts *facts)
{
    free(facts->list);
    dft_map_fini(&facts->places);
    memset(facts, 0, sizeof *facts);
}

int dft_source_has_counters(const struct dft_source *source)
{
    return dft_source_used(source, DFT_BLOCK_COUNTERS) != 0;
}
