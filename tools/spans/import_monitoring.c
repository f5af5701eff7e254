/* SPDX-License-Identifier: MIT */
/* Reads a database of Parsl's monitoring: workflows, tasks, tries, and the states of tries. */
#include <errno.h>
#include <stdio.h>

#include "database/database.h"
#include "spans/cells.h"
#include "spans/importing.h"

#define PREFIX "parsl.monitoring."

static const struct dft_text none = {NULL, 0};

struct monitoring {
    struct dft_span_import *import;
    sqlite3 *db;
    const char *table;
};

/* What a row is about; empty ids: not that far down. */
struct subject {
    struct dft_text run, task, try;
    struct dft_uuid uuid; /* of the innermost */
};

static int put(struct monitoring *from, const char *type, const struct subject *subject, struct dft_text id,
               struct dft_uuid *uuid)
{
    struct dft_span_name span = {dft_text_from(type), subject->run, id, none};

    return dft_span_put(&from->import->store, &span, uuid);
}

/* Puts the span of a row, with all above it. */
static int put_subject(struct monitoring *from, struct subject *subject)
{
    struct dft_span_store *store = &from->import->store;
    struct dft_uuid above;
    char name[80];
    int rc = put(from, PREFIX "workflow", subject, dft_text_from(""), &subject->uuid);

    above = subject->uuid;
    if (!rc && subject->task.bytes)
        rc = put(from, PREFIX "task", subject, subject->task, &subject->uuid);
    if (!rc && subject->task.bytes)
        rc = dft_span_below(store, &above, &subject->uuid, subject->task, none);
    if (rc || !subject->try.bytes)
        return rc;
    above = subject->uuid;
    snprintf(name, sizeof name, "%.*s/%.*s", (int)subject->task.length, subject->task.bytes, (int)subject->try.length,
             subject->try.bytes);
    rc = put(from, PREFIX "try", subject, dft_text_from(name), &subject->uuid);
    return rc ? rc : dft_span_below(store, &above, &subject->uuid, subject->try, none);
}

static int put_event(struct monitoring *from, const struct subject *subject, sqlite3_stmt *row, int column,
                     struct dft_text type)
{
    int64_t ns;

    if (sqlite3_column_type(row, column) == SQLITE_NULL || !type.bytes) {
        from->import->nulls++;
        return 0;
    }
    if (dft_span_cell_time(row, column, &ns)) {
        dft_span_broken(from->import, from->table, "the time cannot be read");
        return 0;
    }
    return dft_span_event(&from->import->store, &subject->uuid, ns, type, none);
}

/* --- tables ----------------------------------------------------------------------------------- */

static int take_workflow(struct monitoring *from, sqlite3_stmt *row)
{
    struct subject subject = {.run = dft_span_cell_text(row, 0)};
    int rc = put_subject(from, &subject);

    if (!rc)
        rc = put_event(from, &subject, row, 1, dft_text_from("began"));
    return rc ? rc : put_event(from, &subject, row, 2, dft_text_from("completed"));
}

static int take_task(struct monitoring *from, sqlite3_stmt *row)
{
    struct subject subject = {.run = dft_span_cell_text(row, 0), .task = dft_span_cell_text(row, 1)};
    int rc = put_subject(from, &subject);

    if (!rc)
        rc = put_event(from, &subject, row, 2, dft_text_from("invoked"));
    return rc ? rc : put_event(from, &subject, row, 3, dft_text_from("returned"));
}

static int take_try(struct monitoring *from, sqlite3_stmt *row)
{
    struct subject subject = {
        .run = dft_span_cell_text(row, 0), .task = dft_span_cell_text(row, 1), .try = dft_span_cell_text(row, 2)};

    return put_subject(from, &subject);
}

