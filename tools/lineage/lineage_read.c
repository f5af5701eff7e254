/* SPDX-License-Identifier: MIT */
/* Reads entities and relations from the blocks of a source. */
#include "lineage/lineage_read.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lineage/lineage_apart.h"
#include "lineage/lineage_graph.h"
#include "lineage/lineage_order.h"
#include "lineage/lineage_words.h"
#include "views/filter_event.h"
#include "object/source_notes.h"
#include "views/source_order.h"
#include "intake/source_visit.h"

#define ROUNDED_NS 2000u /* what is lost of the end of a region where start and duration are microseconds */

struct reading {
    struct dft_lineage *lineage;
    struct dft_source *source;
    const struct dft_filter *filter;
    struct dft_lineage_words words;
    struct dft_lineage_apart apart;
    struct dft_lineage_relate *relates; /* of one event; under the lock as all below */
    uint32_t capacity, count;
    pthread_mutex_t lock;
    int only_apart; /* reads what regions had no room for */
};

/* One event, with its arguments. */
struct record {
    const struct dft_event *event;
    const struct dft_arg *args;
    uint32_t nargs, process, tid;
    uint64_t call;
    enum dft_lineage_word word; /* the record that it is */
};

/* --- what is declared ------------------------------------------------------------------------- */

/* DFTracer's traces may have numbers as texts. */
static int64_t number_of(const struct dft_arg *arg)
{
    int64_t number = 0;

    if (arg->type == DFT_ARG_INT)
        return arg->i;
    if (arg->type != DFT_ARG_STRING || !arg->s.length || arg->s.length > 4)
        return -1;
    for (uint32_t i = 0; i < arg->s.length; i++) {
        if (arg->s.bytes[i] < '0' || arg->s.bytes[i] > '9')
            return -1;
        number = number * 10 + arg->s.bytes[i] - '0';
    }
    return number;
}

/* The argument of such a key; NULL: there is none. */
static const struct dft_arg *arg_of(const struct reading *reading, const struct record *record,
                                    enum dft_lineage_word key)
{
    for (uint32_t i = 0; i < record->nargs; i++)
        if (dft_lineage_word_of(&reading->words, record->args[i].key) == key)
            return &record->args[i];
    return NULL;
}

static int text_of(const struct reading *reading, const struct record *record, enum dft_lineage_word key, uint64_t *id)
{
    const struct dft_arg *arg = arg_of(reading, record, key);

    *id = 0;
    return arg && arg->type == DFT_ARG_STRING && arg->s.length ? dft_lineage_text(reading->lineage, arg->s, id) : 0;
}

static int id_of(const struct reading *reading, const struct record *record, enum dft_lineage_word key, uint64_t *id)
{
    const struct dft_arg *arg = arg_of(reading, record, key);

    return arg && arg->type == DFT_ARG_STRING ? dft_lineage_hex(arg->s, id) : -EINVAL;
}

static int64_t small_of(const struct reading *reading, const struct record *record, enum dft_lineage_word key)
{
    const struct dft_arg *arg = arg_of(reading, record, key);

    return arg ? number_of(arg) : -1;
}

static int broken(struct reading *reading)
{
    reading->lineage->troubles.broken++;
    return 0;
}

static int read_entity(struct reading *reading, const struct record *record)
{
    struct dft_lineage_entity entity = {.since_ns = record->event->start_ns, .declared = 1};

    if (id_of(reading, record, DFT_LINEAGE_KEY_ID, &entity.id))
        return broken(reading);
    entity.store = small_of(reading, record, DFT_LINEAGE_KEY_STORE);
    reading->lineage->troubles.cut += (record->event->bits & DFT_BIT_CUT) != 0;
    if (text_of(reading, record, DFT_LINEAGE_KEY_TYPE, &entity.type) ||
        text_of(reading, record, DFT_LINEAGE_KEY_KEY, &entity.key) ||
        text_of(reading, record, DFT_LINEAGE_KEY_URI, &entity.uri))
        return -ENOMEM;
    return dft_lineage_declare(reading->lineage, &entity);
}

static int read_type(struct reading *reading, const struct record *record)
{
    struct dft_lineage_type type = {.since_ns = record->event->start_ns,
                                    .role = small_of(reading, record, DFT_LINEAGE_KEY_ROLE)};

    if (text_of(reading, record, DFT_LINEAGE_KEY_TYPE, &type.name) ||
        text_of(reading, record, DFT_LINEAGE_KEY_DESCRIPTION, &type.description))
        return -ENOMEM;
    reading->lineage->troubles.cut += (record->event->bits & DFT_BIT_CUT) != 0;
    return type.name ? dft_lineage_declare_type(reading->lineage, &type) : broken(reading);
}

