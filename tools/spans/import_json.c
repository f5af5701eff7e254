/* SPDX-License-Identifier: MIT */
/* Reads JSON by SQLite's functions: lists of events and binds, or one record a line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/pread_all.h"
#include "database/database.h"
#include "spans/cells.h"
#include "spans/lines.h"
#include "spans/logs.h"

#define DOCUMENT_MAX (UINT64_C(256) << 20)
#define TRACING      "parsl.tracing."

static const struct dft_text none = {NULL, 0};

struct json {
    struct dft_span_import *import;
    struct dft_log_place place;
    struct dft_text run;
    char first[DFT_UUID_LENGTH + 1]; /* stands for the file */
    sqlite3_stmt *valid, *record, *numbers;
    uint64_t records;
};

static int prepare(struct json *json, sqlite3_stmt **statement, const char *sql)
{
    return dft_database_prepare(json->import->store.db, statement, sql, "reading JSON") ? -EIO : 0;
}

/* Gives a statement a text, and steps it. Returns SQLITE_ROW or another result. */
static int ask(sqlite3_stmt *statement, struct dft_text text)
{
    sqlite3_reset(statement);
    sqlite3_bind_text(statement, 1, text.bytes, (int)text.length, SQLITE_STATIC);
    return sqlite3_step(statement);
}

static int is_object(struct json *json, struct dft_text text)
{
    return !memchr(text.bytes, 0, text.length) && ask(json->valid, text) == SQLITE_ROW &&
           sqlite3_column_int(json->valid, 0);
}

/* --- events and binds ------------------------------------------------------------------------- */

static int put_traced(struct json *json, struct dft_text type, struct dft_text id, struct dft_uuid *uuid)
{
    struct dft_span_name span = {none, json->run, id, none};
    int is_task = type.length == 4 && !strncasecmp(type.bytes, "task", 4), rc;
    int is_workflow = type.length == 8 && !strncasecmp(type.bytes, "workflow", 8);
    char *name;

    if (asprintf(&name, TRACING "%.*s", (int)type.length, type.bytes) < 0)
        return -ENOMEM;
    span.type = dft_text_from(name);
    rc = dft_span_put(&json->import->store, &span, uuid);
    free(name);
    if (!rc && (is_task || is_workflow))
        rc = dft_span_identify(&json->import->store, uuid, is_task ? "traced task" : "traced workflow", json->run,
                               is_task ? id : dft_text_from(""));
    return rc;
}

/* [time, event, span type, span id] */
static int take_event(struct json *json, sqlite3_stmt *row)
{
    struct dft_text event = dft_span_cell_text(row, 1), type = dft_span_cell_text(row, 2),
                    id = dft_span_cell_text(row, 3);
    struct dft_uuid uuid;
    int64_t ns;
    int rc;

    if (dft_span_cell_time(row, 0, &ns) || !event.bytes || !type.bytes || !id.bytes) {
        dft_span_broken(json->import, "events", "not [time, event, span type, span id]");
        return 0;
    }
    rc = put_traced(json, type, id, &uuid);
    return rc ? rc : dft_span_event(&json->import->store, &uuid, ns, event, none);
}

/* [super type, super id, sub type, sub id] */
static int take_bind(struct json *json, sqlite3_stmt *row)
{
    struct dft_text type = dft_span_cell_text(row, 0), id = dft_span_cell_text(row, 1);
    struct dft_text sub_type = dft_span_cell_text(row, 2), sub_id = dft_span_cell_text(row, 3);
    struct dft_uuid super, sub;
    int rc;

    if (!type.bytes || !id.bytes || !sub_type.bytes || !sub_id.bytes) {
        dft_span_broken(json->import, "binds", "not [super type, super id, sub type, sub id]");
        return 0;
    }
    rc = put_traced(json, type, id, &super);
    if (!rc)
        rc = put_traced(json, sub_type, sub_id, &sub);
    return rc ? rc : dft_span_below(&json->import->store, &super, &sub, sub_id, none);
}