static int take_status(struct monitoring *from, sqlite3_stmt *row)
{
    struct subject subject = {
        .run = dft_span_cell_text(row, 0), .task = dft_span_cell_text(row, 1), .try = dft_span_cell_text(row, 2)};
    int rc = put_subject(from, &subject);

    return rc ? rc : put_event(from, &subject, row, 3, dft_span_cell_text(row, 4));
}

static const struct {
    const char *name, *select;
    int ids; /* the first columns, without which a row says nothing */
    int (*take)(struct monitoring *from, sqlite3_stmt *row);
} tables[] = {
    {"workflow", "select run_id, time_began, time_completed from workflow", 1, take_workflow},
    {"task", "select run_id, task_id, task_time_invoked, task_time_returned from task", 2, take_task},
    {"try", "select run_id, task_id, try_id from try", 3, take_try},
    {"status", "select run_id, task_id, try_id, timestamp, task_status_name from status", 3, take_status},
};

static int take_row(struct monitoring *from, sqlite3_stmt *row, size_t table)
{
    for (int i = 0; i < tables[table].ids; i++) {
        if (sqlite3_column_type(row, i) == SQLITE_NULL) {
            from->import->nulls++;
            return 0;
        }
        if (i && sqlite3_column_bytes(row, i) > 30) {
            dft_span_broken(from->import, from->table, "an id is too long");
            return 0;
        }
    }
    return tables[table].take(from, row);
}

static int read_table(struct monitoring *from, size_t table)
{
    sqlite3_stmt *rows;
    int step = SQLITE_DONE, rc = 0;

    from->table = tables[table].name;
    from->import->line = 0;
    if (sqlite3_prepare_v2(from->db, tables[table].select, -1, &rows, NULL))
        return dft_span_unreadable(from->import, sqlite3_errmsg(from->db));
    while (!rc && (step = sqlite3_step(rows)) == SQLITE_ROW) {
        from->import->line++;
        rc = dft_database_interrupted() ? -EINTR : take_row(from, rows, table);
    }
    if (!rc && step != SQLITE_DONE)
        rc = dft_span_unreadable(from->import, sqlite3_errmsg(from->db));
    sqlite3_finalize(rows);
    return rc;
}

/* --- the database ----------------------------------------------------------------------------- */

/* 0, -ENOENT: it is a database of something else, or -EBADMSG. */
static int recognise(struct monitoring *from)
{
    sqlite3_stmt *row;
    int step, found;

    if (sqlite3_prepare_v2(from->db,
                           "select count(*) from sqlite_schema where type = 'table'"
                           " and name in ('workflow', 'task', 'try', 'status')",
                           -1, &row, NULL))
        return dft_span_unreadable(from->import, sqlite3_errmsg(from->db));
    step = sqlite3_step(row);
    found = step == SQLITE_ROW ? sqlite3_column_int(row, 0) : 0;
    sqlite3_finalize(row);
    if (step != SQLITE_ROW)
        return dft_span_unreadable(from->import, sqlite3_errmsg(from->db));
    return found == 4 ? 0 : -ENOENT;
}

int dft_span_import_monitoring(struct dft_span_import *import)
{
    struct monitoring from = {.import = import};
    int rc;

    if (sqlite3_open_v2(import->path, &from.db, SQLITE_OPEN_READONLY, NULL))
        rc = dft_span_unreadable(import, from.db ? sqlite3_errmsg(from.db) : strerror(ENOMEM));
    else
        rc = 0;
    if (!rc) {
        sqlite3_busy_timeout(from.db, 5000);
        rc = recognise(&from);
    }
    /* all tables as they are at one moment, though Parsl may go on writing */
    if (!rc && sqlite3_exec(from.db, "begin", NULL, NULL, NULL))
        rc = dft_span_unreadable(import, sqlite3_errmsg(from.db));
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++)
        rc = read_table(&from, i);
    if (!rc)
        snprintf(import->found, sizeof import->found, "monitoring database of Parsl");
    sqlite3_close_v2(from.db);
    return rc;
}