static int read_link(struct reading *reading, const struct record *record)
{
    int64_t relation = small_of(reading, record, DFT_LINEAGE_KEY_RELATION);
    uint64_t subject, object;

    if (!DFT_LINEAGE_IS_LINK(relation) || id_of(reading, record, DFT_LINEAGE_KEY_SUBJECT, &subject) ||
        id_of(reading, record, DFT_LINEAGE_KEY_OBJECT, &object))
        return broken(reading);
    return dft_lineage_link(reading->lineage, subject, object, (uint8_t)relation);
}

/* --- regions ---------------------------------------------------------------------------------- */

static int add_relate(struct reading *reading, const struct dft_lineage_relate *relate)
{
    return DFT_ARRAY_PUSH(reading->relates, reading->capacity, reading->count, *relate);
}

/* DFTracer's own form: {"used":["ID",...],"generated":[...]}. What is in quotes before a colon is a
 * relation, all else in quotes an id. */
static int read_nested(struct reading *reading, struct dft_text text)
{
    const char *at = text.bytes, *end = at + text.length;
    int relation = -1, rc = 0;

    while (!rc && at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
        struct dft_text word = {at + 1, close ? (uint32_t)(close - at - 1) : 0};
        struct dft_lineage_relate relate;

        if (!close)
            return broken(reading);
        for (at = close + 1; at < end && *at == ' ';)
            at++;
        if (at < end && *at == ':') {
            relation = dft_lineage_region_relation(word);
        } else if (relation < 0 || dft_lineage_hex(word, &relate.entity)) {
            reading->lineage->troubles.broken++;
        } else {
            relate.relation = (uint8_t)relation;
            rc = add_relate(reading, &relate);
        }
    }
    return rc;
}

static int collect(struct reading *reading, const struct record *record)
{
    int rc = 0;

    reading->count = 0;
    for (uint32_t i = 0; !rc && i < record->nargs; i++) {
        const uint64_t *place = dft_map_find(&reading->words.places, record->args[i].key);

        if (place)
            rc = add_relate(reading, &reading->words.relates[*place - 1]);
        else if (record->args[i].type == DFT_ARG_STRING &&
                 dft_lineage_word_of(&reading->words, record->args[i].key) == DFT_LINEAGE_KEY_RELATIONS)
            rc = read_nested(reading, record->args[i].s);
    }
    return rc;
}

static int read_apart(struct reading *reading, const struct record *record)
{
    struct dft_lineage_apart_relation relation = {.call = record->event->region,
                                                  .time_ns = record->event->start_ns,
                                                  .process = record->process,
                                                  .tid = record->tid};
    const struct dft_arg *region = relation.call ? NULL : arg_of(reading, record, DFT_LINEAGE_KEY_REGION);
    int rc = collect(reading, record);

    if (region && region->type == DFT_ARG_INT) { /* from a trace whose times are microseconds */
        relation.call = (uint64_t)region->i;
        reading->apart.slack_ns = ROUNDED_NS;
    }
    for (uint32_t i = 0; !rc && i < reading->count; i++) {
        relation.relate = reading->relates[i];
        rc = dft_lineage_apart_add(&reading->apart, &relation);
    }
    return rc;
}