static int take_list(struct json *json, struct dft_text document, const char *path,
                     int (*take)(struct json *, sqlite3_stmt *))
{
    sqlite3_stmt *rows = NULL;
    int step = SQLITE_DONE, rc = prepare(json, &rows,
                                         "select json_extract(value, '$[0]'), json_extract(value, '$[1]'),"
                                         " json_extract(value, '$[2]'), json_extract(value, '$[3]')"
                                         " from (select case type when 'array' then value else '[]' end as value"
                                         " from json_each(?1, ?2))");

    json->import->line = 0;
    if (!rc && (sqlite3_bind_text(rows, 2, path, -1, SQLITE_STATIC) ||
                sqlite3_bind_text(rows, 1, document.bytes, (int)document.length, SQLITE_STATIC)))
        rc = -ENOMEM;
    while (!rc && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        json->import->line++;
        rc = take(json, rows);
    }
    if (!rc && step != SQLITE_DONE)
        rc = dft_span_unreadable(json->import, sqlite3_errmsg(json->import->store.db));
    sqlite3_finalize(rows);
    return rc;
}

/* The run is that of the rundir, or that of a member run_id. Another file has no run in common with
 * any: its own events stand for it. */
static int take_document(struct json *json, struct dft_text document)
{
    sqlite3_stmt *head = NULL;
    struct dft_text run;
    int rc = prepare(json, &head,
                     "select json_type(?1, '$.events') is 'array', json_type(?1, '$.binds') is 'array',"
                     " json_extract(?1, '$.run_id'), json_extract(?1, '$.events[0]')");

    if (!rc && (ask(head, document) != SQLITE_ROW || !sqlite3_column_int(head, 0) || !sqlite3_column_int(head, 1)))
        rc = -ENOENT;
    if (!rc) {
        struct dft_text first = dft_span_cell_text(head, 3);
        struct dft_uuid uuid;

        dft_uuid_of(&uuid, &first, 1);
        memcpy(json->first, uuid.text, sizeof json->first);
        run = dft_span_cell_text(head, 2);
        json->run = run.length ? run : dft_text_from(json->place.rundir ? json->place.run : json->first);
        rc = take_list(json, document, "$.events", take_event);
    }
    if (!rc)
        rc = take_list(json, document, "$.binds", take_bind);
    sqlite3_finalize(head);
    if (!rc)
        snprintf(json->import->found, sizeof json->import->found, "JSON of events and binds");
    return rc;
}

static int read_document(struct json *json, int fd, const struct stat *st)
{
    size_t length = (size_t)st->st_size;
    char *bytes;
    int rc;

    if ((uint64_t)st->st_size > DOCUMENT_MAX)
        return dft_span_unreadable(json->import, "JSON in one piece is read up to 256 MiB; write one record a line");
    bytes = malloc(length + 1);
    rc = bytes ? dft_pread_all(fd, bytes, length, 0) : -ENOMEM;
    if (rc && rc != -ENOMEM)
        rc = dft_span_unreadable(json->import, strerror(-rc));
    if (!rc && !is_object(json, (struct dft_text){bytes, (uint32_t)length}))
        rc = -ENOENT;
    if (!rc)
        rc = take_document(json, (struct dft_text){bytes, (uint32_t)length});
    free(bytes);
    return rc;
}

/* --- records ---------------------------------------------------------------------------------- */

/* All numbers of a record but its time and ids are metrics. */
static int put_numbers(struct json *json, struct dft_text line, const struct dft_uuid *uuid, int64_t ns)
{
    int rc = 0;

    for (int step = ask(json->numbers, line); !rc && step == SQLITE_ROW; step = sqlite3_step(json->numbers))
        rc = dft_span_metric(&json->import->store, uuid, ns, dft_span_cell_text(json->numbers, 0),
                             dft_span_cell_text(json->numbers, 1));
    sqlite3_reset(json->numbers);
    return rc;
}

static int put_super(struct json *json, const struct dft_uuid *uuid, struct dft_text id)
{
    sqlite3_stmt *row = json->record;
    struct dft_span_name super = {dft_span_cell_text(row, 5), json->run, dft_span_cell_text(row, 6), none};
    struct dft_text key = dft_span_cell_text(row, 7);
    struct dft_uuid above;
    int rc;

    if (!super.type.bytes || !super.id.bytes)
        return 0;
    rc = dft_span_put(&json->import->store, &super, &above);
    return rc ? rc : dft_span_below(&json->import->store, &above, uuid, key.bytes ? key : id, none);
}

