/* SPDX-License-Identifier: MIT */
/* Reads the tables span, event, subspan and facet. */
#include "spans/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_text.h"
#include "format/hash.h"
#include "spans/moment.h"

/* The bytes of a column; NULL where it is null. */
static const char *column_text(sqlite3_stmt *statement, int column, size_t *length)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    *length = text ? (size_t)sqlite3_column_bytes(statement, column) : 0;
    return text;
}

/* --- spans ------------------------------------------------------------------------------------ */

/* The key of a uuid in span_of: that of the span which has it, or one that is free. */
static uint64_t span_key(const struct dft_spans_model *model, const char *uuid, size_t length)
{
    uint64_t key = dft_name_id(uuid, length), *place;

    key = key ? key : 1;
    while ((place = dft_map_find(&model->span_of, key)) && *place) {
        const struct dft_spans_span *span = &model->spans[*place - 1];

        if (span->length == length && !memcmp(model->uuids + span->uuid, uuid, length))
            break;
        key = key + 1 ? key + 1 : 1;
    }
    return key;
}

static uint32_t find_span(const struct dft_spans_model *model, const char *uuid, size_t length)
{
    const uint64_t *place = uuid ? dft_map_find(&model->span_of, span_key(model, uuid, length)) : NULL;

    return place && *place ? (uint32_t)(*place - 1) : DFT_SPANS_NONE;
}

static int add_type(struct dft_spans_model *model, const char *name, size_t length, uint32_t *type)
{
    uint64_t *place = dft_map_put(&model->type_of, dft_map_join(dft_name_id(name, length), 0));
    char *copy;

    if (!place)
        return -ENOMEM;
    if (!*place) {
        copy = strndup(name, length);
        if (!copy ||
            DFT_ARRAY_PUSH(model->types, model->types_capacity, model->ntypes, (struct dft_spans_type){copy})) {
            free(copy);
            return -ENOMEM;
        }
        *place = model->ntypes;
    }
    *type = (uint32_t)(*place - 1);
    return 0;
}