static int read_region(struct reading *reading, const struct record *record)
{
    const struct dft_lineage_region region = {.call = record->call,
                                              .start_ns = record->event->start_ns,
                                              .dur_ns = record->event->dur_ns,
                                              .process = record->process};
    int rc = collect(reading, record);

    if (!rc)
        rc = dft_lineage_apart_take(&reading->apart, &region, record->tid, reading->relates, reading->count);
    if (rc)
        return rc < 0 ? rc : 0;
    return reading->count ? dft_lineage_region(reading->lineage, &region, reading->relates, reading->count) : 0;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static int read_event(struct reading *reading, const struct record *record)
{
    enum dft_lineage_word word = record->word;

    if (reading->only_apart)
        return word == DFT_LINEAGE_RR ? read_apart(reading, record) : 0;
    if (word == DFT_LINEAGE_EH)
        return read_entity(reading, record);
    if (word == DFT_LINEAGE_ET)
        return read_type(reading, record);
    if (word == DFT_LINEAGE_ER)
        return read_link(reading, record);
    if (word == DFT_LINEAGE_RR || record->event->phase == DFT_PHASE_METADATA ||
        record->event->phase == DFT_PHASE_COUNTER || !dft_filter_time(reading->filter, record->event))
        return 0;
    return read_region(reading, record);
}

/* Is there something in an event? Most have nothing, and take no lock. */
static int is_wanted(const struct reading *reading, const struct record *record)
{
    if (record->word || reading->apart.nrelations)
        return 1;
    for (uint32_t i = 0; i < record->nargs; i++)
        if (dft_map_find(&reading->words.places, record->args[i].key) ||
            dft_lineage_word_of(&reading->words, record->args[i].key) == DFT_LINEAGE_KEY_RELATIONS)
            return 1;
    return 0;
}

/* Some blocks have the texts of calls with the calls, others among the names. */
static enum dft_lineage_word record_of(const struct reading *reading, const struct dft_call *call)
{
    enum dft_lineage_word word =
        call->text.length ? dft_lineage_word_of_call(call->text) : dft_lineage_word_of(&reading->words, call->id);

    return word <= DFT_LINEAGE_RR ? word : DFT_LINEAGE_WORD_NONE;
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct reading *reading = context;
    struct record record = {.process = process->number, .tid = block->tid};
    uint32_t at = 0;
    int rc = 0;

    (void)worker;
    for (uint32_t i = 0; !rc && i < batch->count; i++) {
        record.event = &batch->events[i];
        record.call = batch->calls[record.event->call].id;
        record.word = record_of(reading, &batch->calls[record.event->call]);
        record.args = batch->args + at;
        for (record.nargs = 0; at < batch->nargs && batch->args[at].event == i; at++)
            record.nargs++;
        if (!is_wanted(reading, &record))
            continue;
        pthread_mutex_lock(&reading->lock);
        rc = read_event(reading, &record);
        pthread_mutex_unlock(&reading->lock);
    }
    return rc;
}

/* Aggregates do not know what was recorded of entities. */
static void count_aggregated(struct reading *reading)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(reading->source, &count);

    for (uint32_t i = 0; i < count; i++)
        if (processes[i].rows_only && dft_filter_process(reading->filter, &processes[i]))
            reading->lineage->troubles.aggregated++;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct reading *reading = context;

    if (!dft_filter_process(reading->filter, process))
        return 0;
    return block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS) && block->count;
}

static int visit(struct reading *reading)
{
    const struct dft_visit visit = {
        .context = reading, .select = select_block, .events = take_events, .progress = "events read"};

    return dft_source_visit(reading->source, &visit);
}

static int read_all(struct reading *reading)
{
    int rc = dft_lineage_words_find(&reading->words, reading->source);

    if (rc || !reading->words.any)
        return rc;
    count_aggregated(reading);
    if (reading->words.has_apart) {
        reading->only_apart = 1;
        rc = visit(reading);
        reading->only_apart = 0;
        dft_lineage_apart_sort(&reading->apart);
    }
    if (!rc)
        rc = visit(reading);
    return rc ? rc : dft_lineage_apart_finish(&reading->apart, reading->lineage);
}

/* --- notes ------------------------------------------------------------------------------------ */

static void note(struct dft_source *source, uint64_t count, int bad, const char *one, const char *several)
{
    if (count)
        dft_source_note(source, bad, "%llu %s", (unsigned long long)count, count == 1 ? one : several);
}

static void note_all(struct dft_source *source, const struct dft_lineage *lineage)
{
    const struct dft_lineage_troubles *troubles = &lineage->troubles;
    uint64_t disputed = 0;

    for (uint32_t i = 0; i < lineage->nentities; i++)
        disputed += lineage->entities[i].disputed;
    note(source, troubles->aggregated, DFT_BAD_UNREAD,
         "process kept aggregates alone, at least for a time: what it said of entities then is not known",
         "processes kept aggregates alone, at least for a time: what they said of entities then is not known");
    note(source, troubles->broken, DFT_BAD_UNREAD, "record of entities makes no sense and is left out",
         "records of entities make no sense and are left out");
    note(source, troubles->unmatched, DFT_BAD_UNREAD, "relation is left out: its region is not among the events",
         "relations are left out: their regions are not among the events");
    note(source, troubles->cut, DFT_BAD_NOTHING, "declaration had texts too long to keep: the texts are cut or missing",
         "declarations had texts too long to keep: the texts are cut or missing");
    note(source, troubles->selves, DFT_BAD_NOTHING, "relation of an entity to itself is left out",
         "relations of entities to themselves are left out");
    note(source, disputed, DFT_BAD_NOTHING, "entity was declared with several URIs: the first is shown",
         "entities were declared with several URIs: the first is shown");
}

int dft_lineage_read(struct dft_lineage *lineage, struct dft_source *source, const struct dft_filter *filter)
{
    struct reading reading = {
        .lineage = lineage, .source = source, .filter = filter, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint64_t end;
    int rc = dft_lineage_init(lineage);

    dft_source_lives(source, &lineage->origin_ns, &end);
    if (!rc)
        rc = read_all(&reading);
    if (!rc)
        rc = dft_lineage_finish(lineage);
    if (!rc)
        note_all(source, lineage);
    dft_lineage_words_fini(&reading.words);
    dft_lineage_apart_fini(&reading.apart);
    free(reading.relates);
    return rc;
}