/* A record without a span's type and id is one of another kind. */
static int take_record(struct json *json, struct dft_text line)
{
    sqlite3_stmt *row = json->record;
    struct dft_span_name span = {none, json->run, none, none};
    struct dft_text event;
    struct dft_uuid uuid;
    int64_t ns = 0;
    int rc, has_time;

    if (ask(row, line) != SQLITE_ROW)
        return 0;
    span.type = dft_span_cell_text(row, 1);
    span.id = dft_span_cell_text(row, 2);
    event = dft_span_cell_text(row, 3);
    if (!span.type.bytes || !span.id.bytes) {
        json->import->passed_over++;
        return 0;
    }
    has_time = !dft_span_cell_time(row, 0, &ns);
    if (event.bytes && !has_time) {
        dft_span_broken(json->import, "", "the record has an event, but no time");
        return 0;
    }
    json->records++;
    rc = dft_span_put(&json->import->store, &span, &uuid);
    if (!rc && event.bytes)
        rc = dft_span_event(&json->import->store, &uuid, ns, event, dft_span_cell_text(row, 4));
    if (!rc)
        rc = put_super(json, &uuid, span.id);
    return rc || !has_time ? rc : put_numbers(json, line, &uuid, ns);
}

static int take_line(struct json *json, struct dft_text line, uint64_t number)
{
    char place[80];
    int rc = 0;

    if (!is_object(json, line)) {
        dft_span_broken(json->import, "", "not an object of JSON");
        return 0;
    }
    snprintf(place, sizeof place, "%s:%llu", json->first, (unsigned long long)number);
    if (json->import->json_lines) {
        json->records++;
        rc = dft_span_record(&json->import->store, line, dft_text_from(place), json->place.name, number);
    }
    return rc ? rc : take_record(json, line);
}

static int read_records(struct json *json, struct dft_log_lines *lines, struct dft_text line)
{
    struct dft_uuid uuid;
    int more = 1, rc = 0;

    dft_uuid_of(&uuid, &line, 1);
    memcpy(json->first, uuid.text, sizeof json->first);
    json->run = dft_text_from(json->place.run);
    for (; !rc && more > 0; more = rc ? 0 : dft_log_lines_next(lines, &line)) {
        json->import->line = lines->number;
        if (dft_database_interrupted())
            return -EINTR;
        if (lines->is_long)
            dft_span_broken(json->import, "", "longer than 1 MiB");
        else if (line.length)
            rc = take_line(json, line, lines->number);
    }
    if (!rc && more < 0)
        rc = dft_span_unreadable(json->import, strerror(-more));
    if (!rc && !json->records)
        rc = -ENOENT;
    if (!rc)
        snprintf(json->import->found, sizeof json->import->found, "JSON, one record a line");
    return rc;
}

/* --- which of both ---------------------------------------------------------------------------- */

static int prepare_all(struct json *json)
{
    int rc = prepare(json, &json->valid, "select case when json_valid(?1) then json_type(?1) is 'object' else 0 end");

    if (!rc)
        rc = prepare(json, &json->record,
                     "select json_extract(?1, '$.time'), json_extract(?1, '$.span_type'),"
                     " json_extract(?1, '$.span_id'), json_extract(?1, '$.event'), json_extract(?1, '$.note'),"
                     " json_extract(?1, '$.super_type'), json_extract(?1, '$.super_id'), json_extract(?1, '$.key')");
    if (!rc)
        rc = prepare(json, &json->numbers,
                     "select key, value from json_each(?1) where type in ('integer', 'real')"
                     " and key not in ('time', 'span_id', 'super_id', 'key')");
    return rc;
}

static int read_json(struct json *json, struct dft_log_lines *lines)
{
    struct dft_text line = {"", 0};
    struct stat st;
    int rc = prepare_all(json), more = 1;

    while (!rc && more > 0 && !line.length)
        more = dft_log_lines_next(lines, &line);
    if (!rc && more < 0)
        rc = dft_span_unreadable(json->import, strerror(-more));
    if (rc || !more)
        return rc ? rc : -ENOENT;
    if (!lines->is_long && is_object(json, line)) {
        rc = take_document(json, line);
        return rc == -ENOENT ? read_records(json, lines, line) : rc;
    }
    if (fstat(fileno(lines->in), &st))
        return dft_span_unreadable(json->import, strerror(errno));
    return read_document(json, fileno(lines->in), &st);
}

int dft_span_import_json(struct dft_span_import *import)
{
    struct json json = {.import = import};
    struct dft_log_lines lines = {0};
    int rc = dft_log_place_init(&json.place, import->path);

    if (!rc)
        rc = dft_log_lines_open(&lines, import->path);
    if (!rc)
        rc = read_json(&json, &lines);
    else if (rc != -ENOMEM)
        rc = dft_span_unreadable(import, strerror(-rc));
    sqlite3_finalize(json.valid);
    sqlite3_finalize(json.record);
    sqlite3_finalize(json.numbers);
    dft_log_lines_fini(&lines);
    dft_log_place_fini(&json.place);
    return rc;
}
