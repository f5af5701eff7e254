/* SPDX-License-Identifier: MIT */
/* The tables of a database of spans. */
#include "spans/schema.h"

#include <errno.h>
#include <stdio.h>

#include "database/database.h"

static const char tables[] =
    "create table if not exists span (uuid text primary key, type text not null, note text);"
    "create table if not exists event (uuid text primary key, span_uuid text references span(uuid),"
    " time text not null, type text not null, note text);"
    "create table if not exists subspan (superspan_uuid text references span(uuid),"
    " subspan_uuid text references span(uuid), key text not null, note text);"
    "create table if not exists facet (left_uuid text references span(uuid), right_uuid text references span(uuid),"
    " note text);"
    "create table if not exists metric (span_uuid text references span(uuid), time text not null, key text not null,"
    " value numeric, primary key (span_uuid, time, key, value)) without rowid;"
    "create table if not exists record (json text not null, uuid text primary key, file text, line integer);"
    "create table if not exists identity (kind text, run text, id text, span_uuid text references span(uuid),"
    " primary key (kind, run, id, span_uuid)) without rowid;"
    "create unique index if not exists subspan_once on subspan (superspan_uuid, subspan_uuid, key);"
    "create unique index if not exists facet_once on facet (left_uuid, right_uuid);";

static const char indexes[] = "create index if not exists span_type on span (type);"
                              "create index if not exists event_span on event (span_uuid);"
                              "create index if not exists subspan_below on subspan (subspan_uuid);"
                              "create index if not exists facet_right on facet (right_uuid);"
                              "create index if not exists identity_span on identity (span_uuid);";

int dft_spans_schema_check(sqlite3 *db)
{
    sqlite3_stmt *statement;
    int rc = dft_database_prepare(db, &statement,
                                  "select count(*), sum(name in ('span', 'event')), min(name) from sqlite_schema"
                                  " where type = 'table' and name not like 'sqlite_%'",
                                  "looking for its tables");

    if (rc)
        return rc;
    if (sqlite3_step(statement) != SQLITE_ROW) {
        dft_database_say(db, "looking for its tables");
        rc = sqlite3_errcode(db);
    } else if (sqlite3_column_int(statement, 0) && sqlite3_column_int(statement, 1) < 2) {
        fprintf(stderr,
                "dftmerge spans: %s is a database of something else (it has the table %s), and stays as it is.\n"
                "dftmerge spans: The database comes first, then what is imported: `dftmerge spans import FILE.db "
                "PATH...`\n",
                sqlite3_db_filename(db, "main"), (const char *)sqlite3_column_text(statement, 2));
        rc = -EINVAL;
    }
    sqlite3_finalize(statement);
    return rc;
}

int dft_spans_schema_make(sqlite3 *db)
{
    return dft_database_run(db, tables, "making the tables");
}

int dft_spans_schema_index(sqlite3 *db)
{
    return dft_database_run(db, indexes, "making the indexes");
}