static int add_span(struct dft_spans_model *model, sqlite3_stmt *row)
{
    size_t length, type_length;
    const char *uuid = column_text(row, 0, &length), *type = column_text(row, 1, &type_length);
    struct dft_spans_span span = {model->uuid_bytes, (uint32_t)length, 0};
    uint64_t *place;

    if (!uuid)
        return 0;
    place = dft_map_put(&model->span_of, span_key(model, uuid, length));
    if (!place || (!*place && model->nspans >= DFT_SPANS_NONE - 1))
        return -ENOMEM;
    if (*place)
        return 0;
    if (add_type(model, type ? type : "", type_length, &span.type) ||
        DFT_ARRAY_RESERVE(model->uuids, model->uuid_capacity, model->uuid_bytes + length + 1) ||
        DFT_ARRAY_PUSH(model->spans, model->spans_capacity, model->nspans, span))
        return -ENOMEM;
    memcpy(model->uuids + model->uuid_bytes, uuid, length);
    model->uuid_bytes += length;
    model->types[span.type].spans++;
    *place = model->nspans;
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

static int add_kind(struct dft_spans_model *model, uint32_t type, const char *event, size_t length, uint32_t *kind)
{
    uint64_t *place = dft_map_put(&model->kind_of, dft_map_join(dft_name_id(event, length), type));
    struct dft_spans_kind added = {.type = type};

    if (!place)
        return -ENOMEM;
    if (!*place) {
        if (asprintf(&added.name, "%s/%.*s", model->types[type].name, (int)length, event) < 0)
            return -ENOMEM;
        added.event = added.name + strlen(model->types[type].name) + 1;
        if (DFT_ARRAY_PUSH(model->kinds, model->kinds_capacity, model->nkinds, added)) {
            free(added.name);
            return -ENOMEM;
        }
        *place = model->nkinds;
    }
    *kind = (uint32_t)(*place - 1);
    return 0;
}

static int add_event(struct dft_spans_model *model, sqlite3_stmt *row)
{
    size_t length, type_length, time_length;
    const char *uuid = column_text(row, 0, &length), *type = column_text(row, 2, &type_length), *time;
    struct dft_spans_event event = {0, find_span(model, uuid, length), 0};

    if (event.span == DFT_SPANS_NONE) {
        model->skipped.orphans++;
        return 0;
    }
    if (dft_spans_moment_column(row, 1, &event.ns)) {
        time = column_text(row, 1, &time_length);
        if (!model->skipped.times++)
            model->skipped.time = dft_text_escaped(time ? time : "null", time ? time_length : 4);
        return 0;
    }
    if (add_kind(model, model->spans[event.span].type, type ? type : "", type_length, &event.kind) ||
        DFT_ARRAY_PUSH(model->events, model->events_capacity, model->nevents, event))
        return -ENOMEM;
    model->kinds[event.kind].events++;
    return 0;
}

/* --- edges ------------------------------------------------------------------------------------ */

static int add_edge(struct dft_spans_model *model, sqlite3_stmt *row, uint32_t is_facet)
{
    size_t lengths[2];
    const char *from = column_text(row, 0, &lengths[0]), *to = column_text(row, 1, &lengths[1]);
    struct dft_spans_edge edge = {find_span(model, from, lengths[0]), find_span(model, to, lengths[1]), is_facet};

    if (edge.from == DFT_SPANS_NONE || edge.to == DFT_SPANS_NONE) {
        model->skipped.edges++;
        return 0;
    }
    return DFT_ARRAY_PUSH(model->edges, model->edges_capacity, model->nedges, edge);
}

static int add_subspan(struct dft_spans_model *model, sqlite3_stmt *row)
{
    return add_edge(model, row, 0);
}

static int add_facet(struct dft_spans_model *model, sqlite3_stmt *row)
{
    return add_edge(model, row, 1);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int say_memory(void)
{
    fputs("dftmerge spans: no memory; choose a smaller database, or a part of it by sqlite3\n", stderr);
    return -1;
}

/* Gives each row of a query to `add`. Returns 0, or -1 after an error. */
static int read_rows(struct dft_spans_model *model, const char *sql, const char *doing,
                     int (*add)(struct dft_spans_model *model, sqlite3_stmt *row))
{
    sqlite3_stmt *statement = NULL;
    int error = dft_database_prepare(model->db, &statement, sql, doing), rc = 0;

    while (!error && !rc && (error = sqlite3_step(statement)) == SQLITE_ROW) {
        error = 0;
        rc = add(model, statement);
    }
    if (rc)
        say_memory();
    else if (error == SQLITE_DONE)
        error = 0;
    else if (statement)
        dft_database_say(model->db, doing);
    sqlite3_finalize(statement);
    return rc || error ? -1 : 0;
}

static int has_table(const struct dft_spans_model *model, const char *name)
{
    return !sqlite3_table_column_metadata(model->db, NULL, name, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* All tables are read in one transaction, so that they fit each other while somebody imports. */
static int read_tables(struct dft_spans_model *model)
{
    if (dft_database_run(model->db, "begin", "reading"))
        return -1;
    if (!has_table(model, "span") || !has_table(model, "event")) {
        fprintf(stderr, "dftmerge spans: %s: there is no table %s; `dftmerge spans import` makes databases of spans\n",
                model->path, has_table(model, "span") ? "event" : "span");
        return -1;
    }
    if (read_rows(model, "select uuid, type from span", "reading the spans", add_span) ||
        read_rows(model, "select span_uuid, time, type from event", "reading the events", add_event))
        return -1;
    if (has_table(model, "subspan") &&
        read_rows(model, "select superspan_uuid, subspan_uuid from subspan", "reading the subspans", add_subspan))
        return -1;
    return has_table(model, "facet")
               ? read_rows(model, "select left_uuid, right_uuid from facet", "reading the facets", add_facet)
               : 0;
}

static int by_name(const void *left, const void *right)
{
    const struct dft_spans_kind *a = left, *b = right;

    return strcmp(a->name, b->name);
}

/* Puts the kinds into the order of their names, so that numbers compare as names do. */
static int order_kinds(struct dft_spans_model *model)
{
    uint32_t *now = malloc((model->nkinds + 1) * sizeof *now);

    if (!now)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->nkinds; i++)
        model->kinds[i].read = i;
    if (model->nkinds)
        qsort(model->kinds, model->nkinds, sizeof *model->kinds, by_name);
    for (uint32_t i = 0; i < model->nkinds; i++)
        now[model->kinds[i].read] = i;
    for (size_t i = 0; i < model->nevents; i++)
        model->events[i].kind = now[model->events[i].kind];
    free(now);
    return 0;
}

/* Puts the events into the order of their spans, in place. */
static int order_events(struct dft_spans_model *model)
{
    uint64_t *next = calloc(model->nspans + 1, sizeof *next);

    model->first_event = calloc(model->nspans + 1, sizeof *model->first_event);
    if (!next || !model->first_event) {
        free(next);
        return -ENOMEM;
    }
    for (size_t i = 0; i < model->nevents; i++)
        model->first_event[model->events[i].span + 1]++;
    for (size_t i = 0; i < model->nspans; i++) {
        model->first_event[i + 1] += model->first_event[i];
        next[i] = model->first_event[i];
    }
    for (size_t span = 0; span < model->nspans; span++)
        while (next[span] < model->first_event[span + 1]) {
            struct dft_spans_event *here = &model->events[next[span]], moved = *here;
            uint64_t place = next[moved.span]++;

            *here = model->events[place];
            model->events[place] = moved;
        }
    free(next);
    return 0;
}

int dft_spans_model_read(struct dft_spans_model *model, const char *path)
{
    int rc;

    *model = (struct dft_spans_model){.path = path};
    if (dft_database_open(&model->db, path, DFT_DATABASE_READ))
        return -1;
    dft_database_interruptible(model->db);
    rc = read_tables(model);
    dft_database_interruptible(NULL);
    if (!rc && (order_kinds(model) || order_events(model)))
        rc = say_memory();
    dft_map_fini(&model->span_of);
    dft_map_fini(&model->type_of);
    dft_map_fini(&model->kind_of);
    return rc;
}

void dft_spans_model_fini(struct dft_spans_model *model)
{
    sqlite3_close_v2(model->db);
    for (size_t i = 0; i < model->ntypes; i++)
        free(model->types[i].name);
    for (size_t i = 0; i < model->nkinds; i++)
        free(model->kinds[i].name);
    free(model->skipped.time);
    free(model->uuids);
    free(model->spans);
    free(model->types);
    free(model->kinds);
    free(model->events);
    free(model->first_event);
    free(model->edges);
    dft_map_fini(&model->span_of);
    dft_map_fini(&model->type_of);
    dft_map_fini(&model->kind_of);
}
